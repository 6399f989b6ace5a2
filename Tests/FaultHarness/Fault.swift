// SPDX-License-Identifier: Apache-2.0
// The faults, and the calls that each can hit.

import FaultShim
import Foundation

/// One thing that goes wrong at one call.
struct Fault: Sendable {
    /// What the vault has to be afterwards.
    enum Expectation: Sendable {
        /// All that was acknowledged, at most one step more.
        case whole
        /// The same, and the operation ends as if nothing had been.
        case unharmed
        /// Some state on the way.
        case anyState
        /// What is shown is true, though not all is there: the file with the last changes was taken away.
        case noLies
        /// Whatever is there opens or says why not; what was taken away, put back, is whole.
        case noHarm
    }

    let name: String
    /// Faults of one group share a column of the table.
    let group: String
    var kinds: UInt32 = Fault.changing
    /// Only every so many of these calls are hit also in a full run.
    var every = 1
    let action: Int32
    var error: Int32 = 0
    var isSticky = false
    var clockJump: Int64 = 0
    var change: FileChange?
    var expectation = Expectation.whole
    /// What has to be readable while the fault lasts.
    var leavesReadable = false

    var isStop: Bool { action == FAULT_STOP.signed }

    /// The situation in which the vault is checked afterwards, if no other process has written.
    var situation: Situation {
        switch expectation {
        case .whole, .unharmed: .alone
        case .anyState, .noHarm: .changed
        case .noLies: .maimed
        }
    }

    func concerns(_ operation: Operation) -> Bool { change?.concerns(operation) ?? true }

    static let changing = [
        FAULT_CREATE, FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE, FAULT_RENAME, FAULT_UNLINK, FAULT_MKDIR, FAULT_LOCK,
        FAULT_MODE,
    ].mask
    static let failing = changing & ~FAULT_LOCK.unsigned
    private static let opening = [FAULT_OPEN, FAULT_CREATE].mask
    static let growing = [
        FAULT_CREATE, FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE, FAULT_RENAME, FAULT_MKDIR,
    ].mask

    static let all: [Fault] =
        [
            Fault(name: "kill", group: "kill -9", action: FAULT_KILL.signed),
            Fault(
                name: "ENOSPC", group: "full disk", kinds: growing, every: 3, action: FAULT_FAIL.signed, error: ENOSPC),
            Fault(
                name: "ENOSPC-on", group: "full disk", kinds: growing, every: 2, action: FAULT_FAIL.signed,
                error: ENOSPC, isSticky: true, leavesReadable: true),
            Fault(
                name: "EDQUOT-on", group: "full disk", kinds: growing, every: 5, action: FAULT_FAIL.signed,
                error: EDQUOT, isSticky: true, leavesReadable: true),
            Fault(
                name: "EIO", group: "failing medium", kinds: failing | opening, every: 3, action: FAULT_FAIL.signed,
                error: EIO),
            Fault(
                name: "EIO-on", group: "failing medium", kinds: growing, every: 3, action: FAULT_FAIL.signed,
                error: EIO, isSticky: true),
            Fault(
                name: "EIO-reading", group: "failing medium", kinds: FAULT_READ.unsigned, every: 3,
                action: FAULT_FAIL.signed, error: EIO),
            Fault(name: "EMFILE", group: "no descriptor", kinds: opening, action: FAULT_FAIL.signed, error: EMFILE),
            Fault(
                name: "EMFILE-on", group: "no descriptor", kinds: opening, every: 2, action: FAULT_FAIL.signed,
                error: EMFILE, isSticky: true),
            Fault(
                name: "EINTR", group: "interrupted",
                kinds: opening | [FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE, FAULT_LOCK, FAULT_READ].mask, every: 3,
                action: FAULT_FAIL.signed, error: EINTR),
            Fault(
                name: "short", group: "short write", kinds: FAULT_WRITE.unsigned, every: 2, action: FAULT_SHORT.signed),
            Fault(
                name: "stop", group: "stopped beside a writer", kinds: changing | opening, every: 2,
                action: FAULT_STOP.signed, expectation: .unharmed),
            Fault(
                name: "stop-at-range", group: "stopped beside a writer", kinds: FAULT_RANGE.unsigned, every: 5,
                action: FAULT_STOP.signed, expectation: .unharmed),
            Fault(
                name: "stop-at-read", group: "stopped beside a writer", kinds: FAULT_READ.unsigned, every: 3,
                action: FAULT_STOP.signed, expectation: .unharmed),
            Fault(
                name: "clock-forward", group: "clock jumps", every: 6, action: FAULT_CLOCK.signed,
                clockJump: 400_000_000, expectation: .unharmed),
            Fault(
                name: "clock-back", group: "clock jumps", every: 6, action: FAULT_CLOCK.signed,
                clockJump: -1_600_000_000, expectation: .unharmed),
        ] + FileChange.allCases.map(\.fault)
}

