// SPDX-License-Identifier: Apache-2.0
// The address of an entry in a password manager, which people type as they like.

import KeychainKit

enum WebAddress {
    private static let protocols: Swift.Set<String> = [
        "https", "http", "ssh", "ftp", "ftps", "imap", "imaps", "smtp", "pop3", "pop3s", "ldap", "ldaps", "smb", "irc",
    ]
    private static let defaultPorts = ["https": 443, "http": 80]

    /// The server that an address names; `nil` if it is not the address of a server. A user name, a query and a
    /// fragment are dropped.
    static func server(_ text: String) -> SecretStore.Server? {
        let bytes = Array(text.utf8.trimmed)
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        guard let (scheme, start) = scheme(bytes) else { return bare(bytes[...]) }
        guard protocols.contains(scheme), let code = ProtocolCode(argument: scheme) else { return nil }
        guard var server = server(bytes[start...]) else { return nil }
        server.protocol = InternetProtocol(rawValue: code.code)
        if server.port == defaultPorts[scheme] { server.port = nil }
        return server
    }

    /// The part before `://`, and where the rest begins.
    private static func scheme(_ bytes: [UInt8]) -> (String, Int)? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[(colon + 1)...].starts(with: Array("//".utf8))
        else { return nil }
        return (String(decoding: bytes[..<colon], as: UTF8.self).lowercased(), colon + 3)
    }

    /// A name such as `example.com` or `localhost:5000`. Other words are titles.
    private static func bare(_ bytes: ArraySlice<UInt8>) -> SecretStore.Server? {
        guard let server = server(bytes) else { return nil }
        let isName = server.host.utf8.allSatisfy { $0.isHostCharacter }
        let looksLikeHost = server.host.utf8.dropFirst().dropLast().contains(UInt8(ascii: ".")) || server.port != nil
        return isName && looksLikeHost ? server : nil
    }

    private static func server(_ rest: ArraySlice<UInt8>) -> SecretStore.Server? {
        let end = rest.firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        var authority = rest[..<(end ?? rest.endIndex)]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        let path = rest[(end ?? rest.endIndex)...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let (host, port) = hostAndPort(authority) else { return nil }
        return SecretStore.Server(
            host, port: port, path: path.count > 1 ? String(decoding: path, as: UTF8.self) : nil)
    }

    private static func hostAndPort(_ text: ArraySlice<UInt8>) -> (String, Int?)? {
        var (host, rest) = (text, text[text.endIndex...])
        if text.first == UInt8(ascii: "["), let close = text.firstIndex(of: UInt8(ascii: "]")) {
            (host, rest) = (text[(text.startIndex + 1)..<close], text[(close + 1)...])
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            (host, rest) = (text[..<colon], text[colon...])
        }
        guard !host.isEmpty else { return nil }
        let name = String(decoding: host, as: UTF8.self).lowercased()
        if rest.isEmpty || rest.count == 1 && rest.first == UInt8(ascii: ":") { return (name, nil) }
        guard rest.first == UInt8(ascii: ":"),
            let port = UInt16(String(decoding: rest.dropFirst(), as: UTF8.self)), port > 0
        else { return nil }
        return (name, Int(port))
    }
}

extension UInt8 {
    fileprivate var isHostCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
