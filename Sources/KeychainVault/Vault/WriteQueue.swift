// SPDX-License-Identifier: Apache-2.0
// Queue of this process's short writes, which share transactions.

import Foundation
import KeychainEngine
import SecretMemory

/// A write of one item that waits for the transaction of another thread.
///
/// Its body may run on that thread while its own thread waits. The body is released before its own thread continues.
final class WaitingWrite: @unchecked Sendable {
    enum Answer {
        /// The write is durable as a part of the other transaction.
        case done
        /// This write now makes its own transaction, which includes no others if it failed as a part.
        case leads(isAlone: Bool)
        case failed(KeychainError)
    }

    let gate: CommitGate?
    /// Guarded by the queue.
    fileprivate var isAlone = false
    private let proofs: Proofs
    // Guarded by `turn`.
    private var body: ((VaultTransaction) throws -> Void)?
    private var answer: Answer?
    private let turn = Turn()

    init(_ plan: WritePlan, _ body: @escaping (VaultTransaction) throws -> Void) {
        (gate, proofs) = (plan.gate, plan.proofs)
        self.body = body
    }

    /// Runs it as a part of another transaction.
    ///
    /// - Throws: If the part must be undone.
    func run(_ session: Session, _ keeper: HeadKeeper) throws {
        let transaction = VaultTransaction(session, keeper, proofs)
        defer { transaction.end() }
        _ = try transaction.sealer()
        try body?(transaction)
        try transaction.checkUndamaged()
        // Removed data must also be removed from the WAL, which requires its own transaction.
        if transaction.hasRemoved { throw KeychainError.noPart }
        try gate?.enter()
    }

    func give(_ answer: Answer) {
        turn.withLock {
            (self.answer, body) = (answer, nil)
            turn.signal()
        }
    }

    /// - Returns: `nil` if there was no answer for some time.
    fileprivate func awaitAnswer() -> Answer? {
        turn.withLock {
            if answer == nil { turn.wait(Self.pause) }
            return answer
        }
    }

    /// Call it when no other thread has the write any more.
    fileprivate func letGo() { turn.withLock { body = nil } }

    /// The interval at which a waiting call checks whether it has ended.
    private static let pause = Duration.milliseconds(5)
}

/// The queue of short writes to one vault in this process. One of them leads: it takes the writer lock, and includes
/// the writes that wait meanwhile in its transaction, so that all of them share one sync.
package final class WriteQueue: Sendable {
    private struct Content {
        var isLed = false
        var waiting: [WaitingWrite] = []
        /// In the child of a fork the threads of the parent do not exist.
        var process = getpid()

        mutating func lead() -> Bool {
            defer { isLed = true }
            return !isLed
        }
    }

    private let content = Guarded(Content())

    /// Whether a thread of the parent was using it when this process was forked.
    var isHeldByParent: Bool { content.isHeldByParent }

    /// For tests: whether a write leads, and how many wait.
    package var isLed: Bool { withContent { $0.isLed } }
    package var waitingCount: Int { withContent { $0.waiting.count } }

    /// - Returns: Whether the caller leads now, and must call ``endLead()``.
    func lead() -> Bool { withContent { $0.lead() } }

    /// Waits until the write is done or leads the next transaction.
    ///
    /// - Throws: `busy` when the time is up, and the error with which the gate was closed. The write then never happens.
    func answer(
        to write: WaitingWrite, _ wait: FileLock.Wait, _ path: String
    ) throws(KeychainError) -> WaitingWrite.Answer {
        defer { write.letGo() }
        let leads = withContent { content in
            if content.lead() { return true }
            content.waiting.append(write)
            return false
        }
        if leads { return .leads(isAlone: false) }
        while true {
            if let answer = write.awaitAnswer() { return answer }
            do throws(KeychainError) {
                if try wait.hasEnded() { throw FileLock.busy(path, wait) }
            } catch {
                if withdraw(write) { throw error }
                // A leader has it and answers soon.
            }
        }
    }

    private func withdraw(_ write: WaitingWrite) -> Bool {
        withContent { content in
            guard let index = content.waiting.firstIndex(where: { $0 === write }) else { return false }
            content.waiting.remove(at: index)
            return true
        }
    }

    /// The next write for the leader's transaction; the leader must answer it or put it back.
    func next() -> WaitingWrite? {
        withContent { content in
            guard let index = content.waiting.firstIndex(where: { !$0.isAlone }) else { return nil }
            return content.waiting.remove(at: index)
        }
    }

    /// Lets the writes wait again, before all others.
    func putBack(_ writes: [WaitingWrite], alone: Bool) {
        guard !writes.isEmpty else { return }
        withContent { content in
            if alone { for write in writes { write.isAlone = true } }
            content.waiting.insert(contentsOf: writes, at: 0)
        }
    }

    /// Ends the lead of the caller; the first that waits leads next.
    func endLead() {
        let next: WaitingWrite? = withContent { content in
            guard content.waiting.isEmpty else { return content.waiting.removeFirst() }
            content.isLed = false
            return nil
        }
        // No other thread changes it from here on.
        if let next { next.give(.leads(isAlone: next.isAlone)) }
    }

    private func withContent<Result>(_ body: (inout Content) -> Result) -> Result {
        content.withLock { content in
            if content.process != getpid() { content = Content() }
            return body(&content)
        }
    }
}

extension WriteQueue {
    /// The writes that one leader includes in its transaction.
    final class Group {
        private let queue: WriteQueue
        private var members: [WaitingWrite] = []
        /// Whether SQLite has rolled back the whole transaction because of one of the writes.
        private(set) var isLost = false

        /// With more, the first ones would wait for a long time.
        private static let most = 64

        init(_ queue: WriteQueue) { self.queue = queue }

        /// Call it in the leader's transaction, after its own changes.
        ///
        /// - Throws: If the whole transaction is lost.
        func run(_ session: Session, _ keeper: HeadKeeper) throws {
            while members.count < Self.most, let write = queue.next() {
                do {
                    if try keeper.part({ try write.run(session, keeper) }) {
                        members.append(write)
                    } else {
                        putBack([write], alone: true)
                    }
                } catch {
                    isLost = true
                    putBack([write], alone: true)
                    throw error
                }
            }
        }

        /// Call it when the transaction is durable.
        func committed() { answer(.done) }

        /// Call it when the transaction was rolled back, or its outcome is unknown.
        func ended(_ error: any Error, _ path: String) {
            if let error = error as? KeychainError, error == .unknownOutcome(path) { return answer(.failed(error)) }
            putBack(members, alone: false)
            members = []
        }

        private func putBack(_ writes: [WaitingWrite], alone: Bool) {
            for write in writes { write.gate?.leave() }
            queue.putBack(writes, alone: alone)
        }

        private func answer(_ answer: WaitingWrite.Answer) {
            for write in members { write.give(answer) }
            members = []
        }
    }
}

extension KeychainError {
    /// Never reported.
    fileprivate static let noPart = KeychainError(.busy, "This write needs a transaction of its own.")
}
