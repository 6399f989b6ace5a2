// SPDX-License-Identifier: Apache-2.0
// One transaction of the writer that holds the lock: begin, check, run, check the gate, commit, clean up.

import Foundation
import KeychainEngine

struct LockedWrite {
    let vault: Vault
    let plan: WritePlan
    let session: Session
    let lock: FileLock
    /// Takes the writes that wait into the transaction.
    let group: WriteQueue.Group?

    private var path: String { session.location.databaseFile }

    /// - Parameter latest: See ``Vault/commit(_:_:_:_:_:_:)``.
    /// - Returns: `nil`, and nothing has changed, if the session no longer matches the file.
    func run<Result>(
        _ connection: Connection, _ latest: inout VaultTransaction?, _ body: (VaultTransaction) throws -> Result
    ) throws -> Result? {
        let keeper = try begin(connection)
        var truncation: WALTruncation?
        do {
            // Inside the transaction: if the lock file was removed, another writer could come in between.
            guard try session.isOf(connection, isUnchanged: keeper.isUnchanged) else {
                try connection.rollBack()
                return nil
            }
            PausePoint.keybagLooked.reached()
            let transaction = VaultTransaction(
                session, keeper, plan.proofs, refusal: plan.refusal, plan.isUse ? .using : .looking)
            defer { transaction.end() }
            let result = try change(transaction, &latest, body)
            truncation = WALTruncation(lock, isNeeded: plan.isRemoval || transaction.hasRemoved)
            try commit(transaction, connection)
            if keeper.formerReserve != nil { Reserve(session.location).confirm() }
            if truncation?.run(connection) ?? false { keeper.truncated() }
            // The session's view of the format, or of the files, is outdated.
            if session.isOfFormerFormat || session.isFrozen || keeper.changesFormat { vault.dropSession() }
            return result
        } catch {
            cleanUp(connection, keeper, truncation, after: error)
            throw error
        }
    }

    private func begin(_ connection: Connection) throws -> HeadKeeper {
        let keeper = HeadKeeper(session, connection)
        PausePoint.beforeBegin.reached()
        try connection.begin()
        keeper.began()
        PausePoint.begun.reached()
        return keeper
    }

    /// The change of the caller, and those of the writes that wait.
    private func change<Result>(
        _ transaction: VaultTransaction, _ latest: inout VaultTransaction?, _ body: (VaultTransaction) throws -> Result
    ) throws -> Result {
        let keeper = transaction.keeper
        if plan.repairsKeybag { try repairKeybag(keeper.transaction) }
        if plan.isOfItems { _ = try transaction.sealer() }
        latest = transaction
        let result = try body(transaction)
        try transaction.checkUndamaged()
        // Nothing that concerns the whole vault happens together with writes of others.
        if !transaction.hasRemoved, !session.isOfFormerFormat, !session.isFrozen {
            try group?.run(session, keeper)
        }
        return result
    }

    /// The repair that the first write to a damaged vault includes. Writing the head upgrades the format of an older
    /// vault.
    private func repairKeybag(_ transaction: WriteTransaction) throws {
        guard !session.hasTwoKeybags, let keybag = session.keyState.authentic else { return }
        try transaction.write(keybag: keybag.bytes)
    }

    private func commit(_ transaction: VaultTransaction, _ connection: Connection) throws {
        let keeper = transaction.keeper
        // The head covers the whole change, so it is written last.
        let isSmall = plan.isRemoval || plan.refusal != nil || transaction.hasOnlyRemoved
        try keeper.finish(addingIndex: plan.addsIndex && !isSmall)
        if !isSmall { try connection.reserveLength() }
        PausePoint.beforeCommit.reached()
        try plan.gate?.enter()
        try connection.commit(path)
        PausePoint.committed.reached()
        keeper.committed()
        group?.committed()
    }

    private func cleanUp(
        _ connection: Connection, _ keeper: HeadKeeper, _ truncation: WALTruncation?, after error: any Error
    ) {
        // In the child of a fork, the transaction is its parent's.
        guard session.isOfThisProcess else { return }
        // After some errors SQLite has already rolled back.
        try? connection.rollBack()
        group?.ended(error, path)
        // It would keep the database locked.
        if connection.isInTransaction { session.dropWritingConnection() }
        guard error as? KeychainError != .unknownOutcome(path) else { return }
        truncation?.withdraw()
        if let former = keeper.formerReserve { Reserve(session.location).shrink(to: former) }
    }
}
