// SPDX-License-Identifier: Apache-2.0
// An open vault: its connections and keys, for as long as the files under it are the same.

import Foundation
import GRDB
import KeychainCrypto
import KeychainEngine
import Synchronization

/// What an open vault needs: one connection for reading, one for writing once something is written, and the keys.
final class Session: Sendable {
    let location: VaultLocation
    let keybag: Keybag
    let sealer: RowSealer
    /// Whether one of the two stored keybags is damaged or behind; the next write mends it.
    let needsKeybagRepair: Bool
    /// The first of the two keybags as it was read.
    let storedKeybag: Data?
    /// Whether the vault could be read but not written when it was opened.
    var isReadOnly: Bool { readOnlyState != nil }
    private let readOnlyState: ReadOnlyState?
    let reader: DatabaseQueue
    private let writer = Mutex<DatabaseQueue?>(nil)
    private let identity: FileIdentity
    private let process = getpid()
    private let lastLook = Mutex(ContinuousClock.now)

    /// Opens an existing vault.
    init(_ location: VaultLocation, identity: FileIdentity) throws(KeychainFailure) {
        self.location = location
        self.identity = identity
        readOnlyState = ReadOnlyState(location)
        reader = try Self.openReader(location, isReadOnly: readOnlyState != nil)
        let copies = try DatabaseFailure.translating(location.databaseFile) { [reader] in
            try reader.read { db in
                try VaultSchema.check(db, path: location.databaseFile)
                return try KeybagTable(db).copies()
            }
        }
        try location.checkSeparation()
        guard let deviceKey = try DeviceKey.load(location.deviceKeyFile) else { throw Self.missingKey(location) }
        let opened = try Self.open(copies, deviceKey, location)
        keybag = opened.keybag
        sealer = RowSealer(opened.keys)
        storedKeybag = copies.first ?? nil
        needsKeybagRepair = copies.contains { $0 != opened.keybag.bytes }
    }

    /// `false` in the child of a fork, which has copies of connections that are its parent's.
    var isOfThisProcess: Bool { process == getpid() }

    /// Whether this session still stands for the files at its location: they may have been replaced or removed, and after
    /// a fork the child must not use the parent's connections.
    ///
    /// - Parameter age: How old the last look at the files may be. A look costs as much as a tenth of a read.
    func isCurrent(age: Duration) -> Bool {
        guard isOfThisProcess else { return false }
        // SQLite does not notice changes under such a connection, so we do, each time.
        if let readOnlyState { return readOnlyState == ReadOnlyState(location) }
        let now = ContinuousClock.now
        return lastLook.withLock { lastLook in
            if now - lastLook < age { return true }
            guard identity == FileIdentity(location.databaseFile) else { return false }
            lastLook = now
            return true
        }
    }

    /// The connection for writing.
    func writingConnection() throws(KeychainFailure) -> DatabaseQueue {
        try writer.withLock { (writer) throws(KeychainFailure) in
            if let writer { return writer }
            // A vault that was restored without its lock file has lost the marker.
            if try !VaultMarker.isPresent(location) { try VaultMarker.write(location) }
            let opened = try Connection.openForWriting(location.databaseFile)
            writer = opened
            return opened
        }
    }

    /// After an error of the medium nothing that the connection remembers can be relied on.
    func dropWritingConnection() {
        writer.withLock { $0 = nil }
    }

    /// Ends both connections. The last connection to a vault moves the log into the database and removes it.
    func close() throws(KeychainFailure) {
        try DatabaseFailure.translating(location.databaseFile) {
            try reader.close()
            try writer.withLock { writer in
                try writer?.close()
                writer = nil
            }
        }
    }

    // MARK: - Opening

