// SPDX-License-Identifier: Apache-2.0
// What is in a vault's database, looked at without changing anything.

import Foundation
import GRDB
import KeychainCrypto
import KeychainEngine

/// One look into the database.
struct ContentExamination {
    let location: VaultLocation
    let settings: VaultSettings
    let deviceKey: DeviceKey?
    var findings: [Finding] = []
    /// `nil` if the database is read without the changes in its log.
    private var seen: SeenAnchors?
    private var anchors: AnchorStore?
    private var isWithoutLog = false

    /// Looks again if somebody was writing meanwhile: a file that is read without its log may then seem damaged.
    static func findings(
        _ location: VaultLocation, _ settings: VaultSettings, _ deviceKey: DeviceKey?
    ) -> [Finding] {
        var examination = ContentExamination(location: location, settings: settings, deviceKey: deviceKey)
        for _ in 1...3 {
            let before = FileMoment(location)
            examination.findings = []
            examination.isWithoutLog = false
            examination.run()
            if before == FileMoment(location) { break }
        }
        return examination.findings
    }

    private init(location: VaultLocation, settings: VaultSettings, deviceKey: DeviceKey?) {
        self.location = location
        self.settings = settings
        self.deviceKey = deviceKey
    }

    mutating func note(_ check: String, _ severity: Finding.Severity, _ message: String) {
        findings.append(Finding(check, severity, message))
    }

    private mutating func run() {
        do throws(KeychainError) {
            let reader = try open()
            try DatabaseFailure.translating(location.databaseFile) {
                // Before the look: what another process commits meanwhile must not make the vault seem old.
                anchors = try anchors(reader)
                seen = anchors?.read()
                try reader.read { db in try look(db) }
                try reader.close()
            }
        } catch {
            note("database", .problem, error.message)
        }
    }

    private func anchors(_ reader: DatabaseQueue) throws -> AnchorStore? {
        guard !isWithoutLog else { return nil }
        let vaultID = try reader.read { db in
            _ = try VaultSchema.check(db, path: location.databaseFile)
            return StoredKeybag.newest(try KeybagTable(db).copies())?.vaultID
        }
        return vaultID.map { AnchorStore(location, settings, vaultID: $0) }
    }

    // MARK: - Opening

    /// In ways that make no files: SQLite would make those by which readers and writers agree.
    private mutating func open() throws(KeychainError) -> DatabaseQueue {
        let companions = VaultLocation.companionNames.map { location.folder + "/" + $0 }
        let hasLog = (try FileSafety.checkFile(companions[0])?.st_size ?? 0) > 0
        guard hasLog else { return try Connection.openImmutable(location.databaseFile) }
        if access(companions[1], R_OK) == 0 {
            return try Connection.openForReading(location.databaseFile, settings.writerTimeout)
        }
        let isStuck = access(location.folder, W_OK) != 0
        isWithoutLog = true
        note(
            "log", isStuck ? .problem : .ok,
            "The last changes are in the log '\(companions[0])', without the index that goes with it. "
                + (isStuck
                    ? "On a medium that cannot be written the vault cannot be read: copy the folder to a writable place "
                        + "and name that (KEYCHAIN_VAULT)."
                    : "The next call makes a new one. What follows is the state before those changes."))
        return try Connection.openImmutable(location.databaseFile)
    }

    // MARK: - Looking

    private mutating func look(_ db: Database) throws {
        let version = try VaultSchema.check(db, path: location.databaseFile)
        note(
            "format", .ok,
            version < VaultSchema.version
                ? "Format \(version); the next write raises it to \(VaultSchema.version)."
                : "Format \(version), the newest.")
        try checkIntegrity(db)
        let copies = try KeybagTable(db).copies()
        guard let keybag = checkCopies(copies) else { return }
        checkSetUp(keybag)
        checkBinding(keybag)
        try checkRotation(keybag, ItemTable(db))
        try checkItems(copies, db)
    }

    private mutating func checkIntegrity(_ db: Database) throws {
        let told = try String.fetchAll(db, sql: "PRAGMA integrity_check(3)")
        guard told != ["ok"] else { return note("database", .ok, "The database is whole.") }
        note(
            "database", .problem,
            "'\(location.databaseFile)' is damaged; SQLite says: \(told.joined(separator: "; ")). "
                + KeychainError.restoreAdvice)
    }

    private mutating func checkCopies(_ copies: [Data?]) -> Keybag? {
        do throws(KeychainError) {
            let whole = try StoredKeybag.whole(copies, location)
            if let newest = whole.first, copies.contains(where: { $0 != newest.bytes }) {
                note(
                    "keybag", .warning,
                    "One of the two copies of the keybag is damaged or older; the next write mends it.")
            } else {
                note("keybag", .ok, "Both copies of the keybag are good.")
            }
            return whole.first
        } catch {
            note("keybag", .problem, error.message)
            return nil
        }
    }

