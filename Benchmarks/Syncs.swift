// SPDX-License-Identifier: Apache-2.0
// How often writes wait for the disk, which neither processor time nor a fast disk shows.

import Foundation
import KeychainKit
import KeychainServices
import KeychainVault
import SyncShim
import Synchronization

/// Counts the calls of `fsync` and `fdatasync` of this process.
final class SyncCounts {
    private let bench: Bench
    private let vault: Vault
    private let store: SecretStore
    fileprivate static let value = Data("a token of about forty characters, say.".utf8)
    private static let patience = Duration.seconds(5)
    static let threads = 8

    /// In a vault that is so small that nothing it does begins a checkpoint.
    init(parent: String) throws {
        bench = try Bench(size: 8, parent: parent)
        vault = Vault.at(bench.location)
        store = SecretStore(service: "com.example.counted", store: vault)
        // The first write of a process also begins the WAL.
        try store.save(Self.value, for: "first")
    }

    /// - Returns: Syncs of each addition.
    func ofAdditions(_ count: Int) throws -> Double {
        let syncs = try Self.syncs { for _ in 0..<count { try store.save(Self.value, for: UUID().uuidString) } }
        return Double(syncs) / Double(count)
    }

    /// - Returns: Syncs of a transaction of 100 additions.
    func ofTransaction() throws -> Double {
        let name = UUID()
        return Double(
            try Self.syncs {
                try store.transaction { transaction in
                    for index in 0..<100 { try transaction.save(Self.value, for: "\(name)-\(index)") }
                }
            })
    }

    /// The first of eight threads is stopped in its sync until the others wait for it.
    ///
    /// - Returns: Syncs of the additions of all of them, one each.
    func ofThreads() throws -> Double {
        let adders = Adders(store: store)
        let syncs = Self.syncs {
            sync_shim_hold(1)
            adders.start(1)
            Self.wait { sync_shim_held() > 0 }
            adders.start(Self.threads - 1)
            Self.wait { vault.writes.waitingCount == Self.threads - 1 }
            sync_shim_hold(0)
            adders.join()
        }
        guard adders.failures.load(ordering: .relaxed) == 0 else { throw BenchError(status: errSecIO) }
        return Double(syncs)
    }

    /// Threads that add one item each.
    private final class Adders: Sendable {
        let failures = Atomic(0)
        private let store: SecretStore
        private let group = DispatchGroup()

        init(store: SecretStore) { self.store = store }

        func start(_ count: Int) {
            for _ in 0..<count {
                group.enter()
                Thread.detachNewThread { [self] in
                    do { try store.save(SyncCounts.value, for: UUID().uuidString) } catch {
                        failures.add(1, ordering: .relaxed)
                    }
                    group.leave()
                }
            }
        }

        func join() { group.wait() }
    }

    private static func syncs(_ body: () throws -> Void) rethrows -> Int {
        let before = sync_shim_count()
        try body()
        return sync_shim_count() - before
    }

    /// Waits for a while. Whether the condition is true then, the count shows.
    private static func wait(_ condition: () -> Bool) {
        let end = ContinuousClock.now + patience
        while !condition(), ContinuousClock.now < end { usleep(200) }
    }
}
