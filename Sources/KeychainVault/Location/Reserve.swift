// SPDX-License-Identifier: Apache-2.0
// Disk space reserved for operations that must work on a full disk.

import Foundation
import KeychainEngine

/// A file of allocated, unused blocks. On a full disk, deletions and changes of the keybag release it, under the writer
/// lock, and use its space for the WAL and its index; a save never does. Writes that find it missing create it again,
/// as large as the disk allows.
struct Reserve {
    /// The index of the WAL takes 32 KiB, the removal of an item with a value of 64 KiB about 130 KiB, a change of a
    /// keybag with eight protectors about 80 KiB.
    static let size = 1 << 20
    private static let smallest = 1 << 16
    /// What a removal does not get while a reader keeps the WAL from being moved into the database: the space to move it later. The
    /// database file may lack 128 KiB (``Connection/reserveLength()``), and the WAL its index.
    static let kept = (2 * 128) << 10
    /// What any removal takes, and what is kept.
    private static let smallRemoval = 160 << 10 + kept
    /// A row of 1 GiB, more than there can be. A file that is larger is not the vault's: its blocks could fill the disk.
    private static let largest = size(forRowOf: 1 << 30)
    private let path: String
    private let folder: String
    /// Its size when this value freed it.
    private var freed: Int?

    init(_ location: VaultLocation) { self.init(folder: location.folder) }

    private init(folder: String) {
        self.folder = folder
        path = folder + "/" + VaultLocation.reserveName
    }

    /// Whether it freed less than it should have had. Then only the largest row tells how large it should be.
    var hasFreedPart: Bool { freed.map { !Self.isComplete($0) } ?? false }

    /// Frees the space for a removal. Some is kept, unless SQLite has to make a file and there may be no more files.
    ///
    /// - Returns: `false` if there was none.
    mutating func giveUp() -> Bool {
        if isFileMissing, refusesFiles { return giveUpAll() }
        guard let size, size > Self.kept, truncate(path, off_t(Self.kept)) == 0 else { return false }
        noteFreed(size)
        return true
    }

    /// Frees what is kept too. Only for moving the WAL, or when it was moved.
    @discardableResult
    mutating func giveUpAll() -> Bool {
        guard let size, unlink(path) == 0 else { return false }
        noteFreed(size)
        return true
    }

    private mutating func noteFreed(_ size: Int) { freed = max(min(size, Self.largest), freed ?? 0) }

    /// Whether SQLite has to make the WAL or its index.
    private var isFileMissing: Bool {
        !VaultLocation.companionNames.allSatisfy { FileSafety.allows(F_OK, folder + "/" + $0) }
    }

    /// Makes again what ``giveUp()`` keeps.
    func keep() {
        let present = size ?? 0
        if present < Self.kept { grow(from: present, to: Self.kept) }
    }

    /// The size with which a row of so many bytes can be removed: its pages are overwritten in the WAL.
    static func size(forRowOf bytes: Int) -> Int {
        let exact = bytes + bytes / 32 + smallRemoval
        return max(size, (exact + smallest - 1) / smallest * smallest)
    }

    /// Whether it is larger than all vaults need.
    var isEnlarged: Bool { (size ?? 0) > Self.size }

    /// Enlarges the file for a row of so many bytes, in the transaction that stores it. Otherwise the row could not be removed once the
    /// disk is full.
    ///
    /// Until ``confirm()`` it has one byte more: a writer that is killed before its commit leaves a size that the next one corrects.
    /// Where there can be no such file, as under a limit of the size of files, the value is stored without.
    ///
    /// - Returns: The former size if it was enlarged.
    /// - Throws: `diskFull`; then it has its former size.
    func cover(rowOf bytes: Int) throws(KeychainError) -> Int? {
        let (wanted, former) = (Self.size(forRowOf: bytes), size ?? 0)
        guard wanted > former, let descriptor = opened() else { return nil }
        defer { close(descriptor) }
        let code = Self.allocate(wanted + 1, descriptor)
        if code == 0 { return former }
        shrink(to: former)
        guard Self.isFull(code) else { return nil }
        throw KeychainError(
            .diskFull,
            "The disk of '\(folder)' has no space left for a value of this size and for removing it later; nothing was changed. Free "
                + "some and try again.")
    }

    /// Call it after the commit.
    func confirm() {
        if let size, size > Self.size { shrink(to: size / Self.smallest * Self.smallest) }
    }

    /// Undoes ``cover(rowOf:)``.
    func shrink(to former: Int) {
        if former == 0 { unlink(path) } else { truncate(path, off_t(former)) }
    }

    /// Creates the file, completes it as far as there is space, or frees what is no longer needed. The vault also works without it.
    ///
    /// - Parameters:
    ///   - fillsHoles: Whether a file with fewer blocks than its size needs is allocated again.
    ///   - removed: The bytes of the largest row that was removed.
    ///   - largest: Finds the bytes of the largest row; `nil` if they are unknown, so that nothing is given back. It is called only if they
    ///     decide.
    func restore(removed: Int = 0, fillsHoles: Bool = false, largest: () -> Int? = { 0 }) {
        if let size, size > Self.largest { unlink(path) }
        if fillsHoles, hasHoles { fill() }
        let present = size ?? 0
        if Self.isComplete(present), present == Self.size || Self.size(forRowOf: removed) < present { return }
        let most = largestShare(present)
        if most <= present { return }
        let wanted = wantedSize(present, removed, largest)
        guard wanted >= present else { return shrink(to: wanted) }
        if wanted > present { grow(from: present, to: min(wanted, most)) }
    }

