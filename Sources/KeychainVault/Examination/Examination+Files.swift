// SPDX-License-Identifier: Apache-2.0
// The files of a vault, looked at from outside.

import Foundation
import KeychainEngine

extension Examination {
    /// - Returns: Whether each file that is there may be used.
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
        if areSafe { note("vault-files", .ok, "The files are yours and closed to others.") }
        return areSafe
    }

    /// - Returns: Whether there is one to look into.
    mutating func hasDatabase() -> Bool {
        if access(location.databaseFile, F_OK) == 0 { return true }
        let location = location
        let absent: Void? = check("database") { () throws(KeychainError) in try VaultMarker.checkAbsent(location) }
        if absent != nil { note("database", .ok, "There is none yet; the first write makes it, or: keychainctl init") }
        return false
    }

    /// What the last two steps of making a vault write; either is mended by the next write.
    mutating func checkLockFile() {
        guard access(location.databaseFile, F_OK) == 0 else { return }
        do throws(KeychainError) {
            guard try !VaultMarker.isPresent(location) else { return }
            note(
                "lock-file", .warning,
                "'\(location.lockFile)' does not say that there is a vault here: it may have been left out of a copy. "
                    + "The next write mends it.")
        } catch {
            return  // Told with the other files.
        }
    }

    mutating func checkRemovedData() {
        let location = location
        let found = check("removed-data") { () throws(KeychainError) in try VaultMarker.logHoldsRemovedData(location) }
        guard found == true else { return }
        note(
            "removed-data", .warning,
            "What was removed is still in '\(location.folder)/\(VaultLocation.companionNames[0])': another process was reading "
                + "there, or the disk was full. The next write removes it, unless a process goes on reading: end that one, or "
                + "let it go on.")
    }

    mutating func checkLockHolder() {
        // Whoever closes the vault as the last one, or makes a copy, has no need of the writers' lock.
        let holder =
            LockHolder.find(location.lockFile) ?? LockHolder.find(location.unfinishedRestoration)
            ?? LockHolder.find(database: location.databaseFile)
        guard let holder else { return note("writer", .ok, "No writer is to be seen.") }
        note(
            "writer", holder.isStopped ? .problem : .warning,
            holder.isStopped
                ? "\(holder) holds the vault, and others wait for it. \(holder.advice)"
                : "\(holder) is writing to the vault now. Others wait for it; if it stays, end it or let it go on.")
    }

    /// - Returns: The key, if there is a whole one.
    mutating func checkDeviceKey() -> DeviceKey? {
        let location = location
        let isApart: Void? = check("device-key") { () throws(KeychainError) in try location.checkSeparation() }
        let found = check("device-key") { () throws(KeychainError) -> DeviceKey? in
            try FileSafety.checkNotSharedByAll(Self.nearestFolder(above: location.deviceKeyFile))
            return try DeviceKey.load(location.deviceKeyFile)
        }
        guard let found, isApart != nil else { return nil }
        guard let key = found else {
            note("device-key", .ok, "There is no '\(location.deviceKeyFile)'.")
            return nil
        }
        note(
            "device-key", .ok, "'\(location.deviceKeyFile)' is whole, yours, closed to others and apart from the vault."
        )
        return key
    }

    private static func nearestFolder(above path: String) -> String {
        var folder = FileSafety.parent(of: path)
        while folder != "/", access(folder, F_OK) != 0 { folder = FileSafety.parent(of: folder) }
        return folder
    }

    /// What restorations have replaced: it opens with what opened it then.
    mutating func checkReplaced() {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: location.folder) } catch { return }
        let kept = names.map { location.folder + "/" + $0 }.filter { $0.hasPrefix(location.replacedPrefix) }.sorted()
        guard !kept.isEmpty else { return }
        note(
            "replaced", .ok,
            "Vaults that `restore` has replaced are kept; remove them when nobody needs them: \(kept.joined(separator: ", "))"
        )
    }

    /// What a creation that was cut short leaves; the next one removes it.
    mutating func checkLeftovers() {
        let names = ["", "-wal", "-shm", "-journal"].map { location.databaseFile + ".new" + $0 }
        let unfinished = [location.unfinishedRestoration, location.unfinishedKeeping, location.deviceKeyFile + ".new"]
        let left = (names + unfinished).filter { FileIdentity($0) != nil && LockHolder.find($0) == nil }
        guard !left.isEmpty else { return }
        note(
            "leftovers", .warning,
            "Something that was cut short has left: \(left.joined(separator: ", ")). Nothing needs it; it may be removed."
        )
    }
}
