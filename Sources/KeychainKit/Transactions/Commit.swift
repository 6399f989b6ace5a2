// SPDX-License-Identifier: Apache-2.0
// Makes all changes of a transaction in one step, if nothing that it has read has changed.

import KeychainEngine

struct Commit: Sendable {
    private let store: SecretStore
    private let reads: [TransactionRecord.Read]
    private let changes: [TransactionRecord.Change]
    private let allowsSteps: Bool

    /// - Parameter allowsSteps: Whether a keychain without transactions makes several changes one by one, in order.
    ///   Otherwise it refuses them.
    init(_ store: SecretStore, _ record: TransactionRecord, allowsSteps: Bool) {
        (self.store, self.allowsSteps) = (store, allowsSteps)
        reads = record.reads
        changes = record.changes
    }

    /// - Returns: `false` if something that was read has changed since; then nothing has changed.
    func run(_ questions: Query.Questions?) throws(KeychainError) -> Bool {
        if changes.isEmpty { return try isOneState(questions) }
        let engine = store.backing.engine
        guard engine.store.transactional != nil else {
            return try isOneCall || !allowsSteps ? runAsOneCall(questions) : runInSteps(questions)
        }
        return try engine.transaction(as: StoreRequests(store, questions).query()) {
            (requests) throws(KeychainError) in
            for read in reads where try !isStillSo(read, StoreRequests(read.store, questions, in: requests)) {
                return false
            }
            for change in changes { try apply(change, StoreRequests(change.store, questions, in: requests)) }
            return true
        }
    }

    /// Whether everything that was read existed at one moment. An item that is still unchanged was unchanged at the
    /// time of the last read, since a state of an item never comes back (except that an item may be absent again). This
    /// check needs no write permission, and does not create a keychain.
    private func isOneState(_ questions: Query.Questions?) throws(KeychainError) -> Bool {
        guard reads.count > 1 else { return true }
        for read in reads where try !isStillSo(read, StoreRequests(read.store, questions)) { return false }
        return true
    }

    private func isStillSo(
        _ read: TransactionRecord.Read, _ requests: StoreRequests
    ) throws(KeychainError) -> Bool {
        let found = try requests.find(read.account, includingValue: false)
        return found?.id == read.found?.id && found?.item[.digest] == read.found?.item[.digest]
    }

    private func apply(_ change: TransactionRecord.Change, _ requests: StoreRequests) throws(KeychainError) {
        switch change {
        case .save(_, let account, let bytes, let attributes): try requests.save(account, bytes, attributes)
        case .create(_, let account, let bytes, let attributes): try requests.create(account, bytes, attributes)
        case .remove(_, let account): _ = try requests.remove(account)
        }
    }

    // MARK: - Without transactions

    /// A change of a single item is one step in any keychain.
    private var isOneCall: Bool {
        guard changes.count == 1, let change = changes.first else { return false }
        let changed = TransactionRecord.Name(change.store, change.account)
        return reads.allSatisfy { TransactionRecord.Name($0.store, $0.account) == changed }
    }

    /// Changes that other programs make between the steps are overwritten.
    private func runInSteps(_ questions: Query.Questions?) throws(KeychainError) -> Bool {
        for read in reads where try !isStillSo(read, StoreRequests(read.store, questions)) { return false }
        for change in changes { try apply(change, StoreRequests(change.store, questions)) }
        return true
    }

    private func runAsOneCall(_ questions: Query.Questions?) throws(KeychainError) -> Bool {
        guard isOneCall, let change = changes.first else {
            throw KeychainError(
                .unsupported,
                "This keychain cannot change several items at once, or one depending on others. Keep one record in one item."
            )
        }
        let requests = StoreRequests(change.store, questions)
        guard let read = reads.first else {
            try apply(change, requests)
            return true
        }
        switch change {
        case .save(_, let account, let bytes, let attributes):
            return try requests.replace(account, read.found, by: bytes, attributes)
        case .create(_, let account, let bytes, let attributes):
            try requests.create(account, bytes, attributes)
            return true
        case .remove(_, let account):
            return try requests.replace(account, read.found, by: nil)
        }
    }
}
