// SPDX-License-Identifier: Apache-2.0
// Examines the contents of a vault's database without changing anything.

import Foundation
import KeychainCrypto
import KeychainEngine

/// One examination of the database.
struct ContentExamination {
    let location: VaultLocation
    let settings: VaultSettings
    /// The key, `nil` if there is none, or why it cannot be used.
    let deviceKey: Result<DeviceKey?, KeychainError>
    var findings: [Finding] = []
    /// Whether to open the vault like readers do, with the files that coordinate them with writers.
    var opensLikeReaders = false
    /// Whether it was opened without coordination with writers.
    var isFrozen = false
    private var seen: SeenAnchors?
    private var anchors: AnchorStore?

    /// Repeats the examination if another process wrote in the meantime: a file that is read without its WAL, or without
    /// the index of that, may then seem damaged or older than it is. Processes that write all the time disturb the last
    /// attempt too, so that one must be coordinated with them.
    static func findings(
        _ location: VaultLocation, _ settings: VaultSettings, _ deviceKey: Result<DeviceKey?, KeychainError>,
        _ progress: (Int) -> Void
    ) -> [Finding] {
        var examination = ContentExamination(location: location, settings: settings, deviceKey: deviceKey)
        for attempt in 1...Vault.readingAttempts {
            let before = FilesState(location)
            (examination.findings, examination.isFrozen) = ([], false)
            examination.opensLikeReaders = attempt == Vault.readingAttempts
            examination.run(progress)
            PausePoint.rowsRead.reached()
            if before == FilesState(location) { return examination.findings }
        }
        // What was read may be of two states. Only the folder of this process is read-only then.
        return examination.isFrozen
            ? [Finding("database", .problem, KeychainError.readingDisturbed(location).message)] : examination.findings
    }

    private init(
        location: VaultLocation, settings: VaultSettings, deviceKey: Result<DeviceKey?, KeychainError>
    ) {
        self.location = location
        self.settings = settings
        self.deviceKey = deviceKey
    }

    mutating func note(_ check: String, _ severity: Finding.Severity, _ message: String) {
        findings.append(Finding(check, severity, message))
    }

    private mutating func run(_ progress: (Int) -> Void) {
        do throws(KeychainError) {
            let reader = try open()
            try DatabaseFailure.translating(location.databaseFile) {
                // Read before the examination: a commit of another process in the meantime must not make the vault seem
                // old.
                anchors = try anchors(reader)
                PausePoint.examinationOpened.reached()
                seen = anchors?.read()
                try reader.reading { connection in try look(connection, progress) }
                try reader.close()
            }
        } catch {
            note("database", .problem, error.message)
        }
    }

    private func anchors(_ reader: Connection) throws -> AnchorStore? {
        let vaultID = try reader.reading { connection in
            _ = try VaultSchema.check(connection, path: location.databaseFile)
            return StoredKeybag.newest(try KeybagTable(connection).copies())?.vaultID
        }
        return vaultID.map { AnchorStore(location, settings, vaultID: $0) }
    }

    // MARK: - Checks

    private mutating func look(_ connection: Connection, _ progress: (Int) -> Void) throws {
        let version = try VaultSchema.check(connection, path: location.databaseFile)
        note(
            "format", .ok,
            version < VaultSchema.version
                ? "Format \(version); the next write raises it to \(VaultSchema.version)."
                : "Format \(version), the newest.")
        try checkIntegrity(connection)
        let copies = try KeybagTable(connection).copies()
        guard let keybag = checkCopies(copies) else { return }
        checkSetUp(keybag)
        checkBinding(keybag)
        try checkRotation(keybag, ItemTable(connection))
        try checkItems(copies, connection, progress)
    }

