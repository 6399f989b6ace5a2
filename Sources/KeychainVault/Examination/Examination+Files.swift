// SPDX-License-Identifier: Apache-2.0
// Checks of the files of a vault from outside.

import Foundation
import KeychainEngine

extension Examination {
    /// - Returns: Whether each existing file may be used.
    mutating func checkFiles() -> Bool {
        var areSafe = true
        for name in [VaultLocation.databaseName, VaultLocation.lockName, VaultLocation.reserveName] {
            let path = location.folder + "/" + name
            let found = check("vault-files") { () throws(KeychainError) in try FileSafety.checkFile(path) }
            if found == nil { areSafe = false }
        }
        let location = location
        let found: Void? = check("vault-files") { () throws(KeychainError) in try FileSafety.checkCompanions(location) }
        if found == nil { areSafe = false }
        if areSafe { noteSafeFiles() }
        return areSafe
    }

    private mutating func noteSafeFiles() {
        // If the folder cannot be written either, the finding about it says so.
        let unwritable = FileSafety.allows(W_OK, location.folder) ? FilesState.unwritable(location) : []
        for path in unwritable {
            note(
                "vault-files", .warning,
                "'\(path)' cannot be written, so nothing can be stored; reading works. Run: chmod u+w '\(path)'")
        }
        guard unwritable.isEmpty else { return }
        note("vault-files", .ok, "The files belong to you and are closed to other users.")
    }

    /// - Returns: Whether there is a database to examine.
    mutating func hasDatabase() -> Bool {
        if FileSafety.allows(F_OK, location.databaseFile) { return true }
        let location = location
        let missed: Void? = check("database") { () throws(KeychainError) in
            // If it exists now, it was created after the other steps of this examination, and is not examined.
            _ = try VaultMarker.checkDatabase(location)
        }
        if missed != nil {
            note(
                "database", .ok,
                "There is no database yet. The first write creates it. To create it now, run: keychainctl init")
        }
        return false
    }

    /// The results of the last two steps of creating a vault; the next write repairs either.
    mutating func checkLockFile() {
        guard FileSafety.allows(F_OK, location.databaseFile) else { return }
        do throws(KeychainError) {
            guard try !VaultMarker.isPresent(location) else { return }
            note(
                "lock-file", .warning,
                "'\(location.lockFile)' does not mark this folder as a vault. Perhaps the folder was copied without it. "
                    + "The next write repairs it.")
        } catch {
            return  // The finding about the other files covers it.
        }
    }

    mutating func checkRemovedData() {
        let location = location
        let found = check("removed-data") { () throws(KeychainError) in try VaultMarker.walHoldsRemovedData(location) }
        guard found == true else { return }
        note(
            "removed-data", .warning,
            "Removed data may still be in the WAL '\(location.folder)/\(VaultLocation.companionNames[0])': another process "
                + "was reading it, the disk was full, or '\(location.lockFile)' was removed. The next write removes the data, "
                + "unless a process is still reading. If it stays, end or resume that process.")
    }

    mutating func checkLockHolder() {
        // A process that closes the vault as the last one, or makes a copy, does not need the writer lock.
        let holder =
            LockHolder.find(location.lockFile) ?? LockHolder.find(location.unfinishedRestoration)
            ?? LockHolder.find(database: location.databaseFile)
        guard let holder else { return note("writer", .ok, "No writer was found.") }
        note(
            "writer", holder.isStopped ? .problem : .warning,
            holder.isStopped
                ? "\(holder) has locked the vault, and other processes wait for it. \(holder.advice)"
                : "\(holder) is writing to the vault now. Other processes wait for it. If it stays, end or resume it.")
    }

    /// - Returns: The key, `nil` if there is none, or why it cannot be used.
    mutating func checkDeviceKey() -> Result<DeviceKey?, KeychainError> {
        let location = location
        let isApart: Void? = check("device-key") { () throws(KeychainError) in try location.checkSeparation() }
        do throws(KeychainError) {
            try FileSafety.checkNotSharedByAll(Self.nearestFolder(above: location.deviceKeyFile))
            let key = try DeviceKey.load(location.deviceKeyFile)
            if isApart != nil { noteGood(key) }
            return .success(key)
        } catch {
            note("device-key", .problem, error.message)
            return .failure(error)
        }
    }

    private mutating func noteGood(_ key: DeviceKey?) {
        let file = location.deviceKeyFile
        note(
            "device-key", .ok,
            key == nil
                ? "There is no '\(file)'."
                : "'\(file)' is intact, belongs to you, is closed to other users and is outside the vault.")
    }

    private static func nearestFolder(above path: String) -> String {
        var folder = FileSafety.parent(of: path)
        while folder != "/", !FileSafety.allows(F_OK, folder) { folder = FileSafety.parent(of: folder) }
        return folder
    }

    /// Vaults that restorations have replaced. The secrets that opened them then still open them.
    mutating func checkReplaced() {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: location.folder) } catch { return }
        let kept = names.map { location.folder + "/" + $0 }.filter { $0.hasPrefix(location.replacedPrefix) }.sorted()
        guard !kept.isEmpty else { return }
        note(
            "replaced", .ok,
            "`restore` kept the vaults that it replaced. Remove them when they are not needed: \(kept.joined(separator: ", "))"
        )
    }

    /// The residue of an interrupted creation; the next one removes it.
    mutating func checkResidue() {
        let names = ["", "-wal", "-shm", "-journal"].map { location.databaseFile + VaultLocation.newSuffix + $0 }
        let unfinished = [location.unfinishedRestoration, location.unfinishedKeeping, location.deviceKeyFile + ".new"]
        let left = (names + unfinished).filter { FileIdentity($0) != nil && LockHolder.find($0) == nil }
        guard !left.isEmpty else { return }
        note(
            "residue", .warning,
            "An interrupted operation left files that are not needed. Remove them: \(left.joined(separator: ", "))"
        )
    }
}
