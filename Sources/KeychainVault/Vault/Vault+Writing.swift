// SPDX-License-Identifier: Apache-2.0
// The only way to change a vault. The steps in order: prompt, lock, open, and the transaction of ``LockedWrite``.

import Foundation
import KeychainEngine

/// The properties of a write that are known before it begins.
struct WritePlan {
    /// Whether it needs the keys of items, so that it is refused while these are closed.
    var isOfItems = false
    /// Whether it is a use of an unlocked vault, which restarts the idle timeout.
    var isUse = true
    /// Whether it changes one item, at once: then it may be made together with others, on another thread.
    var isShort = false
    /// Whether it removes something in any case, so that it must work on a full disk. Other writes report when they
    /// have removed something (``VaultTransaction/hasRemoved``).
    var isRemoval = false
    /// Whether it may turn out to remove items and store none. On a full disk it then gets the reserve before anybody knows.
    var mayOnlyRemove = false
    /// The failure of an attempt before the body ran, because of missing space. Now there is space that is not for storing, so
    /// calls that store something throw it.
    var refusal: KeychainError?
    /// Whether it has space that is for removals alone.
    var hasRemovalSpace = false
    /// Whether it replaces a damaged copy of the keybag with the intact one. Operations that decide about the head
    /// themselves must not make this additional change.
    var repairsKeybag = true
    /// Whether a vault of an older format gets the index of the newest one, which needs space.
    var addsIndex = true
    /// The given proofs.
    var proofs = Proofs()
    /// Decides, directly before the commit, whether the call has ended.
    var gate: CommitGate?

    static let items = WritePlan(isOfItems: true)
    static let ofRing = WritePlan(isOfItems: true, isUse: false)
    static let item = WritePlan(isOfItems: true, isShort: true)
    static let removalOfItems = WritePlan(isOfItems: true, isRemoval: true)
    static let removal = WritePlan(isRemoval: true)
    static let ofHead = WritePlan(isUse: false, repairsKeybag: false)
}

extension Vault {
    /// Runs `body` in one durable transaction, as the only writer of all processes; creates the vault if there is none.
    ///
    /// If items require proofs, the transaction is rolled back, the user is prompted while no lock is held, and `body`
    /// runs again.
    func write<Result>(
        _ plan: WritePlan = WritePlan(), _ authorization: Authorization = .none,
        _ body: (VaultTransaction) throws -> Result
    ) throws(KeychainError) -> Result {
        var (plan, rounds) = (plan, ProofRounds(authorization, self))
        plan.gate = authorization.gate
        while true {
            plan.proofs = try rounds.next()
            let attempt: Attempt<Result>
            do throws(KeychainError) {
                attempt = try writeOnce(plan, body)
            } catch {
                throw try plan.isOfItems ? cause(of: error) : error
            }
            if let result = try rounds.result(of: attempt) { return result }
        }
    }

    /// Runs it with the proofs so far. A short write waits for its turn among those of this process.
    private func writeOnce<Result>(
        _ plan: WritePlan, _ body: (VaultTransaction) throws -> Result
    ) throws(KeychainError) -> Attempt<Result> {
        // Before the lock: on a read-only medium the lock file cannot be opened.
        if let session = try openSession(), session.isReadOnly { throw .vaultIsReadOnly(location) }
        defer { plan.gate?.leave() }
        let wait = FileLock.Wait(settings.writerTimeout, plan.gate)
        guard plan.isShort else { return try writeLocked(plan, wait, nil, body) }
        guard !writes.isHeldByParent else { throw Self.forkedInUse }
        var group: WriteQueue.Group? = WriteQueue.Group(writes)
        if !writes.lead() {
            var result: Result?
            let answer = try withoutActuallyEscaping(body) { (body) throws(KeychainError) in
                let write = WaitingWrite(plan) { result = try body($0) }
                return try writes.answer(to: write, wait, location.lockFile)
            }
            switch answer {
            case .done:
                guard let result else { throw .unknownOutcome(location.databaseFile) }
                return .done(result)
            case .failed(let error): throw error
            case .leads(let isAlone): if isAlone { group = nil }
            }
        }
        defer { writes.endLead() }
        return try writeLocked(plan, wait, group, body)
    }

    /// Takes the lock and runs a transaction. It repeats the transaction if the keybag has changed or there is no
    /// space.
    ///
    /// - Parameter group: Includes the waiting writes in the transaction.
    private func writeLocked<Result>(
        _ plan: WritePlan, _ wait: FileLock.Wait, _ group: WriteQueue.Group?,
        _ body: (VaultTransaction) throws -> Result
    ) throws(KeychainError) -> Attempt<Result> {
        let lock = try lockForWriting(wait)
        defer { lock.release() }
        var reserve = Reserve(location)
        var (plan, group, transaction) = (plan, group, VaultTransaction?.none)
        defer { if plan.refusal != nil || plan.hasRemovalSpace { giveBack(&reserve, &transaction) } }
        for _ in 1...Self.writingAttempts {
            try plan.gate?.check()
            do throws(KeychainError) {
                let session = try openOrCreateSession(lock)
                if let result = try commit(plan, session, lock, group, &transaction, body) {
                    plan.hasRemovalSpace = false
                    if transaction?.hasOnlyRemoved ?? false { plan.refusal = nil }
                    reserve.restore(
                        removed: transaction?.largestRemoved ?? 0, fillsHoles: session.isFirstLookAtReserve(),
                        largest: session.largestRow)
                    return .done(result)
                }
                try close()
            } catch {
                guard let requirement = try prepareRetry(after: error, of: transaction, &reserve, &plan, &group) else {
                    continue
                }
                return requirement.attempt()
            }
        }
        throw KeychainError(.busy, "The keybag of '\(location.folder)' keeps changing. Try again.")
    }

