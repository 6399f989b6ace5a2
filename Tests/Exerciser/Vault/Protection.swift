// SPDX-License-Identifier: Apache-2.0
// What another process does to what opens a vault.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainVault
import SecretMemory

/// Settings for tests: passphrases derived in a tenth of a second, and rotations in small steps.
func exerciserSettings(_ environment: [String: String]) throws -> VaultSettings {
    var settings = try VaultSettings.fromEnvironment(environment)
    settings.scryptCost = ScryptCost(
        floor: ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1), target: nil)
    settings.rotationBatch = 8
    settings.writerTimeout = .seconds(600)
    if let seconds = environment["EXERCISER_WRITER_TIMEOUT"].flatMap({ Double($0) }) {
        settings.writerTimeout = .seconds(seconds)
    }
    if environment["KEYCHAIN_ANCHORS"] == nil { settings.anchors = [.file] }
    if let path = environment["EXERCISER_BOOT_ID"] { settings.bootIDFile = path }
    return settings
}

struct Protection {
    let vault: Vault
    let items: VaultItems

    /// Known to the tests, too.
    static let passphrases = ["old": "the old passphrase", "new": "the new passphrase"]

    func change(_ what: String) throws {
        let old = try Self.secret("old")
        switch what {
        case "passphrase":
            try vault.changeProtector(try slot("passphrase"), to: Self.secret("new"), authority: old)
        case "add": try vault.addProtector(Self.secret("new"), authority: old)
        case "remove": try vault.removeProtector(try slot("key-file"), authority: old)
        case "remove-passphrase": try vault.removeProtector(try slot("passphrase"), authority: old)
        case "rotate": try vault.rotate(authority: old)
        default: exit(64)
        }
    }

    /// Adds a passphrase beside what opens the vault without one.
    func protect(_ which: String) throws { try vault.addProtector(Self.secret(which)) }

    func unlock(_ which: String, seconds: Int?) throws {
        try vault.unlock(Self.secret(which), idleTimeout: seconds.map { .seconds($0) })
    }

    /// Unlocks, reads and locks, and stays with its memory as it then is until its input ends.
    func hold(_ account: String) throws {
        try unlock("old", seconds: nil)
        let value = try items.read(account)
        try vault.lock(forgettingFirstUnlock: true)
        print("ready \(value.count)")
        fflush(nil)
        _ = FileHandle.standardInput.readDataToEndOfFile()
    }

    private func slot(_ word: String) throws -> UUID {
        guard let slot = try vault.status().slots.first(where: { $0.kind?.word == word }) else { exit(65) }
        return slot.id
    }

    private static func secret(_ which: String) throws -> ProtectorSecret {
        guard let text = passphrases[which], let kind = ProtectorKind(word: "passphrase") else { exit(64) }
        return ProtectorSecret(kind, SecretBytes(count: text.utf8.count) { $0.copyBytes(from: text.utf8) })
    }
}