    private mutating func checkIntegrity(_ connection: Connection) throws {
        let told = try connection.texts("PRAGMA integrity_check(3)")
        guard told != ["ok"] else { return note("database", .ok, "The database is intact.") }
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
                    "One of the two copies of the keybag is damaged or older. The next write repairs it.")
            } else {
                note("keybag", .ok, "Both copies of the keybag are intact.")
            }
            return whole.first
        } catch {
            note("keybag", .problem, error.message)
            return nil
        }
    }

    private mutating func checkItems(
        _ copies: [Data?], _ connection: Connection, _ progress: (Int) -> Void
    ) throws {
        let table = ItemTable(connection)
        let quarantined = try table.quarantineCount()
        if quarantined > 0 {
            note(
                "quarantine", .warning,
                (quarantined == 1 ? "1 item is" : "\(quarantined) items are")
                    + " in the quarantine, with all bytes. To see which and why, run: keychainctl quarantine list")
        }
        let stored: StoredKeybag
        do throws(KeychainError) {
            stored = try StoredKeybag(copies, location, settings)
            noteState(stored.keyState)
        } catch {
            note("opening", .problem, error.message)
            guard let partial = try withoutDeviceKey(copies) else { return try noteUnopened(table) }
            stored = partial
        }
        let items = try ItemExamination(stored.keyState, table, .values, progress: progress)
        note(items)
        if let index = items.index { note(index) }
        try checkHead(stored.keyState, connection)
    }

    /// What opens a vault whose device key cannot be used; `nil` if that is not so, or nothing else opens it.
    private func withoutDeviceKey(_ copies: [Data?]) throws(KeychainError) -> StoredKeybag? {
        guard case .failure = deviceKey else { return nil }
        return try StoredKeybag(
            StoredKeybag.whole(copies, location),
            ProtectorEnvironment(location: location, deviceKey: nil, settings: settings))
    }

    private mutating func noteUnopened(_ table: ItemTable) throws {
        let count = try table.count()
        note(
            "items", .ok, (count == 1 ? "1 item was" : "\(count) items were") + " not checked: nothing opens the vault."
        )
    }

    private mutating func checkHead(_ keyState: KeyState, _ connection: Connection) throws {
        guard try keyState.hasIndex else {
            return note("head", .ok, "The vault must be unlocked to check it against its last known state.")
        }
        let keys = try keyState.sealer(.looking).keys.head
        let look = try HeadExamination(
            connection, keys, authentic: keyState.authentic, anchor: seen?.newest(keys), .wholeVault)
        guard look.findings.isEmpty else {
            let limits =
                look.isNotSeenByChanges
                ? " A vault of this size can still be changed, since a change only counts its rows; rotations and removals of "
                    + "protectors are refused." : ""
            return note("head", .problem, KeychainError.rolledBack(look.findings, location).message + limits)
        }
        note(
            "head", .ok,
            look.isOfFormerFormat
                ? "The vault has no head yet, so missing rows are not noticed. The next write creates it."
                : "The vault matches its last known state: no row is missing, and no old row was put back.")
        checkAnchor(look, keys)
    }

    private mutating func checkAnchor(_ look: HeadExamination, _ keys: HeadKeys) {
        guard look.head != nil, !FilesState.isReadOnly(location), let anchors, let seen else { return }
        guard !anchors.cover(look.head, seen, keys) else { return }
        note(
            "rollback", .warning,
            "This machine has no record of the current state of the vault, so it would not notice an older copy. "
                + (anchors.writeFailure.map { "The record cannot be written: " + $0.message }
                    ?? "The next write makes one, if '\(location.stateFolder)' or the kernel accepts it."))
    }

    private mutating func noteState(_ keyState: KeyState) {
        do throws(KeychainError) {
            if let kind = keyState.openedBy {
                note("opening", .ok, "The vault opens without a prompt, with the \(kind.name).")
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
            items.damagedValues, "opens except for its value and was", "open except for their values and were")
        let open = items.byClass.values.reduce(0, +)
        let others = [
            (items.locked, "locked and not checked"), (items.ofAnotherDevice, "bound to another device"),
        ].filter { $0.0 > 0 }.map { " \($0.0) \($0.0 == 1 ? "is" : "are") \($0.1)." }
        note(
            "items", .ok,
            (open == 1 ? "1 item opens." : "\(open) items open.") + others.joined() + items.uncheckedAdvice)
    }

    private mutating func noteDamaged(_ count: Int, _ one: String, _ several: String) {
        guard count > 0 else { return }
        note(
            "items", .problem,
            (count == 1 ? "1 item \(one)" : "\(count) items \(several)") + " not changed. "
                + KeychainError.restoreAdvice
        )
    }

    private mutating func note(_ index: IndexExamination) {
        let faults = [
            (index.missing.count, "entries are missing, so searches do not find all items"),
            (index.wrong.count, "entries are wrong: they refer to no item or to another item"),
            (index.wronglyIndexed.count, "items are indexed under the wrong key"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        guard !faults.isEmpty else {
            return note(
                "index", .ok,
                index.closedCount == 0 ? "All entries are correct." : "All entries of items that open are correct.")
        }
        note("index", .problem, faults.joined(separator: "; ") + ". Run: keychainctl doctor --repair")
    }
}
