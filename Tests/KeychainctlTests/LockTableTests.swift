// SPDX-License-Identifier: Apache-2.0
// What `lock` and `unlock` say, for each place where keys are kept and each way in which a vault opens.

import Foundation
import Testing

@Suite("lock, by cache and vault")
struct LockTableTests {
    /// Where the keys of an unlocked vault are kept.
    enum Cache: String, CaseIterable {
        case kernel, process, refused

        /// What stands before a command.
        var prefix: String {
            switch self {
            case .kernel: ""
            case .process: "KEYCHAIN_UNLOCK_CACHE=process"
            case .refused: "strace -f -o /dev/null -e inject=keyctl,add_key:error=EPERM"
            }
        }

        var isHere: Bool {
            switch self {
            case .kernel: Tool.hasKeyring
            case .process: true
            case .refused: Tool.hasStrace
            }
        }
    }

    enum Opening: String, CaseIterable {
        case deviceKey, recoveryKey, credential, wrongCredential
    }

    enum Verb: String, CaseIterable {
        case lock = "lock"
        case lockAll = "lock --all"
        case unlock = "unlock"
        case unlockWithSecret = "unlock --recovery-key-fd 3"
    }

    struct Row: CustomTestStringConvertible {
        let cache: Cache
        let opening: Opening
        let verb: Verb
        let status: Int32
        /// What has to be said.
        let texts: [String]

        var testDescription: String { "\(cache), \(opening): \(verb.rawValue)" }
    }

    /// Exit codes: 0 done, 5 the user cannot be asked, 7 the credential is wrong, 13 not possible here, 14 no effect.
    private static func expected(_ cache: Cache, _ opening: Opening, _ verb: Verb) -> (Int32, [String]) {
        let serves = cache == .kernel
        let (way, noEffect) = ("--recovery-key-fd 3", "an unlock would have no effect")
        switch (verb, opening) {
        case (.lock, .deviceKey), (.lockAll, .deviceKey): return (14, ["would have no effect"])
        case (.lock, _), (.lockAll, _):
            if !serves { return (13, ["until that process locks it or ends"]) }
            return (0, opening == .credential ? ["This process still opens the vault with the credential"] : [])
        case (.unlock, .deviceKey): return (0, ["nothing to unlock"])
        case (.unlock, .credential): return (0, ["opens the vault with the credential", "give a secret with \(way)."])
        case (.unlock, .wrongCredential):
            let wrong = "credentials/swift-keychain.key' does not open this vault"
            return serves ? (7, [wrong, way]) : (13, [wrong, noEffect, way])
        case (.unlock, _): return serves ? (5, [way]) : (13, [noEffect, way])
        case (.unlockWithSecret, _): return serves ? (0, []) : (13, [noEffect, way])
        }
    }

    static let rows: [Row] = Cache.allCases.filter(\.isHere).flatMap { cache in
        Opening.allCases.flatMap { opening in
            Verb.allCases.map { verb in
                let (status, texts) = expected(cache, opening, verb)
                return Row(cache: cache, opening: opening, verb: verb, status: status, texts: texts)
            }
        }
    }

