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

    /// A password that is not in the netrc file.
    struct Omission {
        let server: String
        let reason: String
    }

    let netrc: [UInt8]
    let token: [UInt8]?
    let omitted: [Omission]

    /// - Parameter registry: The server of the token, with its port if it has one; `nil`: the only one that has a token.
    /// - Throws: `itemNotFound` if there is no password for an https server, `duplicateItem` for several tokens.
    init(_ keychain: UserKeychain, registry: String?) throws(KeychainError) {
        var filter = ItemFilter()
        filter.protocol = .https
        // Docker's credentials are not for SwiftPM.
        let logins = try keychain.items(filter).filter { login in
            login.itemClass == .internetPassword && !login.isNegative && login.securityDomain != "docker"
        }
        guard !logins.isEmpty else { throw Self.nothing }
        var (lines, omitted) = ([UInt8](), [Omission]())
        for login in logins {
            var value = try keychain.value(of: login)
            defer { value.wipe() }
            if let reason = Self.flaw(of: login, value) {
                let isToken = login.account == Self.tokenAccount && !Self.hasUsualPort(login)
                if !isToken { omitted.append(Omission(server: Self.name(of: login), reason: reason)) }
            } else {
                lines += Self.line(login, value)
            }
        }
        (netrc, self.omitted) = (lines, omitted)
        token = try Self.token(keychain, logins, registry)
    }

    // MARK: - The file

    /// - Returns: Why the file cannot contain the login; `nil` if it can.
    private static func flaw(of login: KeychainItem, _ value: Data) -> String? {
        guard hasUsualPort(login) else { return "A netrc file names no port." }
        guard let server = login.server, let account = login.account else { return "It has no server or account." }
        // SwiftPM takes this name for all servers, also in quotation marks.
        guard server.lowercased() != "default" else { return "In a netrc file, this name means all servers." }
        let isClean = [Data(server.utf8), Data(account.utf8), value].allSatisfy { bytes in
            bytes.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }
        }
        return isClean ? nil : "A netrc file cannot contain quotes and control characters."
    }

    private static func hasUsualPort(_ login: KeychainItem) -> Bool { [nil, 0, 443].contains(login.port) }

    private static func line(_ login: KeychainItem, _ value: Data) -> [UInt8] {
        let words = [("machine", login.server ?? ""), ("login", login.account ?? "")]
        let start = words.map { "\($0.0) \"\($0.1)\" " }.joined()
        return Array("\(start)password \"".utf8) + Array(value) + Array("\"\n".utf8)
    }

    /// The server as `--registry` names it.
    private static func name(of login: KeychainItem) -> String {
        let host = login.displayText(of: .server) ?? ""
        guard !hasUsualPort(login), let port = login.port else { return host }
        return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    // MARK: - The token

    private static func token(
        _ keychain: UserKeychain, _ logins: [KeychainItem], _ registry: String?
    ) throws(KeychainError) -> [UInt8]? {
        let found = logins.filter { login in
            let isWanted = registry.map { $0.lowercased().utf8.elementsEqual(name(of: login).lowercased().utf8) }
            return login.account == tokenAccount && isWanted ?? true
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
        "The registry has no token. Name its port too, if it has one. To store it: keychainctl set --server https://HOST[:PORT] --account token"
    )
    private static let severalTokens = KeychainError(
        .duplicateItem,
        "Several servers have an account 'token', and SwiftPM takes one token. Choose its server with --registry HOST.")
    private static let noVariable = KeychainError(
        .invalidParameter, "The token of the registry contains a NUL byte, which a variable cannot.")
}