    private static func openReader(
        _ location: VaultLocation, isReadOnly: Bool
    ) throws(KeychainFailure) -> DatabaseQueue {
        guard isReadOnly else { return try Connection.openForReading(location.databaseFile) }
        let companions = VaultLocation.companionNames.map { location.folder + "/" + $0 }
        // With an empty log the file alone is the whole truth; others may change it, which `isCurrent` notices.
        if (try FileSafety.checkFile(companions[0])?.st_size ?? 0) == 0 {
            return try Connection.openImmutable(location.databaseFile)
        }
        guard try FileSafety.checkFile(companions[1]) != nil else {
            throw KeychainFailure(
                .unavailable,
                "The last changes of '\(location.folder)' are still in its log, which cannot be read on a "
                    + "medium that cannot be written. Copy the folder to a writable place and name that (KEYCHAIN_VAULT)."
            )
        }
        return try Connection.openForReading(location.databaseFile)
    }

    private static func open(
        _ copies: [Data?], _ deviceKey: DeviceKey, _ location: VaultLocation
    ) throws(KeychainFailure) -> (keybag: Keybag, keys: ClassKeys) {
        let protectors = [DeviceKeyProtector(deviceKey: deviceKey)]
        var best: (keybag: Keybag, keys: ClassKeys)?
        var failure = KeychainFailure(.corrupt, "Both copies of the keybag are damaged.")
        for bytes in copies {
            do throws(KeychainFailure) {
                let keybag = try decode(bytes)
                let keys = try keybag.open(protectors, deviceKey: deviceKey)
                if best.map({ $0.keybag.sequence < keybag.sequence }) ?? true { best = (keybag, keys) }
            } catch {
                // That no key fits says more than that a copy is damaged.
                if failure.reason == .corrupt { failure = error }
            }
        }
        if let best { return best }
        throw explain(failure, location)
    }

    private static func decode(_ bytes: Data?) throws(KeychainFailure) -> Keybag {
        if let bytes, Keybag.isOfNewerFormat(bytes) {
            throw KeychainFailure(.newerFormat, "The keybag was written by a newer version of swift-keychain.")
        }
        do throws(MalformedBytes) {
            guard let bytes else { throw MalformedBytes() }
            return try Keybag(bytes: bytes)
        } catch {
            throw KeychainFailure(.corrupt, "A copy of the keybag is damaged.")
        }
    }

    private static func explain(_ failure: KeychainFailure, _ location: VaultLocation) -> KeychainFailure {
        if failure.reason == .authenticationFailed {
            return KeychainFailure(
                .authenticationFailed,
                "The device key '\(location.deviceKeyFile)' is not the one that the vault "
                    + "'\(location.folder)' was made with. Put the right one back (KEYCHAIN_DEVICE_KEY).")
        }
        return KeychainFailure(
            failure.reason, "'\(location.databaseFile)': \(failure.message) Both copies failed; restore a backup.")
    }

    private static func missingKey(_ location: VaultLocation) -> KeychainFailure {
        KeychainFailure(
            .unavailable,
            "The device key '\(location.deviceKeyFile)' is missing, so the vault '\(location.folder)' "
                + "cannot be opened. No new key was made: it would not fit. Restore it, or name it (KEYCHAIN_DEVICE_KEY)."
        )
    }
}

/// Which file a path leads to.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// `nil` if nothing is there.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// What a vault that cannot be written looks like from outside. Others may still write it: on a medium that is read-only
/// for us alone, or once it is writable again.
struct ReadOnlyState: Equatable, Sendable {
    private let database: FileState?
    private let log: FileState?

    /// `nil` if the vault can be written.
    init?(_ location: VaultLocation) {
        guard access(location.databaseFile, W_OK) != 0 || access(location.folder, W_OK) != 0 else { return nil }
        database = FileState(location.databaseFile)
        log = FileState(location.folder + "/" + VaultLocation.companionNames[0])
    }

    private struct FileState: Equatable, Sendable {
        let identity: FileIdentity
        let size: Int64
        let changes: [Int]

        init?(_ path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            identity = FileIdentity(status)
            size = Int64(status.st_size)
            changes = [
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ]
        }
    }
}
