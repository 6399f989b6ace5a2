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
            "What was removed is still in '\(location.folder)/\(VaultLocation.companionNames[0])', since another process "
                + "reads there. End it or let it go on; the next write then removes it.")
    }

    mutating func checkLockHolder() {
        guard let holder = LockHolder.find(location.lockFile) else {
            return note("writer", .ok, "No writer is to be seen.")
        }
        note(
            "writer", .warning,
            "\(holder) is writing to the vault now. Others wait for it; if it stays, end it or let it go on.")
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
        let left = (names + unfinished).filter { access($0, F_OK) == 0 && LockHolder.find($0) == nil }
        guard !left.isEmpty else { return }
        note(
            "leftovers", .warning,
            "Something that was cut short has left: \(left.joined(separator: ", ")). Nothing needs it; it may be removed."
        )
    }
}

/// Which process holds the writers' lock.
struct LockHolder: CustomStringConvertible {
    let process: Int32

    var description: String {
        guard process > 0 else { return "A process of another container or system" }
        return "Process \(process)" + (name.map { " (\($0))" } ?? "")
    }

    private var name: String? {
        Self.lines("/proc/\(process)/comm").first.map { String($0) }
    }

    /// By the kernel's list, since asking for the lock would make writers wait.
    ///
    /// - Returns: `nil` if nobody does, or the system does not say.
    static func find(_ lockFile: String) -> LockHolder? {
        var status = stat()
        guard lstat(lockFile, &status) == 0 else { return nil }
        for line in lines("/proc/locks") {
            // "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF"; a waiting process has "->" in it.
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE",
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == UInt64(status.st_ino),
                isDevice(words[5], status), let process = Int32(words[4])
            else { continue }
            return LockHolder(process: process)
        }
        return nil
    }

    private static func isDevice(_ place: Substring, _ status: stat) -> Bool {
        let parts = place.split(separator: ":").compactMap { UInt64($0, radix: 16) }
        let device = UInt64(truncatingIfNeeded: status.st_dev)
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        return parts.count == 3 && parts[0] == major && parts[1] == minor & 0xFFFF_FFFF
    }

    private static func lines(_ path: String) -> [Substring] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 18)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
    }
}
