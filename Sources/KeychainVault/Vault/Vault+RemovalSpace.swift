// SPDX-License-Identifier: Apache-2.0
// Space for a removal on a full disk: from the reserve, and from the WAL.

import Foundation
import KeychainEngine

extension Vault {
    /// A removal makes the WAL longer. So the WAL is moved into the database first; if that were left for later, there might be no space
    /// to move it, and nothing more could be removed.
    ///
    /// While a reader keeps it from being moved, a part of the reserve stays. With that the WAL, which has the rest by then, can be moved
    /// once the reader has ended.
    ///
    /// - Returns: `false` if there is none.
    func makeSpace(_ reserve: inout Reserve) -> Bool {
        let length = walLength
        var (hasFreed, move) = (reserve.giveUp(), moveWAL())
        if move == .failed, reserve.giveUpAll() { (hasFreed, move) = (true, moveWAL()) }
        switch move {
        case .isRead: reserve.keep()
        // Its space was freed.
        case .moved where length > 2 * Reserve.kept: reserve.keep()
        case .moved: if !hasFreed { hasFreed = reserve.giveUpAll() }
        case .failed: break
        }
        return hasFreed || move == .moved && length > 0
    }

    private var walLength: Int {
        var status = stat()
        let path = location.folder + "/" + VaultLocation.companionNames[0]
        return lstat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    private func moveWAL() -> WALMove {
        do {
            // Its connections have the index of the WAL in memory, and would share it with those that write.
            if try openSession()?.indexFailure != nil { try close() }
            return try openSession()?.writingConnection().use { $0.moveWALNow() } ?? .failed
        } catch {
            return .failed
        }
    }

    /// The error of a removal for which there is no space, if that is because another process reads.
    func namingReader(_ error: KeychainError) -> KeychainError {
        guard error.reason == .diskFull, let reader = LockHolder.findReader(database: location.databaseFile) else {
            return error
        }
        let next =
            reader.isStopped ? reader.advice : "Once it has ended, removing works again. Until then, free some space."
        return KeychainError(
            .diskFull,
            "No space is left for '\(location.databaseFile)'; nothing was changed. \(reader) is reading the vault, so the space of "
                + "earlier changes cannot be used again. \(next)")
    }

    /// After a write that was given space and has not removed anything. Without the session, which the transaction holds too, the index
    /// of the WAL takes no space any more.
    func giveBack(_ reserve: inout Reserve, _ transaction: inout VaultTransaction?) {
        let largest = reserve.hasFreedPart ? (try? openSession())?.largestRow() : 0
        transaction = nil
        dropSession()
        reserve.restore { largest }
    }
}
