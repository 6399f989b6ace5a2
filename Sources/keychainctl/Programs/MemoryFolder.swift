// SPDX-License-Identifier: Apache-2.0
// A folder in memory for a value that another program has to open by a path.

import Foundation
import KeychainKit
import SecretMemory

/// A folder that only the user may enter, on a file system in memory. Such a file system may be swapped out.
final class MemoryFolder {
    private static let typesInMemory = ["tmpfs", "ramfs"]

    let path: String

    /// A folder in memory in which the user may make others, and nobody else may rename them.
    static var parent: String? {
        [ProcessEnvironment.current.value("XDG_RUNTIME_DIR"), "/dev/shm"].compactMap { $0 }.first {
            isInMemory($0) && access($0, W_OK | X_OK) == 0 && isSafe($0)
        }
    }

    /// Whether no other user can replace a folder in it. `su` leaves XDG_RUNTIME_DIR to a program of another user.
    private static func isSafe(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0 else {
            return false
        }
        return PathSafety.flaw(of: path, checkingOwners: true) == nil
    }

    /// Swift does not import statfs(), so the type of the file system is that of its device in the mount table:
    /// `36 35 0:32 / /run/user/1000 rw,nosuid - tmpfs tmpfs rw`.
    static func isInMemory(_ path: String) -> Bool {
        var status = stat()
        guard path.hasPrefix("/"), stat(path, &status) == 0 else { return false }
        let device = "\(major(status.st_dev)):\(minor(status.st_dev))"
        let types = mounts.filter { $0.count > 2 && $0[2] == device }.compactMap { mount in
            mount.firstIndex(of: "-").flatMap { $0 + 1 < mount.endIndex ? String(mount[$0 + 1]) : nil }
        }
        return !types.isEmpty && types.allSatisfy(typesInMemory.contains)
    }

    /// The words of the mount table.
    private static var mounts: [[Substring]] {
        do throws(KeychainError) {
            let table = try InputFile.read("/proc/self/mountinfo", limit: 16 << 20)
            return String(decoding: table, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
        } catch {
            return []
        }
    }

    /// The two parts of a device's number, as in the kernel's tables.
    private static func major(_ device: dev_t) -> UInt64 {
        let device = UInt64(device)
        return device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000
    }

    private static func minor(_ device: dev_t) -> UInt64 {
        let device = UInt64(device)
        return device & 0xFF | device >> 12 & 0xFFFF_FF00
    }

    /// - Throws: `unsupported` if there is no file system in memory.
    init() throws(KeychainError) {
        guard let parent = Self.parent else {
            throw KeychainError(
                .unsupported,
                "There is no private folder in memory: neither XDG_RUNTIME_DIR nor /dev/shm is a tmpfs in which nobody "
                    + "else may rename. A value is not written to a disk. Use: keychainctl get and keychainctl set")
        }
        var template = Array("\(parent)/keychainctl-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw KeychainError(
                .unavailable, "Could not make a folder in '\(parent)': \(String(cString: strerror(errno))).")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func write(_ bytes: Data, to name: String) throws(KeychainError) {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure(errno) }
        defer { close(descriptor) }
        let code = bytes.withUnsafeBytes { Output.writeAll($0, to: descriptor) }
        guard code == 0 else { throw Self.failure(code) }
    }

    private static func failure(_ code: Int32) -> KeychainError {
        KeychainError(.inputOutput, "Could not write the file to edit: \(String(cString: strerror(code))).")
    }

    // MARK: - Removal

    /// Overwrites and removes everything in the folder, also what the other program has made.
    func remove() { Self.remove(path, depth: 0) }

    private static func remove(_ path: String, depth: Int) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR, depth < 64 else {
            // One with another name is also a file elsewhere.
            if status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 { wipe(path, count: Int(status.st_size)) }
            unlink(path)
            return
        }
        for name in names(path) { remove("\(path)/\(name)", depth: depth + 1) }
        rmdir(path)
    }

    private static func names(_ path: String) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: path) } catch { return [] }
    }

    /// The pages of a file in memory are overwritten in place.
    private static func wipe(_ path: String, count: Int) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let zeros = [UInt8](repeating: 0, count: min(count, 1 << 16))
        var rest = count
        while rest > 0 {
            let part = min(rest, zeros.count)
            guard
                zeros.withUnsafeBytes({ Output.writeAll(UnsafeRawBufferPointer(rebasing: $0[..<part]), to: descriptor) }
                ) == 0
            else { return }
            rest -= part
        }
    }
}