    private mutating func checkItems(_ copies: [Data?], _ db: Database) throws {
        let table = ItemTable(db)
        let quarantined = try table.quarantineCount()
        if quarantined > 0 {
            note(
                "quarantine", .warning,
                (quarantined == 1 ? "1 item was" : "\(quarantined) items were")
                    + " set aside, bytes and all. See which, and why: keychainctl quarantine list")
        }
        let stored: StoredKeybag
        do throws(KeychainError) {
            stored = try StoredKeybag(copies, location, settings)
        } catch {
            return note("opening", .problem, error.message)
        }
        noteState(stored.keyState)
        let items = try ItemExamination(stored.keyState, table, .values)
        note(items)
        if let index = items.index { note(index) }
        try checkHead(stored.keyState, db)
    }

    private mutating func checkHead(_ keyState: KeyState, _ db: Database) throws {
        guard try keyState.hasIndex else {
            return note("head", .ok, "Whether the vault is as it was left can be told once it is unlocked.")
        }
        let keys = try keyState.sealer(.looking).keys.head
        let look = try HeadExamination(
            db, keys, authentic: keyState.authentic, anchor: seen?.newest(keys), .wholeVault)
        guard look.findings.isEmpty else {
            return note("head", .problem, KeychainError.rolledBack(look.findings, location).message)
        }
        note(
            "head", .ok,
            look.isOfFormerFormat
                ? "The vault has no head yet, which would tell whether rows are missing; the next write makes it."
                : "The vault is as it was left: no row is missing, and none was put back.")
        checkAnchor(look, keys)
    }

    private mutating func checkAnchor(_ look: HeadExamination, _ keys: HeadKeys) {
        guard look.head != nil, !FilesState.isReadOnly(location), let anchors, let seen else { return }
        guard !anchors.cover(look.head, seen, keys) else { return }
        note(
            "rollback", .warning,
            "This machine does not remember the vault as it is now, so an older one put back would not be noticed. The next write remembers "
                + "it, if '\(location.stateFolder)' or the kernel takes the record.")
    }

    private mutating func noteState(_ keyState: KeyState) {
        do throws(KeychainError) {
            if let kind = keyState.openedBy {
                note("opening", .ok, "The vault opens by itself, with the \(kind.name).")
            } else {
                let isOpen = try keyState.state == .unlocked
                if let path = keyState.wrongCredential {
                    note("credential", isOpen ? .warning : .problem, KeychainError.wrongCredential(path).message)
                }
                note(
                    "opening", .ok, isOpen ? "The vault is unlocked." : "The vault is locked. " + settings.unlockAdvice)
            }
        } catch {
            note("opening", .problem, error.message)
        }
    }

    private mutating func note(_ items: ItemExamination) {
        noteDamaged(items.damaged - items.damagedValues, "does not open and was", "do not open and were")
        noteDamaged(
            items.damagedValues, "opens but for its value, and was", "open but for their values, and were")
        let open = items.byClass.values.reduce(0, +)
        let others = [
            (items.locked, "locked and not looked at"), (items.ofAnotherDevice, "for another device alone"),
        ].filter { $0.0 > 0 }.map { " \($0.0) \($0.0 == 1 ? "is" : "are") \($0.1)." }
        note("items", .ok, (open == 1 ? "1 item opens." : "\(open) items open.") + others.joined())
    }

    private mutating func noteDamaged(_ count: Int, _ one: String, _ several: String) {
        guard count > 0 else { return }
        note(
            "items", .problem,
            (count == 1 ? "1 item \(one)" : "\(count) items \(several)") + " left alone. " + KeychainError.restoreAdvice
        )
    }

    private mutating func note(_ index: IndexExamination) {
        let faults = [
            (index.missing.count, "entries are missing, so searches miss items"),
            (index.foreign.count, "entries lead to nothing or to another item"),
            (index.misfiled.count, "items are filed under another key than their own"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        guard !faults.isEmpty else {
            return note(
                "index", .ok,
                index.closedCount == 0 ? "Every entry fits." : "Every entry fits, as far as items open.")
        }
        note("index", .problem, faults.joined(separator: "; ") + ". Run: keychainctl doctor --repair")
    }
}

/// What the two files look like that a write changes.
private struct FileMoment: Equatable {
    private let parts: [Int]

    init(_ location: VaultLocation) {
        let paths = [location.databaseFile, location.folder + "/" + VaultLocation.companionNames[0]]
        parts = paths.flatMap { path -> [Int] in
            var status = stat()
            guard lstat(path, &status) == 0 else { return [-1] }
            return [Int(status.st_ino), Int(status.st_size), Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec)]
        }
    }
}