    /// A vault that opens in the way, and the variables that its commands need.
    static func vault(_ opening: Opening) throws -> (vault: LockableTool, environment: String) {
        let vault = try LockableTool()
        try vault.store()
        switch opening {
        case .recoveryKey: return (vault, "")
        case .deviceKey:
            try #require(try vault.withKey("protect add device-key").status == 0)
            return (vault, "")
        case .credential, .wrongCredential:
            let environment = "CREDENTIALS_DIRECTORY=\"$HOME/credentials\""
            let script = "mkdir -m 700 credentials; umask 077; head -c 32 /dev/urandom > credentials/swift-keychain.key"
            try #require(try vault.tool.shell(script).status == 0)
            let added = try vault.tool.shell(
                "\(environment) \"$CTL\" protect add credential --recovery-key-fd 3 3< paper")
            try #require(added.status == 0, "\(added.errors)")
            if opening == .wrongCredential {
                try #require(
                    try vault.tool.shell("head -c 32 /dev/urandom > credentials/swift-keychain.key").status == 0)
            }
            return (vault, environment)
        }
    }

    @Test(arguments: rows) func verb_endsAsTheTableSays(row: Row) throws {
        let (vault, environment) = try Self.vault(row.opening)
        // Unlocked for all processes, where that is possible.
        if Tool.hasKeyring, [.lock, .lockAll].contains(row.verb) { try vault.unlock() }
        let secret = row.verb == .unlockWithSecret ? " 3< paper" : ""
        let run = try vault.tool.shell(
            "\(environment) \(row.cache.prefix) setsid --wait \"$CTL\" \(row.verb.rawValue)\(secret)")
        #expect(run.status == row.status, "\(run.errors)")
        for text in row.texts { #expect(run.errors.contains(text), "\(run.errors)") }
        // No vault of the table has a passphrase.
        #expect(!run.errors.contains("--passphrase-fd"), "\(run.errors)")
        // Success means that others are locked.
        guard run.status == 0, [.lock, .lockAll].contains(row.verb) else { return }
        #expect(try vault.get().status == 5)
    }

    @Test(.enabled(if: Tool.hasKeyring, "the kernel keeps no keys for this process"))
    func lock_withTheCredentialAtHand_locksTheOthersAndLeavesTheService() throws {
        let (vault, environment) = try Self.vault(.credential)
        try vault.unlock()
        #expect(try vault.get().output == secret)
        #expect(try vault.tool.shell("\(environment) \"$CTL\" lock").status == 0)
        #expect(try vault.get().status == 5)
        #expect(try vault.tool.shell("\(environment) \"$CTL\" get -s example.com").output == secret)
    }

    // MARK: - Outside the service

    /// A vault that nothing but the credential opens.
    private static func vaultOfAService() throws -> LockableTool {
        let (vault, environment) = try Self.vault(.credential)
        let removed = try vault.tool.shell(
            "\(environment) \"$CTL\" protect remove recovery-key --credential --keep-keys")
        try #require(removed.status == 0, "\(removed.errors)")
        return vault
    }

    @Test(arguments: ["", "KEYCHAIN_UNLOCK_CACHE=process"])
    func get_outsideTheServiceWithTheOnlySecret_namesTheCredential(cache: String) throws {
        let vault = try Self.vaultOfAService()
        let run = try vault.tool.shell("\(cache) setsid --wait \"$CTL\" get -s example.com")
        #expect(run.status == 5, "\(run.errors)")
        for word in ["'swift-keychain.key'", "CREDENTIALS_DIRECTORY"] { #expect(run.errors.contains(word)) }
        for word in ["keychainctl unlock", "--passphrase-fd"] { #expect(!run.errors.contains(word), "\(run.errors)") }
    }

    @Test(.enabled(if: Tool.hasKeyring, "the kernel keeps no keys for this process"))
    func unlock_outsideTheServiceWithTheOnlySecret_namesTheCredential() throws {
        let vault = try Self.vaultOfAService()
        let run = try vault.tool.shell("setsid --wait \"$CTL\" unlock")
        #expect(run.status == 5 && run.errors.contains("Run the command in that service."), "\(run.errors)")
        for word in ["'swift-keychain.key'", "CREDENTIALS_DIRECTORY"] { #expect(run.errors.contains(word)) }
    }

    @Test(arguments: ["", "KEYCHAIN_UNLOCK_CACHE=process"])
    func unlock_inTheServiceWithTheOnlySecret_saysToAddAnother(cache: String) throws {
        let vault = try Self.vaultOfAService()
        let run = try vault.tool.shell("CREDENTIALS_DIRECTORY=\"$HOME/credentials\" \(cache) \"$CTL\" unlock")
        #expect(run.status == 0 && run.errors.contains("keychainctl protect add passphrase"), "\(run.errors)")
        #expect(!run.errors.contains("-fd"), "\(run.errors)")
    }

    @Test(arguments: [("", "CREDENTIALS_DIRECTORY"), ("CREDENTIALS_DIRECTORY=\"$HOME\"", "/swift-keychain.key'")])
    func get_withACredentialThatIsNotHere_saysWhereItShouldBe(variable: String, text: String) throws {
        let (vault, _) = try Self.vault(.credential)
        let run = try vault.tool.shell("\(variable) \"$CTL\" get -s example.com --credential")
        #expect(run.status == 13 && run.errors.contains(text), "\(run.errors)")
        #expect(run.errors.contains("LoadCredential=swift-keychain.key:"))
    }

    /// Its commands have no options for secrets.
    @Test func security_whereEachProcessUnlocksForItself_namesItsOwnWay() throws {
        let (vault, _) = try Self.vault(.recoveryKey)
        let run = try vault.tool.shell(
            "KEYCHAIN_UNLOCK_CACHE=process setsid --wait \"$CTL\" security find-generic-password -s example.com -w")
        #expect(run.status != 0 && run.errors.contains("security -i"), "\(run.errors)")
        #expect(!run.errors.contains("-fd"), "\(run.errors)")
    }

    @Test func get_outsideTheServiceWithAnotherSecret_namesBothWays() throws {
        let (vault, _) = try Self.vault(.credential)
        let run = try vault.tool.shell("KEYCHAIN_UNLOCK_CACHE=process setsid --wait \"$CTL\" get -s example.com")
        for word in ["--recovery-key-fd", "'swift-keychain.key'"] { #expect(run.errors.contains(word)) }
    }
}
