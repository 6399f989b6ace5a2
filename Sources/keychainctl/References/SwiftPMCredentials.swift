// SPDX-License-Identifier: Apache-2.0
// The internet passwords for https servers, in the form that SwiftPM reads from its environment.

import Foundation
import KeychainKit

/// SwiftPM has no protocol for credential programs. It reads the text of a netrc file and the token of a package
/// registry from two variables.
struct SwiftPMCredentials {
    static let netrcVariable = "SWIFTPM_NETRC_DATA"
    static let tokenVariable = "SWIFTPM_REGISTRY_TOKEN"
    /// The account that SwiftPM itself uses for a token of a registry.
    private static let tokenAccount = "token"

    let netrc: [UInt8]
    let token: [UInt8]?
    /// Servers whose names or values a netrc file cannot contain.
    let omitted: [String]

    /// - Parameter registry: The server of the token; `nil`: the only one that has a token.
    /// - Throws: `itemNotFound` if there is no password for an https server, `duplicateItem` for several tokens.
    init(_ keychain: UserKeychain, registry: String?) throws(KeychainError) {
        var filter = ItemFilter()
        filter.protocol = .https
        let logins = try keychain.items(filter).filter { login in
            // A netrc file names no port, and docker's credentials are not for SwiftPM.
            login.itemClass == .internetPassword && !login.isNegative && [nil, 0, 443].contains(login.port)
                && login.securityDomain != "docker"
        }
        guard !logins.isEmpty else { throw Self.nothing }
        var (lines, omitted) = ([UInt8](), [String]())
        for login in logins {
            var value = try keychain.value(of: login)
            defer { value.wipe() }
            guard let line = Self.line(login, value) else {
                omitted.append(login.displayText(of: .server) ?? "")
                continue
            }
            lines += line
        }
        (netrc, self.omitted) = (lines, omitted)
        token = try Self.token(keychain, logins, registry)
    }

    private static func line(_ login: KeychainItem, _ value: Data) -> [UInt8]? {
        guard let server = login.server, let account = login.account else { return nil }
        var line: [UInt8] = []
        for (word, bytes) in [("machine", Data(server.utf8)), ("login", Data(account.utf8)), ("password", value)] {
            guard bytes.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }) else { return nil }
            line += Array("\(line.isEmpty ? "" : " ")\(word) \"".utf8) + Array(bytes) + [UInt8(ascii: "\"")]
        }
        return line + [UInt8(ascii: "\n")]
    }

    private static func token(
        _ keychain: UserKeychain, _ logins: [KeychainItem], _ registry: String?
    ) throws(KeychainError) -> [UInt8]? {
        let found = logins.filter { login in
            let server = (login.server ?? "").lowercased()
            let isWanted = registry.map { $0.lowercased().utf8.elementsEqual(server.utf8) } ?? true
            return login.account == tokenAccount && isWanted
        }
        guard let item = found.first else {
            guard registry == nil else { throw noToken }
            return nil
        }
        guard found.count == 1 else { throw severalTokens }
        var value = try keychain.value(of: item)
        defer { value.wipe() }
        guard !value.contains(0) else { throw noVariable }
        return Array(value)
    }

    private static let nothing = KeychainError(
        .itemNotFound,
        "There is no internet password for an https server. To store one: "
            + "keychainctl set --server https://HOST --account NAME")
    private static let noToken = KeychainError(
        .itemNotFound,
        "The registry has no token. To store it: keychainctl set --server https://HOST --account token")
    private static let severalTokens = KeychainError(
        .duplicateItem,
        "Several servers have an account 'token', and SwiftPM takes one token. Choose its server with --registry HOST.")
    private static let noVariable = KeychainError(
        .invalidParameter, "The token of the registry contains a NUL byte, which a variable cannot.")
}
