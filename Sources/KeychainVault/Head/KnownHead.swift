// SPDX-License-Identifier: Apache-2.0
// The head of a vault as a session knows it.

import Foundation
import KeychainCrypto
import Synchronization

/// The head as this session saw it last. The first write of a session compares it with the whole vault; later ones only
/// check that it never goes back.
final class KnownHead: Sendable {
    struct Content {
        /// From a secret that was given for one call, while the vault itself is locked.
        var keys: HeadKeys?
        /// The last head that was found valid or written, and its stored bytes.
        var good: (sealed: Data, head: Head)?
    }

    private let content = Mutex(Content())

    var keys: HeadKeys? { content.withLock { $0.keys } }

    /// Call it after opening the index in another way than by unlocking.
    func learn(_ keys: HeadKeys) { content.withLock { $0.keys = keys } }

    /// Call it when the vault is locked.
    func forgetKeys() { content.withLock { $0.keys = nil } }

    /// `nil` until the vault has been compared with its head.
    var good: (sealed: Data, head: Head)? { content.withLock { $0.good } }

    func isGood(_ sealed: Data, _ head: Head) { content.withLock { $0.good = (sealed, head) } }
}