    /// Makes the next attempt differ from the one that failed.
    ///
    /// - Parameter transaction: The last one that ran, if any has.
    /// - Returns: `nil` for another attempt; the requirement that the user has to meet first, if the attempt failed because
    ///   of one.
    /// - Throws: The error, if another attempt would fail as well.
    private func prepareRetry(
        after error: KeychainError, of transaction: VaultTransaction?, _ reserve: inout Reserve,
        _ plan: inout WritePlan,
        _ group: inout WriteQueue.Group?
    ) throws(KeychainError) -> UnmetRequirement? {
        // A change that may have happened is neither reported as undone nor tried again.
        guard error != .unknownOutcome(location.databaseFile) else { throw error }
        // Another connection of this process has, or had, the index of the WAL in memory (``Session/indexFailure``), and
        // the session shares it for as long as it is open.
        if error.reason == .readOnly { dropSession() }
        // By itself the leader may succeed.
        if let lost = group, lost.isLost {
            group = nil
            return nil
        }
        // The body may have caught the refusal and thrown another error.
        if error == .interactionNotAllowed, let requirement = transaction?.requirement { return requirement }
        let error = reserve.named(error)
        // Without the index the change may have enough space.
        if error.reason == .diskFull, plan.addsIndex, transaction?.session.isOfFormerFormat ?? false {
            plan.addsIndex = false
            return nil
        }
        let mayRemove = plan.isRemoval || transaction?.hasOnlyRemoved ?? plan.mayOnlyRemove
        guard reserve.isWanted(after: error), mayRemove else { throw error }
        guard !plan.hasRemovalSpace, makeSpace(&reserve) else { throw namingReader(error) }
        plan.hasRemovalSpace = true
        if !plan.isRemoval { (plan.refusal, group) = (error, nil) }
        return nil
    }

    /// Another process would have to change the keybag without the lock on each attempt.
    private static let writingAttempts = 3

    /// The writer lock; its file is created again if it was removed.
    func lockForWriting(_ wait: FileLock.Wait) throws(KeychainError) -> FileLock {
        while true {
            if !FileSafety.allows(F_OK, location.lockFile) {
                try VaultCreation(location: location, timeout: settings.writerTimeout).ensureFolder()
            }
            if let lock = try FileLock.take(location.lockFile, flags: O_RDWR, wait) { return lock }
        }
    }

    private func openOrCreateSession(_ lock: FileLock) throws(KeychainError) -> Session {
        // There may be space now, or the reserve was released: then the index is created on disk.
        if try openSession(age: Self.lookInterval)?.indexFailure != nil { try close() }
        if let open = try openSession(age: Self.lookInterval) {
            if let failure = open.indexFailure { throw failure }
            return open
        }
        try VaultCreation(location: location, timeout: settings.writerTimeout).create(lock)
        guard let created = try openSession() else {
            throw KeychainError(
                .inputOutput, "The vault '\(location.folder)' was created, but was not found afterwards.")
        }
        return created
    }

    /// One transaction.
    ///
    /// - Parameters:
    ///   - group: Includes the waiting writes in the transaction.
    ///   - latest: Set to the transaction once it runs: its state is needed even if it fails.
    /// - Returns: `nil`, and nothing has changed, if the session no longer matches the file.
    func commit<Result>(
        _ plan: WritePlan, _ session: Session, _ lock: FileLock, _ group: WriteQueue.Group?,
        _ latest: inout VaultTransaction?,
        _ body: (VaultTransaction) throws -> Result
    ) throws(KeychainError) -> Result? {
        // A vault that was copied without its lock file, or lost it, has lost the marker too; a vault whose creation
        // failed has none yet.
        if lock.isEmpty { try VaultCreation.finish(lock, location) }
        let write = LockedWrite(vault: self, plan: plan, session: session, lock: lock, group: group)
        do {
            return try session.writingConnection().use { try write.run($0, &latest, body) }
        } catch {
            // Two places translate errors of SQLite. `VaultTransaction` translates those of its calls, because the body of
            // the write catches `KeychainError`s, and because it must know at once whether the transaction is still usable.
            // This place translates all others: opening the connection, the begin, the keybag, the head and the commit.
            let error = DatabaseFailure.translated(error, location.databaseFile)
            if error.reason == .inputOutput || error.reason == .corrupt { session.dropWritingConnection() }
            throw error
        }
    }
}

extension KeychainError {
    fileprivate static func vaultIsReadOnly(_ location: VaultLocation) -> KeychainError {
        KeychainError(
            .readOnly, "The vault '\(location.folder)' cannot be written. Reading works; to write, make it writable.")
    }
}
