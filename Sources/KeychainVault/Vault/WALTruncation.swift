// SPDX-License-Identifier: Apache-2.0
// Removing what was deleted from the WAL too.

/// Removes deleted data from the WAL after a commit, as soon as no reader needs it.
struct WALTruncation {
    private let lock: FileLock
    private let isNeeded: Bool
    /// Whether an earlier truncation is still due.
    private let isOverdue: Bool

    /// Created before the commit, so that a process killed after the commit leaves the note.
    init(_ lock: FileLock, isNeeded: Bool) {
        self.lock = lock
        self.isNeeded = isNeeded
        isOverdue = VaultMarker.notesRemovedData(lock)
        if isNeeded, !isOverdue { VaultMarker.noteRemovedData(true, lock) }
    }

    /// Call it if nothing was removed after all.
    func withdraw() {
        if isNeeded, !isOverdue { VaultMarker.noteRemovedData(false, lock) }
    }

    /// Call it after the commit; a failure here does not undo the commit. Does not wait for readers: one may have been
    /// stopped.
    ///
    /// - Returns: Whether it has truncated the WAL.
    func run(_ connection: Connection) -> Bool {
        guard isNeeded || isOverdue else { return false }
        let isDone = connection.truncateWALNow()
        if isDone {
            VaultMarker.noteRemovedData(false, lock)
        } else if !isOverdue {
            VaultMarker.noteRemovedData(true, lock, durably: true)
        }
        return isDone
    }
}
