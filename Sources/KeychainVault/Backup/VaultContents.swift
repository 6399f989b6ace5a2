// SPDX-License-Identifier: Apache-2.0
// The contents of a database file that is not the vault's own: a backup.

import Foundation
import KeychainEngine
import SecretMemory

/// A database file that was opened without changing anything or creating files, and checked completely.
struct VaultContents {
    let formatVersion: Int32
    let keybag: Keybag
    let isKeybagCopyDamaged: Bool
    let itemCount: Int
    let quarantinedCount: Int
    /// `nil` if nothing on this machine opens it.
    let items: ItemExamination?
    let opening: VaultBackup.Opening
    /// Why the device key could not be used, if nothing else opens it.
    let deviceKeyFailure: KeychainError?
    /// The error with which a vault with this keybag does not open here; `nil` if it opens or can be unlocked.
    let refusal: KeychainError?
    /// The differences between it and its own head, as far as it opens. Later states that this machine has seen do not
    /// count.
    let differences: [HeadFinding]

    /// - Parameters:
    ///   - path: Of a checked file without a WAL; the keys are those of the location.
    ///   - progress: Called with the number of items that were checked so far.
    /// - Throws: `corrupt`, `newerFormat`.
    init(
        at path: String, _ location: VaultLocation, _ settings: VaultSettings, progress: (Int) -> Void = { _ in }
    ) throws(KeychainError) {
        // The check opens every value, and the caller may then wait for a lock while the last key is still on the stack.
        defer { scrubResidue() }
        let connection = try Connection.openImmutable(path)
        self = try DatabaseFailure.translating(path) {
            let contents = try connection.reading { try VaultContents($0, path, location, settings, progress) }
            try connection.close()
            return contents
        }
    }

    private init(
        _ connection: Connection, _ path: String, _ location: VaultLocation, _ settings: VaultSettings,
        _ progress: (Int) -> Void
    ) throws {
        formatVersion = try VaultSchema.check(connection, path: path)
        let told = try connection.texts("PRAGMA integrity_check(3)")
        guard told == ["ok"] else {
            throw KeychainError(.corrupt, "'\(path)' is damaged; SQLite says: \(told.joined(separator: "; ")).")
        }
        try Self.checkLength(connection, path)
        let copies = try KeybagTable(connection).copies()
        let whole = try StoredKeybag.whole(copies, location)
        isKeybagCopyDamaged = copies.contains { $0 != whole[0].bytes }
        let table = ItemTable(connection)
        itemCount = try table.count()
        quarantinedCount = try table.quarantineCount()
        var failure: KeychainError?
        let stored = try Self.opened(whole, location, settings, &failure)
        deviceKeyFailure = stored == nil ? failure : nil
        refusal = stored == nil || failure != nil ? Self.refusal(copies, location, settings) : nil
        keybag = stored?.keybag ?? whole[0]
        opening = stored.map { $0.keyState.isAlwaysUnlocked ? .byItself : .unlockable } ?? .notHere
        items = try stored.map { try ItemExamination($0.keyState, table, .values, progress: progress) }
        differences = try stored.map { try Self.differences(connection, $0.keyState) } ?? []
    }

    private static func differences(_ connection: Connection, _ keyState: KeyState) throws -> [HeadFinding] {
        guard try keyState.hasIndex else { return [] }
        let keys = try keyState.sealer(.looking).keys.head
        return try HeadExamination(connection, keys, authentic: keyState.authentic, anchor: nil, .wholeVault).findings
    }

    private static func refusal(
        _ copies: [Data?], _ location: VaultLocation, _ settings: VaultSettings
    ) -> KeychainError? {
        do throws(KeychainError) {
            _ = try StoredKeybag(copies, location, settings)
            return nil
        } catch {
            return error
        }
    }

    /// Whether an error says that the vault does not open here now. A medium may fail with errors of the same reasons.
    func isRefused(with error: KeychainError) -> Bool {
        opening != .byItself && (error.reason == .locked || error == refusal)
    }

    /// SQLite would pad the last page of a truncated file.
    private static func checkLength(_ connection: Connection, _ path: String) throws {
        let pages = try connection.number("PRAGMA page_count") ?? 0
        let length = pages * (try connection.number("PRAGMA page_size") ?? 0)
        guard try FileSafety.status(path).map({ Int64($0.st_size) }) == length else {
            throw KeychainError(.corrupt, "'\(path)' is truncated, or longer than the database in it.")
        }
    }

    /// An unreadable device key counts as none, since making a backup needs no key.
    ///
    /// - Returns: `nil` if nothing on this machine opens it.
    private static func opened(
        _ keybags: [Keybag], _ location: VaultLocation, _ settings: VaultSettings, _ failure: inout KeychainError?
    ) throws(KeychainError) -> StoredKeybag? {
        var deviceKey: DeviceKey?
        do throws(KeychainError) { deviceKey = try DeviceKey.load(location.deviceKeyFile) } catch { failure = error }
        return try StoredKeybag(
            keybags, ProtectorEnvironment(location: location, deviceKey: deviceKey, settings: settings))
    }
}