/// What another program does to the vault's files.
enum FileChange: String, CaseIterable, Sendable {
    case lockRemoved, lockReplaced, walRemoved, shmRemoved, databaseRemoved, databaseReplaced, deviceKeyRemoved
    case deviceKeyReplaced, folderMoved, anchorsRemoved, anchorsReplaced, backupRemoved, backupReplaced

    fileprivate var fault: Fault {
        Fault(
            name: rawValue, group: rawValue, every: 5, action: FAULT_CALL.signed, change: self, expectation: expectation
        )
    }

    private var expectation: Fault.Expectation {
        switch self {
        case .lockRemoved, .lockReplaced, .shmRemoved: .whole
        case .walRemoved: .noLies
        case .anchorsRemoved, .anchorsReplaced: .unharmed
        case .databaseRemoved, .databaseReplaced, .deviceKeyRemoved, .deviceKeyReplaced, .folderMoved, .backupRemoved,
            .backupReplaced:
            .noHarm
        }
    }

    /// Most operations know of no backup.
    fileprivate func concerns(_ operation: Operation) -> Bool {
        switch self {
        case .backupRemoved, .backupReplaced: operation.states.contains { $0.backup != nil }
        default: true
        }
    }

    func path(in place: Place) -> String {
        switch self {
        case .lockRemoved, .lockReplaced: place.folder + "/vault.lock"
        case .walRemoved: place.folder + "/vault.db-wal"
        case .shmRemoved: place.folder + "/vault.db-shm"
        case .databaseRemoved, .databaseReplaced: place.folder + "/vault.db"
        case .deviceKeyRemoved, .deviceKeyReplaced: place.deviceKeyFile
        case .folderMoved: place.folder
        case .anchorsRemoved, .anchorsReplaced: place.anchorFolder
        case .backupRemoved, .backupReplaced: place.backupFile
        }
    }

    private var replacement: Data? {
        switch self {
        case .lockReplaced: Data()
        case .databaseReplaced, .deviceKeyReplaced, .anchorsReplaced, .backupReplaced: Data(repeating: 0x55, count: 64)
        default: nil
        }
    }

    /// What was there goes aside, to be put back by ``undo(in:)``.
    func make(in place: Place) {
        let path = path(in: place)
        guard rename(path, aside(place)) == 0, let replacement else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { return }
        _ = replacement.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }

    /// Puts back what cannot be made again; what was made in its place goes.
    func undo(in place: Place) {
        guard expectation == .noHarm, access(aside(place), F_OK) == 0 else { return }
        let path = path(in: place)
        if isDatabase, hasOther(at: path) {
            // A database that was made meanwhile takes its WAL along, which SQLite would apply to this one.
            for suffix in ["-wal", "-shm"] { _ = rename(path + suffix, aside(place) + "-made-meanwhile" + suffix) }
        }
        _ = rename(path, aside(place) + "-made-meanwhile")
        _ = rename(aside(place), path)
        // SQLite takes the mode of its files from the database. Where there was none, they are open to others, which the
        // vault refuses with this remedy.
        for name in ["vault.db-wal", "vault.db-shm"] { _ = chmod(place.folder + "/" + name, 0o600) }
    }

    private func aside(_ place: Place) -> String { place.root + "/aside" }

    private var isDatabase: Bool { [.databaseRemoved, .databaseReplaced].contains(self) }

    /// Whether something is there that is not what was put there.
    private func hasOther(at path: String) -> Bool {
        guard let bytes = FileManager.default.contents(atPath: path) else { return false }
        return bytes != replacement
    }
}

/// C enumerators, which have the type that their compiler chose.
extension BinaryInteger {
    var signed: Int32 { Int32(self) }
    var unsigned: UInt32 { UInt32(self) }
}

extension Sequence where Element: BinaryInteger {
    fileprivate var mask: UInt32 { reduce(0) { $0 | UInt32($1) } }
}
