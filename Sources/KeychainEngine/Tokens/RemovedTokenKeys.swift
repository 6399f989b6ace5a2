// SPDX-License-Identifier: Apache-2.0
// The keys on tokens whose items are removed.

import Foundation
import SecretMemory

/// The keys on tokens whose items a transaction removes. Their tokens forget them after it has happened: a transaction that fails
/// keeps the items, which are of no use without their keys.
final class RemovedTokenKeys: Sendable {
    struct Key: Sendable {
        let token: any KeyToken
        let object: Data
        let publicKey: Data

        /// A failure is ignored, as by Apple: the token may be gone.
        func forget() { try? token.forget(object) }
    }

    private let keys = Guarded<[Key]>([])

    var all: [Key] { keys.withLock { $0 } }

    func add(_ removed: [Key]) { keys.withLock { $0 += removed } }

    /// Before the transaction begins again.
    func reset() { keys.withLock { $0 = [] } }
}
