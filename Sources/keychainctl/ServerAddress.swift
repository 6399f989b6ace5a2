// SPDX-License-Identifier: Apache-2.0
// A server, such as git.example.com:8443 or https://git.example.com:8443/team, split into parts.

import ArgumentParser

/// The value of `--server`. Messages do not quote it, because it may contain a token.
struct ServerAddress {
    /// `nil` for a host without an address around it.
    let protocolCode: ProtocolCode?
    /// As it was given. Items have it in lower case.
    let host: String
    let port: UInt16?
    let path: String?

    static func isOne(_ text: String) -> Bool { text.contains("://") }

    init(_ text: String) throws {
        guard Self.isOne(text) else {
            (protocolCode, path) = (nil, nil)
            // Without brackets, the colons of an IPv6 address leave no place for a port.
            let isHost = text.isEmpty || !text.hasPrefix("[") && text.utf8.count { $0 == UInt8(ascii: ":") } > 1
            (host, port) = try isHost ? (text, nil) : Self.hostAndPort(text)
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
        (self.protocolCode, path) = (protocolCode, rest.isEmpty ? nil : "/" + rest)
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
    /// A host as it is, and in lower case if that differs: hosts are compared without regard to case (RFC 3986), but other
    /// programs may have stored capitals.
    var hostSpellings: [String] {
        let lower = lowercased()
        return lower.utf8.elementsEqual(utf8) ? [self] : [self, lower]
    }
}
