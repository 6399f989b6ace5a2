// SPDX-License-Identifier: Apache-2.0
// The vault as one of a ring.

package import KeychainEngine

extension Vault {
    /// Whether other machines share items of this vault. `false` if there is no vault.
    package var isInRing: Bool {
        get throws(KeychainError) { try openSession()?.isInRing ?? false }
    }

    /// Whether a path leads into the vault's folder, also by way of links.
    package func contains(_ path: String) -> Bool {
        guard let folder = FileSafety.resolved(location.folder), let path = FileSafety.resolved(path) else {
            return false
        }
        return (path + "/").utf8.starts(with: (folder + "/").utf8)
    }

    /// Whether something was changed that the ring has not taken up. Takes no lock, and needs no key.
    package var hasOutgoing: Bool {
        get throws(KeychainError) {
            try undisturbed { (session) throws(KeychainError) in
                guard let session, session.isInRing else { return false }
                return try DatabaseFailure.translating(location.databaseFile) {
                    try session.reader.use { try SyncTables($0).hasOutgoing() }
                }
            }
        }
    }

    /// Runs `body` in one durable transaction, as the only writer of all processes. If it throws, nothing has changed.
    package func inRing<Result>(
        _ body: (RingTransaction) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try write(.items) { try body(RingTransaction($0)) }
    }
}
