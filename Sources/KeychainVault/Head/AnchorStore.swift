// SPDX-License-Identifier: Apache-2.0
// Where anchors are kept: in a file of the user's state folder, and in the kernel until the machine goes down.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory
import Synchronization

/// The anchors of one vault. Nothing here fails: a machine that keeps no anchor still has a vault.
final class AnchorStore: Sendable {
    let place: Anchor.Place
    private let folder: String
    private let kinds: Set<VaultSettings.AnchorKind>
    private let file = Mutex<AnchorFile?>(nil)
    private let keyringRefuses = Mutex(false)

    init(_ location: VaultLocation, _ settings: VaultSettings, vaultID: UUID) {
        place = Anchor.Place(location, vaultID: vaultID)
        folder = location.stateFolder
        // A record in the vault's folder would be put back together with the vault.
        let isInside = (location.stateFolder + "/").utf8.starts(with: (location.folder + "/").utf8)
        kinds = isInside ? settings.anchors.subtracting([.file]) : settings.anchors
    }

    /// To be called before the transaction begins that what is found is compared with: another process may go on meanwhile.
    func read() -> SeenAnchors {
        var records: [Data] = []
        if kinds.contains(.file), let bytes = AnchorFile.read(path) { records.append(bytes) }
        if kinds.contains(.kernel), let bytes = readKeyring() { records.append(bytes) }
        return SeenAnchors(place: place, records: records)
    }

    /// To be called under the writer lock after a commit, so that records only ever become newer.
    func write(_ record: Data) {
        if kinds.contains(.file) { writeFile(record) }
        if kinds.contains(.kernel) { writeKeyring(record) }
    }

    /// Whether the newest record is of this state or a later one: then an older one is noticed.
    ///
    /// - Parameter seen: What was read before the state was.
    func cover(_ head: Head?, _ seen: SeenAnchors, _ keys: HeadKeys) -> Bool {
        guard let head else { return false }
        // A writer remembers what it did a moment after it is done.
        for attempt in 0..<5 {
            let records = attempt == 0 ? seen : read()
            if let mark = records.newest(keys), head.mark == mark || head.isOlder(than: mark) { return true }
            if attempt > 0 { usleep(1000) }
        }
        return false
    }

    // MARK: - The file

    private var path: String { folder + "/" + place.name }

    private func writeFile(_ record: Data) {
        file.withLock { file in
            if file.map({ !$0.isLinked }) ?? true { file = AnchorFile(path, in: folder) }
            if file?.write(record) == false { file = nil }
        }
    }

    // MARK: - The kernel

    private var description: String { "swift-keychain:seen:" + place.name }

    private func readKeyring() -> Data? {
        do {
            guard let key = try KernelKeyring.find(description) else { return nil }
            return try KernelKeyring.read(key)?.withUnsafeBytes { Data($0) }
        } catch {
            return nil
        }
    }

    /// Where the kernel refuses once, because the user's share is used up or a sandbox forbids it, the session does without.
    private func writeKeyring(_ record: Data) {
        guard !keyringRefuses.withLock({ $0 }) else { return }
        do {
            let secret = record.withUnsafeBytes { SecretBytes(copying: $0) }
            _ = try KernelKeyring.store(secret, as: description, timeout: nil)
        } catch {
            keyringRefuses.withLock { $0 = true }
        }
    }
}

/// The file of an anchor, open for writing. It is written in place with one call and never synchronised: what a crash takes
/// back is an older anchor, which is harmless.
private final class AnchorFile: Sendable {
    private let descriptor: Int32

    /// - Returns: `nil` if there can be no such file.
    init?(_ path: String, in folder: String) {
        do throws(KeychainError) {
            try PrivateFile.createFolder(folder)
            try PrivateFile.createEmpty(path)
        } catch {
            return nil
        }
        descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Whether it is still the file at its path, as far as its number of names tells.
    var isLinked: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 1
    }

    func write(_ record: Data) -> Bool {
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
