// SPDX-License-Identifier: Apache-2.0
// A vault in a ring.

package import Foundation
package import KeychainEngine

extension Vault {
    /// Whether other machines share items of this vault. `false` if there is no vault.
    package var isInRing: Bool {
        get throws(KeychainError) { try openSession()?.isInRing ?? false }
    }

    /// Whether something that copies a folder to other machines would copy the vault or the device key, or the vault's folder contains
    /// it, including through links.
    package func overlaps(_ folder: String) -> Bool {
        guard let folder = FileSafety.resolved(folder) else { return false }
        func isIn(_ path: String, _ folder: String) -> Bool {
            (path + "/").utf8.starts(with: (folder == "/" ? folder : folder + "/").utf8)
        }
        let (own, key) = (
            FileSafety.resolvedOrFuture(location.folder), FileSafety.resolvedOrFuture(location.deviceKeyFile)
        )
        return isIn(folder, own) || isIn(own, folder) || isIn(key, folder)
    }

    /// What was changed and the ring has not taken up; `nil` if there is nothing. Takes no lock, and needs no key.
    package var outboxMark: OutboxMark? {
        get throws(KeychainError) {
            try undisturbed { (session) throws(KeychainError) in
                guard let session, session.isInRing else { return nil }
                return try DatabaseFailure.translating(location.databaseFile) {
                    try session.reader.use { try SyncTables($0).mark() }
                }
            }
        }
    }

    /// A part of the stored state as it was last committed; `nil` if there is none. Takes no lock, and needs no key.
    package func ringPart(_ name: Data) throws(KeychainError) -> Data? {
        try undisturbed { (session) throws(KeychainError) in
            guard let session, session.isInRing else { return nil }
            return try DatabaseFailure.translating(location.databaseFile) {
                try session.reader.use { try SyncTables($0).part(name) }
            }
        }
    }

    /// Whether the stored state has a part whose name begins with `first`. Takes no lock, and needs no key.
    package func hasRingPart(beginningWith first: UInt8) throws(KeychainError) -> Bool {
        try undisturbed { (session) throws(KeychainError) in
            guard let session, session.isInRing else { return false }
            return try DatabaseFailure.translating(location.databaseFile) {
                try session.reader.use { try SyncTables($0).hasPart(beginningWith: first) }
            }
        }
    }

    /// That of ``RingTransaction/keyGeneration()`` as it was last committed; `nil` if there is none. Takes no lock, and needs no key.
    package var keyGeneration: UInt32? {
        get throws(KeychainError) {
            try undisturbed { (session) throws(KeychainError) in
                guard let session else { return nil }
                return try DatabaseFailure.translating(location.databaseFile) {
                    let keybag = StoredKeybag.newest(try session.reader.use { try KeybagTable($0).copies() })
                    return keybag?.newestGenerations[Accessibility.whenUnlockedThisDeviceOnly.number]
                }
            }
        }
    }

    /// Runs `body` in one durable transaction, as the only writer of all processes. If it throws, nothing has changed. It is no use of
    /// an unlocked vault: what other machines do keeps none open.
    ///
    /// - Throws: `rolledBack` if the vault differs from its head, also if nothing would be changed: an older state must not be sent.
    package func inRing<Result>(
        _ body: (RingTransaction) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try write(.ofRing) { transaction in
            try transaction.keeper.check()
            return try body(ring(transaction))
        }
    }

    /// Runs `body` in one transaction, and then takes back everything that it has changed.
    ///
    /// If items require proofs, the user is asked as for any change, and `body` runs again.
    ///
    /// - Throws: As ``inRing(_:)``.
    package func rehearsing<Result>(
        _ authorization: Authorization, _ body: (RingTransaction) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        var outcome: Result?
        do throws(KeychainError) {
            let _: Never? = try write(.items, authorization) { transaction in
                outcome = nil
                try transaction.keeper.check()
                outcome = try body(ring(transaction))
                throw KeychainError.rehearsed
            }
        } catch {
            guard error == .rehearsed, let outcome else { throw error }
            return outcome
        }
        throw .rehearsed
    }

    /// The machine ID of systemd is the same as long as the system is installed, and different on each machine. A system may have
    /// none: there a copy of a vault of another machine is recognized only by what it publishes.
    private func ring(_ transaction: VaultTransaction) throws(KeychainError) -> RingTransaction {
        RingTransaction(transaction, machineID: try SystemIdentifier.read(settings.machineIDFile))
    }
}

extension KeychainError {
    fileprivate static let rehearsed = KeychainError(.cancelled, "The changes of a rehearsal were taken back.")
}
