// SPDX-License-Identifier: Apache-2.0
// A store in which another program changes items between two calls.

package import KeychainEngine
import Synchronization

/// A store without transactions and notifications, where another program acts right after a search.
package final class InterruptedStore: StoreOverMemory {
    package typealias Act = @Sendable () throws -> Void

    private struct Interruption: Sendable {
        var count: Int
        let onlyOfValues: Bool
        let act: Act
    }

    package let memory: MemoryStore
    private let interruption = Mutex<Interruption?>(nil)

    package init(_ memory: MemoryStore = MemoryStore()) { self.memory = memory }

    /// - Parameters:
    ///   - count: After how many of the next searches the other program acts.
    ///   - onlyOfValues: Whether searches without values do not count.
    ///   - act: What it does, before the result of the search is used.
    package func interrupt(_ count: Int = 1, onlyOfValues: Bool = false, _ act: @escaping Act) {
        interruption.withLock { $0 = Interruption(count: count, onlyOfValues: onlyOfValues, act: act) }
    }

    package func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        let found = try memory.select(selection, limit: limit, includingValues: includingValues, authorization)
        do {
            try takeTurn(includingValues)?()
        } catch {
            throw KeychainError(.inputOutput, "The other program of a test failed: \(error)")
        }
        return found
    }

    private func takeTurn(_ includingValues: Bool) -> Act? {
        interruption.withLock { interruption in
            guard let current = interruption, includingValues || !current.onlyOfValues else { return nil }
            interruption?.count -= 1
            if current.count == 1 { interruption = nil }
            return current.act
        }
    }
}
