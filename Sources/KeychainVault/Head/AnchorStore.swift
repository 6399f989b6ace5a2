// SPDX-License-Identifier: Apache-2.0
// Where anchors are kept: in a file of the user's state folder, and in the kernel until the machine is shut down.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// The anchors of one vault. No function here fails: a vault also works without anchors.
final class AnchorStore: Sendable {
    let place: Anchor.Place
    private let folder: String
    /// Whether a record is wanted in a state folder that lies in the vault's folder. It would be put back together with the vault.
    private let isRefused: Bool
    private let (isFileKept, isKernelKept): (Bool, Bool)
    private let file = Guarded<AnchorFile?>(nil)
    private let keyring = Guarded(Keyring())

    /// The session's state of the kernel keyring.
    private struct Keyring {
        /// The key of the record, which may be gone.
        var key: KernelKeyring.Key?
        /// Whether the kernel refused once, because the user's quota is exhausted or a sandbox forbids it. The session
        /// then does not use it.
        var refuses = false
    }

    init(_ location: VaultLocation, _ settings: VaultSettings, vaultID: UUID) {
        place = Anchor.Place(location, vaultID: vaultID)
        folder = location.stateFolder
        isRefused = settings.keeps(.file) && location.hasStateFolderInside
        (isFileKept, isKernelKept) = (settings.keeps(.file) && !isRefused, settings.keeps(.kernel))
    }

    /// Call it before the transaction begins with which the records are compared: another process may write in the
    /// meantime.
    func read() -> SeenAnchors {
        var records: [Data] = []
        if isFileKept, let bytes = AnchorFile.read(path) { records.append(bytes) }
        if isKernelKept, let bytes = readKeyring() { records.append(bytes) }
        return SeenAnchors(place: place, records: records)
    }

    /// Call it under the writer lock after a commit, so that records never become older.
    ///
    /// - Parameter record: Computed only if a record is kept.
    func write(_ record: @autoclosure () -> [UInt8]) {
        guard isFileKept || isKernelKept else { return }
        let record = record()
        if isFileKept { writeFile(record) }
        if isKernelKept { writeKeyring(record) }
    }

    /// Whether the newest record is of this state or a later one, so that an older state would be noticed.
    ///
    /// - Parameter seen: The records that were read before the state.
    func cover(_ head: Head?, _ seen: SeenAnchors, _ keys: HeadKeys) -> Bool {
        guard let head else { return false }
        // A writer updates its record shortly after its commit.
        for attempt in 0..<5 {
            let records = attempt == 0 ? seen : read()
            if let mark = records.newest(keys), head.mark == mark || head.isOlder(than: mark) { return true }
            if attempt > 0 { usleep(1000) }
        }
        return false
    }

    /// Why no record can be written to the file; `nil` if the settings do not use the file, or it can be written.
    var writeFailure: KeychainError? {
        if isRefused { return insideFailure }
        guard isFileKept else { return nil }
        do throws(KeychainError) {
            let isThere = try FileSafety.checkFolder(folder, mayBeRead: true)
            guard isThere, try FileSafety.checkFile(path, mayBeRead: true) != nil, !FileSafety.allows(W_OK, path) else {
                return nil
            }
            return SystemFailure.failure("write", path)
        } catch {
            return error
        }
    }

    private var insideFailure: KeychainError {
        KeychainError(
            .unsafeLocation,
            "The state folder '\(folder)' lies inside the vault folder, so an older copy of the vault would bring its record along. "
                + "None is kept there. Move the state folder out of it, for example with XDG_STATE_HOME.")
    }

    // MARK: - The file

    private var path: String { folder + "/" + place.name }

    private func writeFile(_ record: [UInt8]) {
        file.withLock { file in
            if file.map({ !$0.isLinked }) ?? true { file = AnchorFile(path, in: folder) }
            if file?.write(record) == false { file = nil }
        }
    }

    // MARK: - The kernel

    private var description: String { "swift-keychain:seen:" + place.name }

    /// For a vault that is deleted.
    func removeKey() {
        do { if let key = try KernelKeyring.find(description) { try KernelKeyring.remove(key) } } catch { return }
    }

    private func readKeyring() -> Data? {
        do {
            guard let key = try KernelKeyring.find(description) else { return nil }
            keyring.withLock { $0.key = key }
            return try KernelKeyring.read(key)?.withUnsafeBytes { Data($0) }
        } catch {
            return nil
        }
    }

    /// Updates the known key, if it still exists. Finding it by name, and creating a new one, costs several times as
    /// much.
    private func writeKeyring(_ record: [UInt8]) {
        func update(_ key: KernelKeyring.Key?) -> Bool {
            key.map { key in record.withUnsafeBytes { KernelKeyring.update(key, with: $0) } } ?? false
        }
        keyring.withLock { keyring in
            guard !keyring.refuses, !update(keyring.key) else { return }
            do {
                // Another process may have made a new key. One in its place would be new to that process in turn.
                keyring.key = try KernelKeyring.find(description)
                if update(keyring.key) { return }
                let secret = record.withUnsafeBytes { SecretBytes(copying: $0) }
                keyring.key = try KernelKeyring.store(secret, as: description, timeout: nil)
            } catch {
                keyring.refuses = true
            }
        }
    }
}

/// The file of an anchor, open for writing. It is written in place with one call and never synchronised: a crash can
/// only leave an older anchor, which is harmless.
private final class AnchorFile: Sendable {
    private let descriptor: Int32

    /// - Returns: `nil` if the file cannot be used.
    init?(_ path: String, in folder: String) {
        do throws(KeychainError) {
            // A record is authenticated, and holds nothing that is secret: opened to readers, it is as good.
            try PrivateFile.createFolder(folder, mayBeRead: true)
            try PrivateFile.createEmpty(path, mayBeRead: true)
        } catch {
            return nil
        }
        descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Whether it is still the file at its path, according to its link count.
    var isLinked: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 1
    }

    func write(_ record: [UInt8]) -> Bool {
        record.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == record.count
    }

    static func read(_ path: String) -> Data? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = Data(count: Anchor.length)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return count == bytes.count ? bytes : nil
    }
}
