// SPDX-License-Identifier: Apache-2.0
// The keys on tokens that have no item any more.

import Foundation
import SecretMemory

/// The keys on tokens whose items a transaction removes. Their tokens forget them after it has happened: a transaction that fails
/// keeps the items, which are of no use without their keys.
final class RemovedTokenKeys: Sendable {
    struct Key: Sendable {
        let token: any KeyToken
        let object: Data

        /// A failure is ignored, as by Apple: the token may be gone.
        func forget() { try? token.forget(object) }
    }

    private let keys = Guarded<[Key]>([])

    func add(_ removed: [Key]) { keys.withLock { $0 += removed } }

    /// Before the transaction begins again.
    func reset() { keys.withLock { $0 = [] } }

    func forget() {
        for key in keys.withLock({ $0 }) { key.forget() }
    }
}