    /// The size that it may grow to. Where there is less space than three times ``size``, that is a third of it, so that values can be
    /// stored there too. What was freed for a removal is made again in any case.
    private func largestShare(_ present: Int) -> Int {
        let room = space + present
        guard present < Self.size, room < 3 * Self.size else { return .max }
        let regained = ((freed ?? 0) + Self.smallest - 1) / Self.smallest * Self.smallest
        return max(room / 3 / Self.smallest * Self.smallest, regained)
    }

    /// As far as there is space.
    private func grow(from present: Int, to wanted: Int) {
        guard let descriptor = opened() else { return }
        defer { close(descriptor) }
        if Self.allocate(wanted, descriptor) != 0 { allocatePart(of: wanted, descriptor, present) }
        if size == 0 { unlink(path) }
    }

    /// Gives a sparse file its blocks. If there is no space for all of them, it is treated as missing.
    private func fill() {
        guard let size, let descriptor = opened() else { return }
        defer { close(descriptor) }
        if Self.isFull(Self.allocate(size, descriptor)) { ftruncate(descriptor, 0) }
    }

    /// As large as there is space for. A size that is no multiple of 64 KiB tells the next writes to look at it again.
    private func allocatePart(of wanted: Int, _ descriptor: Int32, _ present: Int) {
        ftruncate(descriptor, off_t(present))
        var part = min(wanted, present + space) / Self.smallest * Self.smallest
        while part > present, Self.allocate(part, descriptor) != 0 { part -= max(Self.smallest, part / 16) }
        ftruncate(descriptor, off_t(max(present, part - 1)))
    }

    private static func isComplete(_ size: Int) -> Bool { size >= Self.size && size.isMultiple(of: smallest) }

    private var space: Int { DiskSpace.free(at: folder) ?? 0 }

    /// Finding the largest row takes long in a large vault, so it is not done while there is no space anyway.
    private func wantedSize(_ present: Int, _ removed: Int, _ largest: () -> Int?) -> Int {
        if let freed, Self.isComplete(freed), Self.size(forRowOf: removed) < freed { return freed }
        if removed > 0 || space > Self.smallest, let largest = largest() { return Self.size(forRowOf: largest) }
        return max(Self.size, freed ?? present)
    }

    private func opened() -> Int32? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        // A strict umask would leave a file that its owner cannot open.
        fchmod(descriptor, 0o600)
        return descriptor
    }

    private static func allocate(_ bytes: Int, _ descriptor: Int32) -> Int32 {
        if let limit = DiskSpace.limitOfFiles, bytes > limit { return EFBIG }
        while true {
            let code = posix_fallocate(descriptor, 0, off_t(bytes))
            if code != EINTR { return code }
        }
    }

    /// Whether an operation failed because of missing space. If not even an empty file can be created, SQLite only
    /// reports that it could not open one.
    func isWanted(after error: KeychainError) -> Bool {
        error.reason == .diskFull || error.reason == .unavailable && (refusesFiles || isDiskFull)
    }

    /// The failure of an operation. SQLite reports an exhausted quota as a failing medium.
    func named(_ error: KeychainError) -> KeychainError {
        guard error.reason == .inputOutput, refusesBytes else { return error }
        return KeychainError(
            .diskFull,
            "No space is left for you on the disk of '\(folder)'; nothing was changed. Free some and try again.")
    }

    /// Whether there is no space for one more file in a folder, not even for an empty one.
    static func refusesFiles(in folder: String) -> Bool { Reserve(folder: folder).refusesFiles }

    private var refusesFiles: Bool { Self.isFull(probe { _ in 0 }) }

    private var refusesBytes: Bool {
        let page = [UInt8](repeating: 0, count: 4096)
        return Self.isFull(probe { pwrite($0, page, page.count, 0) == page.count ? 0 : errno })
    }

    private static func isFull(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }

    /// Tries `use` on a file without a name: a quota may be exhausted while others have space. Not every file system
    /// supports such a file.
    private func probe(_ use: (Int32) -> Int32) -> Int32 {
        #if os(Linux)
            // O_TMPFILE, which Swift does not import.
            let unnamed = 0o20000000 | O_DIRECTORY
            let descriptor = open(folder, unnamed | O_RDWR | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return errno }
            defer { close(descriptor) }
            return use(descriptor)
        #else
            return 0
        #endif
    }

    private var isDiskFull: Bool {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return false }
        return status.f_bavail == 0 || status.f_files > 0 && status.f_favail == 0
    }

    /// Whether it is sparse, as in a copy by `cp --sparse=always`. File systems that compress, or count blocks late, may say so
    /// of any file.
    private var hasHoles: Bool {
        guard let status else { return false }
        return Int(status.st_blocks) * 512 < Int(status.st_size)
    }

    private var size: Int? { status.map { Int($0.st_size) } }

    /// `nil` if there is none, or something else is at its path.
    private var status: stat? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status
    }
}
