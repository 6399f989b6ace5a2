// SPDX-License-Identifier: Apache-2.0
// A server, such as git.example.com:8443 or https://git.example.com:8443/team, split into parts.

import ArgumentParser

/// The value of `--server`. Messages do not quote it, because it may contain a token.
struct ServerAddress {
    /// `nil` for a host without an address around it.
    let protocolCode: ProtocolCode?
    /// As it was given.
    let host: String
    /// Whether it is a host, and not other text without an address around it, which programs may have stored as well.
    private let isHost: Bool
    let port: UInt16?
    let path: String?

    static func isOne(_ text: String) -> Bool { text.contains("://") }

    init(_ text: String) throws {
        guard Self.isOne(text) else {
            let parts = Self.parts(ofPlain: text)
            (protocolCode, path, isHost) = (nil, nil, parts != nil)
            (host, port) = parts ?? (text, nil)
            return
        }
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, parts[0].hasSuffix(":"), parts[1].isEmpty,
            let protocolCode = ProtocolCode(argument: String(parts[0].dropLast()))
        else { throw Self.unknownProtocol }
        guard !parts[2].contains("@") else { throw Self.hasAccount }
        guard !text.contains("?"), !text.contains("#") else { throw Self.hasQuery }
        (host, port) = try Self.hostAndPort(parts[2])
        let rest = parts.count == 4 ? parts[3] : ""
        (self.protocolCode, path, isHost) = (protocolCode, rest.isEmpty ? nil : "/" + rest, true)
    }

    /// The host of a new item: in lower case. Other text stays as it is.
    var hostOfNewItem: String { isHost ? host.lowercased() : host }

    /// - Returns: `nil` for text that is neither a host nor a host and its port.
    private static func parts(ofPlain text: String) -> (String, UInt16?)? {
        if isIPv6(text) { return (text, nil) }
        return try? hostAndPort(text)
    }

    /// Without brackets, the colons of such an address leave no place for a port. A zone may follow it: fe80::1%eth0.
    private static func isIPv6(_ text: String) -> Bool {
        let address = text.prefix { $0 != "%" }
        return address.count { $0 == ":" } > 1
            && address.allSatisfy { $0.isASCII && $0.isHexDigit || $0 == ":" || $0 == "." }
    }

    /// An IPv6 address is in brackets, since it contains colons itself.
    private static func hostAndPort(_ text: String) throws -> (String, UInt16?) {
        let isBracketed = text.hasPrefix("[") && text.contains("]")
        let end = isBracketed ? text.firstIndex(of: "]").map { text.index(after: $0) } : text.firstIndex(of: ":")
        let host = text[..<(end ?? text.endIndex)]
        let rest = text[(end ?? text.endIndex)...]
        let name = String(isBracketed ? host.dropFirst().dropLast() : host)
        guard !name.isEmpty else { throw noHost }
        if rest.isEmpty { return (name, nil) }
        guard rest.first == ":", let port = UInt16(rest.dropFirst()), port > 0 else { throw badPort }
        return (name, port)
    }

    private static let unknownProtocol = ValidationError(
        "The protocol in the address is not known. Give --server HOST, --protocol, --port and --path instead.")
    private static let hasAccount = ValidationError(
        "The address given with --server contains a user name. Give the name with --account instead, and no password at all."
    )
    private static let hasQuery = ValidationError(
        "The address given with --server contains a query or a fragment. An item has none; leave it out.")
    private static let noHost = ValidationError("The address given with --server contains no host.")
    private static let badPort = ValidationError("The port in the address is not a number from 1 to 65535.")
}

extension String {
    /// A host as it is, and in lower case if that differs, as new items have it. Case has no meaning in hosts (RFC 3986),
    /// but other programs may have stored capitals. Those are found only if they are given.
    var hostSpellings: [String] {
        let lower = lowercased()
        return lower.utf8.elementsEqual(utf8) ? [self] : [self, lower]
    }
}
