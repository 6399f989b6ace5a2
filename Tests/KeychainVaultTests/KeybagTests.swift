// SPDX-License-Identifier: Apache-2.0
// The keybag: two copies, each enough.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct KeybagTests {
    private func vaultWithItem() throws -> (TestVault, Connection) {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        return (test, try Connection(test.databaseFile))
    }

    private func bytes(_ database: Connection, _ table: String) throws -> Data {
        try database.blob("SELECT bytes FROM \(table)") ?? Data()
    }

    private func set(_ database: Connection, _ table: String, _ bytes: Data) throws {
        try database.execute("UPDATE \(table) SET bytes = ?", [.blob(bytes)])
    }

    @Test(arguments: ["keybag", "keybag_copy"])
    func copy_withAnyByteFlipped_leavesTheVaultOpen(_ table: String) throws {
        let (test, database) = try vaultWithItem()
        let original = try bytes(database, table)
        for index in original.indices {
            var changed = original
            changed[index] ^= 0xFF
            try set(database, table, changed)
            #expect(try test.reopened().text(.genericPassword("s", "a")) == "v", "byte \(index)")
        }
    }

    @Test func copies_bothWithAnyByteFlipped_areCorrupt() throws {
        let (test, database) = try vaultWithItem()
        let original = try bytes(database, "keybag")
        for index in original.indices {
            var changed = original
            changed[index] ^= 0x01
            for table in ["keybag", "keybag_copy"] { try set(database, table, changed) }
            let reason = reason { _ = try test.reopened().value(.genericPassword("s", "a")) }
            // Another format's number says that, and nothing else can be told of such a keybag.
            #expect(reason == (index == 4 ? .newerFormat : .corrupt), "byte \(index)")
        }
    }

    @Test func copies_bothCutAtAnyLength_areCorrupt() throws {
        let (test, database) = try vaultWithItem()
        let original = try bytes(database, "keybag")
        for length in stride(from: 0, to: original.count, by: 3) {
            for table in ["keybag", "keybag_copy"] { try set(database, table, original.prefix(length)) }
            #expect(reason { _ = try test.reopened().value(.genericPassword("s", "a")) } == .corrupt, "\(length)")
        }
    }

    private func isWellFormed(_ keybag: Keybag) -> Bool {
        do throws(MalformedBytes) {
            return try Keybag(bytes: keybag.bytes) == keybag
        } catch {
            return false
        }
    }

    /// Each takes half a second to try, and an attacker who writes the file chooses how many there are.
    @Test func keybag_withMorePassphrasesThanAVaultTakes_isMalformed() throws {
        let (test, _) = try vaultWithItem()
        var keybag = try test.vault.currentSession().keybag
        keybag.slots = (1...Keybag.passphraseLimit).map { _ in Self.passphraseSlot }
        #expect(isWellFormed(keybag))
        keybag.slots.append(Self.passphraseSlot)
        #expect(!isWellFormed(keybag))
    }

    private static var passphraseSlot: Keybag.Slot {
        Keybag.Slot(
            kind: PassphraseProtector.kind.number, id: UUID(), created: 0, parameters: Data(),
            commitment: Data(count: 32), wrappedKey: Data(count: 60))
    }

    /// One could take the place of the other.
    @Test func keybag_withTwoKeysOfOneName_isMalformed() throws {
        let (test, _) = try vaultWithItem()
        var keybag = try test.vault.currentSession().keybag
        let key = try #require(keybag.keys.first { $0.keyClass != Keybag.indexKeyClass })
        keybag.keys.append(key)
        #expect(!isWellFormed(keybag))
    }

    @Test func damagedCopy_atTheNextWrite_isRepaired() throws {
        let (test, database) = try vaultWithItem()
        let original = try bytes(database, "keybag_copy")
        try set(database, "keybag_copy", Data([1, 2, 3]))
        let vault = Vault(test.location)
        #expect(try vault.status().isKeybagCopyDamaged)
        try Engine(store: vault).add(.genericPassword("s", "b", value: "w"))
        #expect(try bytes(database, "keybag_copy") == original)
        #expect(try Vault(test.location).status().isKeybagCopyDamaged == false)
    }

    @Test func keybag_made_hasAKeyForEachClassThatNeedsNoPasscodeAndAnIndexKey() throws {
        let (test, database) = try vaultWithItem()
        let keybag = try Keybag(bytes: try bytes(database, "keybag"))
        #expect(keybag.keys.map(\.keyClass) == [6, 7, 8, 9, 10, 11, 32])
        #expect(keybag.slots.map(\.kind) == [DeviceKeyProtector.kind.number])
        #expect(try Keybag(bytes: keybag.bytes) == keybag)
        _ = test
    }

    @Test func slotOfUnknownKind_isKeptAndLeftAlone() throws {
        let (test, database) = try vaultWithItem()
        let keybag = try Keybag(bytes: try bytes(database, "keybag"))
        let key = try #require(try DeviceKey.load(test.location.deviceKeyFile))
        var unknown = keybag.slots[0]
        unknown.kind = 200
        #expect(try DeviceKeyProtector(deviceKey: key).unwrap(unknown, vaultID: keybag.vaultID) == nil)
    }

    @Test func keybag_withHugeCounts_isMalformed() throws {
        let (test, database) = try vaultWithItem()
        let original = try bytes(database, "keybag")
        var changed = original
        changed[30] = 0xFF
        changed[31] = 0xFF
        #expect(throws: MalformedBytes.self) { try Keybag(bytes: changed) }
        _ = test
    }
}
