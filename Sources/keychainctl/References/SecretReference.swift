// SPDX-License-Identifier: Apache-2.0
// A reference to a value: keychain://SERVICE/ACCOUNT#FIELD, or keychain+server://HOST:PORT/ACCOUNT#FIELD.

import KeychainKit

/// Names a value without containing it. Messages do not quote a reference that is not valid: it may be a secret.
///
/// Parts are percent-encoded UTF-8. A part that contains `/`, `?`, `#` or `%` must encode these characters.
struct SecretReference {
    enum Place {
        case service(String)
        case server(String, port: UInt16?)
    }

    let place: Place
    let account: String
    /// The way to a value in JSON, from the outermost object; `nil`: the whole value.
    let field: [String]?

    private static let services = Array("keychain://".utf8)
    private static let servers = Array("keychain+server://".utf8)

    /// Whether bytes begin as a reference does. They need not be a valid one.
    static func begins(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: services) || bytes.starts(with: servers)
    }

    /// - Throws: `invalidParameter` for anything but a complete reference.
    init(_ bytes: some Collection<UInt8>) throws(KeychainError) {
        let isServer = bytes.starts(with: Self.servers)
        guard Self.begins(bytes) else {
            throw Self.malformed("It does not begin with keychain:// or keychain+server://.")
        }
        let rest = Array(bytes.dropFirst(isServer ? Self.servers.count : Self.services.count))
        let hash = rest.firstIndex(of: UInt8(ascii: "#"))
        field = try hash.map { (index) throws(KeychainError) in try Self.field(rest[(index + 1)...]) }
        let path = rest[..<(hash ?? rest.endIndex)]
        guard !path.contains(UInt8(ascii: "?")) else { throw Self.malformed("Write '?' in a name as %3F.") }
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            throw Self.malformed("It needs exactly one '/' between the two names. Write '/' in a name as %2F.")
        }
        account = try Self.decoded(parts[1])
        place = isServer ? try Self.server(parts[0]) : .service(try Self.decoded(parts[0]))
    }

    // MARK: - Parts

    private static func field(_ bytes: ArraySlice<UInt8>) throws(KeychainError) -> [String] {
        guard !bytes.isEmpty else { throw malformed("The name of a field is missing after '#'.") }
        var names: [String] = []
        for part in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            names.append(try decoded(part))
        }
        return names
    }

    /// An IPv6 address is in brackets, since it contains colons itself.
    private static func server(_ bytes: ArraySlice<UInt8>) throws(KeychainError) -> Place {
        let isBracketed = bytes.first == UInt8(ascii: "[")
        guard !isBracketed || bytes.contains(UInt8(ascii: "]")) else {
            throw malformed("The bracket of the IPv6 address is not closed.")
        }
        let colon =
            isBracketed
            ? bytes.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : bytes.firstIndex(of: UInt8(ascii: ":"))
        let end = colon ?? bytes.endIndex
        let host = try decoded(isBracketed ? bytes[..<end].dropFirst().dropLast() : bytes[..<end])
        guard !host.isEmpty else { throw malformed("The name of the server is missing.") }
        guard end < bytes.endIndex else { return .server(host, port: nil) }
        let digits = String(decoding: bytes[(end + 1)...], as: UTF8.self)
        guard bytes[end] == UInt8(ascii: ":"), let port = UInt16(digits), port > 0 else {
            throw malformed("The port is not a number from 1 to 65535.")
        }
        return .server(host, port: port)
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) throws(KeychainError) -> String {
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw malformed("It contains a control character.")
        }
        guard let decoded = PercentEncoding.decoded(bytes) else {
            throw malformed("After '%' there must be two hexadecimal digits. Write '%' in a name as %25.")
        }
        guard let text = String(validating: decoded, as: UTF8.self) else { throw malformed("A name is not UTF-8.") }
        return text
    }

    private static func malformed(_ why: String) -> KeychainError {
        KeychainError(
            .invalidParameter, "This is not a valid reference. \(why) The form is keychain://SERVICE/ACCOUNT#FIELD.")
    }
}
