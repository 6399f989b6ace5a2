// SPDX-License-Identifier: Apache-2.0
// Waiting for what an observer sees.

import Foundation
import KeychainEngine

/// Checks something each time a store announces a change, on the notified thread.
final class Watcher<Seen: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var observation: StoreObservation?
    private var seen: [Seen] = []

    /// - Parameter look: What fails is not seen.
    init(_ store: any ItemStore, _ look: @escaping @Sendable () throws -> Seen) throws {
        observation = try store.observe { [weak self] in
            do { self?.add(try look()) } catch { return }
        }
    }

    var all: [Seen] { condition.withLock { seen } }

    var calls: Int { condition.withLock { seen.count } }

    func end() { observation = nil }

    /// Whether what was seen last is at some time like this.
    func sees(within seconds: TimeInterval = 600, _ isWanted: (Seen) -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        return condition.withLock {
            while !(seen.last.map(isWanted) ?? false) {
                guard condition.wait(until: deadline) else { return false }
            }
            return true
        }
    }

    /// Whether there is at some time one call more than these.
    func isCalled(beyond calls: Int, within seconds: TimeInterval = 600) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        return condition.withLock {
            while seen.count <= calls {
                guard condition.wait(until: deadline) else { return false }
            }
            return true
        }
    }

    private func add(_ sight: Seen) {
        condition.withLock {
            seen.append(sight)
            condition.broadcast()
        }
    }
}

extension TestVault {
    /// Sees the value of one of the exerciser's items, in this process's vault.
    func watcher(of account: String) throws -> Watcher<String?> {
        let engine = engine
        return try Watcher(vault) { try engine.textIfThere(.genericPassword("exerciser", account)) }
    }
}

extension Engine {
    func textIfThere(_ query: Query) throws(KeychainError) -> String? {
        do throws(KeychainError) {
            return try text(query)
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return nil
        }
    }
}
