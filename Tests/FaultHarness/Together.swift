// SPDX-License-Identifier: Apache-2.0
// Additions by several threads that one of them makes together.

import Foundation
import KeychainVault
import Synchronization

/// Has one thread for each item. Whichever takes the writer lock first waits for the others, so that the calls of the process come
/// in the same order each time.
struct Together {
    let vault: Vault

    private final class Results: Sendable {
        let finished = Atomic(0)
        let failures = Mutex<[any Error]>([])
    }

    init(_ vault: Vault) { self.vault = vault }

    /// - Throws: The first failure; then any of the items may have been added.
    func add(_ numbers: Range<Int>) throws {
        let (results, vault) = (Results(), vault)
        PausePoint.observe { point in
            guard point == .lockTaken else { return }
            while vault.writes.waitingCount + results.finished.load(ordering: .acquiring) < numbers.count - 1 {
                usleep(100)
            }
        }
        defer { PausePoint.observe(nil) }
        let group = DispatchGroup()
        for number in numbers {
            group.enter()
            Thread.detachNewThread {
                do {
                    try vault.add("item-\(number)", "added")
                } catch {
                    results.failures.withLock { $0.append(error) }
                }
                results.finished.add(1, ordering: .acquiringAndReleasing)
                group.leave()
            }
        }
        group.wait()
        if let failure = results.failures.withLock({ $0.first }) { throw failure }
    }
}
