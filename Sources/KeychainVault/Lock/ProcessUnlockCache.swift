// SPDX-License-Identifier: Apache-2.0
// The unlock cache of one process, if the kernel keeps no keys for it.

import Foundation
import KeychainEngine
import SecretMemory

/// Entries in this process's locked memory; only this process can use them, and they end with it.
struct ProcessUnlockCache: UnlockCache {
    private struct Place: Hashable {
        let vaultID: UUID
        let state: LockState
    }

    private struct Kept {
        let entry: UnlockEntry
        let number: UInt64
        var expiry: ContinuousClock.Instant?
    }

    private struct State {
        var kept: [Place: Kept] = [:]
        var nextNumber: UInt64 = 1
        /// The process that unlocked. A child of a fork starts locked, like a new program.
        var process = getpid()
    }

    private static let state = Guarded(State())

    func store(_ entry: UnlockEntry, _ state: LockState, vaultID: UUID) -> UnlockToken {
        Self.current { content in
            let number = content.nextNumber
            content.nextNumber += 1
            content.kept[Place(vaultID: vaultID, state: state)] = Kept(
                entry: entry, number: number, expiry: entry.idleTimeout.map { .now + $0 })
            return .process(number)
        }
    }

    func find(_ state: LockState, vaultID: UUID) -> (entry: UnlockEntry, token: UnlockToken)? {
        Self.current { content in
            content.kept[Place(vaultID: vaultID, state: state)].map { ($0.entry, .process($0.number)) }
        }
    }

    func isAlive(_ token: UnlockToken) -> Bool {
        guard case .process(let number) = token else { return false }
        return Self.current { content in content.kept.values.contains { $0.number == number } }
    }

    func renew(_ token: UnlockToken, _ timeout: Duration) {
        guard case .process(let number) = token else { return }
        Self.current { content in
            for place in content.kept.keys where content.kept[place]?.number == number {
                content.kept[place]?.expiry = .now + timeout
            }
        }
    }

    func remove(_ state: LockState, vaultID: UUID) {
        Self.current { $0.kept[Place(vaultID: vaultID, state: state)] = nil }
    }

    /// The state after removing expired entries.
    private static func current<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { content in
            if content.process != getpid() { content = State() }
            let now = ContinuousClock.now
            content.kept = content.kept.filter { entry in entry.value.expiry.map { $0 > now } ?? true }
            return body(&content)
        }
    }
}
