// SPDX-License-Identifier: Apache-2.0
// One operation with secrets that the tests know, looked into twice: with the vault still open, and after it was closed.

import CTestShims
import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainKit
import KeychainVault
import SecretMemory

/// `needles OPERATION OUTCOME open|closed`: whether the vault is unlocked with the passphrase before.
@MainActor
struct Needles {
    let vault: Vault
    let operation: String
    let outcome: String
    let unlocksBefore: Bool

    init(_ verb: VaultVerb) {
        let words = verb.arguments
        guard words.count == 3 else { exit(64) }
        vault = verb.vault
        (operation, outcome, unlocksBefore) = (words[0], words[1], words[2] == "open")
    }

    /// Says how the operation ended in all the ways in which errors can be shown, then "open", and "ready" once everything is
    /// closed. Stays until its input ends.
    func run() async {
        // Data that cannot be searched would not be found.
        guard test_refuse_secret_memory() == 0 else { exit(69) }
        var kept: [[UInt8]] = []
        do {
            if unlocksBefore { try vault.unlock(Planted.secret("passphrase")) }
            kept = try await operate()
            Self.say("outcome done")
        } catch {
            show(error)
        }
        Self.say("open")
        _ = readLine()
        close()
        Self.say("ready")
        while readLine() != nil {}
        withExtendedLifetime(kept) {}
    }

    private static func say(_ words: String) {
        print(words)
        fflush(nil)
    }

    private func show(_ error: any Error) {
        let bridged = error as NSError
        Self.say("\(error) | \(String(reflecting: error)) | \(error.localizedDescription) | \(bridged.userInfo)")
        dump(error)
        if let failure = error as? KeychainError { Self.say(failure.message) }
        Self.say("outcome \((error as? KeychainError)?.reason.rawValue ?? "own error")")
    }

    private func close() {
        do {
            try vault.lock(forgettingFirstUnlock: true)
        } catch {
            Self.say("closing: \(error)")
        }
        do {
            try Vault.closeAll()
        } catch {
            Self.say("closing: \(error)")
        }
    }

    /// - Returns: What is kept on purpose.
    private func operate() async throws -> [[UInt8]] {
        switch operation {
        case "leave": return try leave()
        case "prompt": try prompt()
        case "save", "create", "update", "remove", "read", "list", "transaction": try await useItems()
        case let operation where operation.hasPrefix("sync-"): try await useRing()
        default: try whileLocked { try changeVault() }
        }
        return []
    }

    /// Another writer writes all the time, if the operation should time out.
    private func whileLocked(_ body: () throws -> Void) throws {
        guard outcome == "timed-out" else { return try body() }
        let lock = WriterLock(vault)
        defer { lock.release() }
        try body()
    }

    /// What the search has to find: a value in memory, in a file, in a file without a name, and in a message.
    private func leave() throws -> [[UInt8]] {
        let value = Planted.passphrase(11).withUnsafeBytes { Array($0) }
        let path = NSTemporaryDirectory() + "/left"
        for name in [path, path + "-unlinked"] {
            guard FileManager.default.createFile(atPath: name, contents: Data(value)) else { exit(73) }
        }
        _ = open(path + "-unlinked", O_RDONLY)
        unlink(path + "-unlinked")
        Self.say(Data(value).base64EncodedString())
        return [value]
    }

    /// Unlocks with a passphrase that is nowhere in this program, reads, and ends by a core dump while all is open.
    static func holdOpen(_ vault: Vault, refusingSecretMemory: Bool) throws {
        if refusingSecretMemory { guard test_refuse_secret_memory() == 0 else { exit(69) } }
        try vault.unlock(Planted.secret("passphrase"))
        guard try SecretStore(service: "exerciser", store: vault).contains(for: Planted.account) else { exit(66) }
        say("ready")
        abort()
    }
}

/// The writer lock, held by another process as far as the vault can tell.
struct WriterLock {
    private let descriptor: Int32

    init(_ vault: Vault) {
        descriptor = open(vault.location.folder + "/vault.lock", O_RDWR | O_CLOEXEC)
        guard flock(descriptor, LOCK_EX) == 0 else { exit(75) }
    }

    func release() { Foundation.close(descriptor) }
}

extension Planted {
    static let account = "planted"

    /// A secret of a kind; the one that opens the vault, or a wrong one.
    static func secret(_ word: String, isWrong: Bool = false) -> ProtectorSecret {
        guard let kind = ProtectorKind(word: word) else { exit(64) }
        switch word {
        case "passphrase": return ProtectorSecret(kind, passphrase(isWrong ? 9 : 1))
        case "key-file": return ProtectorSecret(kind, passphrase(isWrong ? 9 : 3))
        case "recovery-key": return ProtectorSecret(kind, RecoveryKey.text(key(isWrong ? 9 : 5)))
        default: return ProtectorSecret(kind)
        }
    }

    /// A secret that does not open the vault yet.
    static func newSecret(_ word: String) -> ProtectorSecret {
        guard let kind = ProtectorKind(word: word) else { exit(64) }
        return ProtectorSecret(kind, word == "passphrase" ? passphrase(2) : RecoveryKey.text(key(6)))
    }

    static func value(_ seed: Int) -> SecretValue { SecretValue(passphrase(seed)) }
}
