// SPDX-License-Identifier: Apache-2.0
// The address of an entry in a password manager, which people type as they like.

import KeychainKit

/// An address, without the parts of it that may be secret: no name and no comment has these.
struct WebAddress {
    /// `nil` if it is not the address of a server.
    let server: SecretStore.Server?
    let text: String
    /// The kinds of the parts that are not in the text.
    let leftOut: [String]

    private static let protocols: Swift.Set<String> = [
        "https", "http", "ssh", "ftp", "ftps", "imap", "imaps", "smtp", "pop3", "pop3s", "ldap", "ldaps", "smb", "irc",
    ]

    init(_ address: String) {
        let bytes = Array(address.utf8.trimmed)
        let scheme = Self.scheme(bytes)
        let start = scheme?.1 ?? 0
        let parts = AddressParts(bytes[start...])
        // Browsers take a backslash for a slash, and other programs do not: which host is meant cannot be told.
        let isClear = bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
        server = isClear ? Self.server(parts, scheme?.0) : nil
        let rest = server == nil ? UnknownAddress(bytes, after: start) : nil
        let known = Array(bytes[..<start] + parts.authority + parts.path)
        text = String(decoding: rest?.text ?? known, as: UTF8.self)
        leftOut = rest?.leftOut ?? parts.leftOut
    }

    private static func server(_ parts: AddressParts, _ scheme: String?) -> SecretStore.Server? {
        guard let scheme else { return bare(parts) }
        guard protocols.contains(scheme), let code = ProtocolCode(argument: scheme) else { return nil }
        guard var server = server(parts) else { return nil }
        let used = InternetProtocol(rawValue: code.code)
        server.protocol = used
        if let usual = used.usualPort, server.port == usual { server.port = nil }
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
    private static func bare(_ parts: AddressParts) -> SecretStore.Server? {
        guard let server = server(parts) else { return nil }
        let isName = server.host.utf8.allSatisfy { $0.isHostCharacter }
        let looksLikeHost = server.host.utf8.dropFirst().dropLast().contains(UInt8(ascii: ".")) || server.port != nil
        return isName && looksLikeHost ? server : nil
    }

    private static func server(_ parts: AddressParts) -> SecretStore.Server? {
        guard let (host, port) = hostAndPort(parts.authority) else { return nil }
        let path = parts.path.count > 1 ? String(decoding: parts.path, as: UTF8.self) : nil
        return SecretStore.Server(host, port: port, path: path)
    }

    /// - Returns: The host in lower case; `nil` if there is none, or if what follows it is no port.
    static func hostAndPort(_ text: ArraySlice<UInt8>) -> (String, Int?)? {
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

extension InternetProtocol {
    /// The port that an address means without naming one, and that no item names.
    var usualPort: Int? {
        switch self {
        case .https: 443
        case .http: 80
        default: nil
        }
    }
}

/// The text of an address of another form, such as `jdbc:mysql://…`: what is before an `@`, and what follows a mark that parameters
/// follow, may be a password.
private struct UnknownAddress {
    let text: [UInt8]
    var leftOut: [String] = []

    /// - Parameter start: Where the protocol ends.
    init(_ bytes: [UInt8], after start: Int) {
        var rest = bytes[start...]
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            rest = rest[(at + 1)...]
            leftOut.append("user name")
        }
        let shown = rest.prefix { !";?#".utf8.contains($0) }
        if let mark = rest.dropFirst(shown.count).first {
            leftOut.append(mark == UInt8(ascii: "#") ? "fragment" : "query")
        }
        text = Array(bytes[..<start] + shown)
    }
}

/// What follows the protocol.
private struct AddressParts {
    /// Without a user name.
    let authority: ArraySlice<UInt8>
    let path: ArraySlice<UInt8>
    var leftOut: [String] = []

    init(_ rest: ArraySlice<UInt8>) {
        let hash = rest.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
        let mark = rest[..<hash].firstIndex(of: UInt8(ascii: "?")) ?? hash
        let slash = rest[..<mark].firstIndex(of: UInt8(ascii: "/")) ?? mark
        let at = rest[..<slash].lastIndex(of: UInt8(ascii: "@"))
        authority = rest[(at.map { $0 + 1 } ?? rest.startIndex)..<slash]
        let semicolon = rest[slash..<mark].firstIndex(of: UInt8(ascii: ";")) ?? mark
        path = rest[slash..<semicolon]
        if let at, at > rest.startIndex { leftOut.append("user name") }
        if rest[semicolon..<mark].count > 1 || rest[mark..<hash].count > 1 { leftOut.append("query") }
        if rest[hash...].count > 1 { leftOut.append("fragment") }
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
