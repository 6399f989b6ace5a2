// SPDX-License-Identifier: Apache-2.0
// The head of a vault as a session knows it.

import Foundation
import KeychainCrypto
import SecretMemory

/// The head as this session saw it last. The first write of a session compares it with the whole vault; later ones only
/// check that it never goes back.
final class KnownHead: Sendable {
    struct Content {
        /// From a secret that was given for one call, while the vault itself is locked.
        var keys: HeadKeys?
        var good: Good?
    }

    /// The last head that was found valid or written.
    struct Good {
        let head: Head
        /// Its stored bytes.
        let sealed: Data
        /// Where the WAL ended after the commit that wrote it; `nil` if that is not known.
        let end: WALHeader?
    }

    private let content = Guarded(Content())

    var keys: HeadKeys? { content.withLock { $0.keys } }

    /// Call it after opening the index in another way than by unlocking.
    func learn(_ keys: HeadKeys) { content.withLock { $0.keys = keys } }

    /// Call it when the vault is locked.
    func forgetKeys() { content.withLock { $0.keys = nil } }

    /// `nil` until the vault has been compared with its head.
    var good: Good? {
        get { content.withLock { $0.good } }
        set { content.withLock { $0.good = newValue } }
    }
}
