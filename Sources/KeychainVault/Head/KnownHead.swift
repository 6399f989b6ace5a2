// SPDX-License-Identifier: Apache-2.0
// What a session knows of its vault's head.

import Foundation
import KeychainCrypto
import Synchronization

/// The head as this session saw it last. The first write of a session compares it with the whole vault; later ones only see
/// to it that it never goes back.
final class KnownHead: Sendable {
    struct Content {
        /// From a secret that was given for one call, while the vault itself is locked.
        var keys: HeadKeys?
        /// The last head that was found or made good, and how it was stored.
        var good: (sealed: Data, head: Head)?
    }

    private let content = Mutex(Content())

    var keys: HeadKeys? { content.withLock { $0.keys } }

    func learn(_ keys: HeadKeys) { content.withLock { $0.keys = keys } }

    /// To be called when the vault is locked.
    func forgetKeys() { content.withLock { $0.keys = nil } }

    /// `nil` until the vault has been compared with its head.
    var good: (sealed: Data, head: Head)? { content.withLock { $0.good } }

    func isGood(_ sealed: Data, _ head: Head) { content.withLock { $0.good = (sealed, head) } }
}

extension Session {
    /// The keys of the head, as soon as the index is open.
    ///
    /// - Throws: `locked`.
    func headKeys() throws -> HeadKeys {
        if let keys = knownHead.keys { return keys }
        return try keyState.sealer(.looking).keys.head
    }

    /// To be told by whoever has opened the index in another way.
    func learnHeadKeys(_ keys: HeadKeys) { knownHead.learn(keys) }
}
