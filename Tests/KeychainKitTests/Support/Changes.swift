// SPDX-License-Identifier: Apache-2.0
// Changes, written so that they can be compared.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import Synchronization

@testable import KeychainVault

extension SecretChange {
    var words: String { item.map { "\(kind) \($0.account ?? "?")" } ?? "\(kind)" }
}

extension SecretChanges {
    /// The next ones, as many as these; fewer if they end.
    func next(_ count: Int) async -> [String] {
        guard count > 0 else { return [] }
        var words: [String] = []
        for await change in self {
            words.append(change.words)
            if words.count == count { break }
        }
        return words
    }
}

extension SharedVault {
    /// What an exerciser prints, waited for on a thread that no other test needs.
    func lines(_ command: String...) async throws -> [String] {
        try await onOwnThread { try self.start(command).finish().lines }
    }
}

/// A store in memory that counts its observers, and fails a given number of comparisons.
final class CountedStore: StoreOverMemory {
    let memory = MemoryStore(passphrase: "p")
    private let count = Mutex(0)
    let failures = Mutex(0)

    var observations: Int { count.withLock { $0 } }

    /// A notification that is in progress holds its observer until it has ended.
    func untilNotObserved() async {
        while observations > 0, !Task.isCancelled { await Task.yield() }
    }

    func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        count.withLock { $0 += 1 }
        let inner = try memory.observe(body)
        return StoreObservation { [self] in withExtendedLifetime(inner) { count.withLock { $0 -= 1 } } }
    }

    func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences {
        let fails = failures.withLock { left in
            left -= 1
            return left >= 0
        }
        if fails { throw KeychainError(.inputOutput, "It fails as it was told to.") }
        return memory.differences(selections, from: known)
    }

    var userVerifier: (any UserVerifier)? { memory.userVerifier }
}
