// SPDX-License-Identifier: Apache-2.0
// What `status` tells.

import Foundation
import Testing

@Suite("status")
struct StatusTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func status_withoutAVault_saysSoAndMakesNone() throws {
        let run = try tool.run("status")
        #expect(run.status == 0)
        #expect(run.text.contains("not created yet"))
        #expect(!FileManager.default.fileExists(atPath: tool.vaultFolder.path))
    }

    @Test func status_ofAVault_namesItsPlaces() throws {
        try tool.store()
        let text = try tool.run("status").text
        #expect(text.contains(tool.vaultFolder.path))
        #expect(text.contains(tool.deviceKey.path))
    }

    @Test func status_ofAVault_saysThatDoctorChecksTheValues() throws {
        try tool.store()
        let text = try tool.run("status").text
        #expect(text.contains("Values are not opened here. To check them too: keychainctl doctor"))
    }

    @Test func status_ofAVault_tellsWhatItDoesNotProtectFrom() throws {
        try tool.store()
        let text = try tool.run("status").text
        #expect(text.contains("protects from: other users"))
        #expect(text.contains("does not protect from: anyone who can also read the device key"))
    }

    @Test func json_ofAVault_hasTheDocumentedKeys() throws {
        try tool.store()
        #expect(
            try tool.status().keys.sorted() == [
                "damaged", "deviceKeyFile", "deviceKeyFits", "differences", "exists", "formatVersion",
                "indexForeign", "indexMissing", "items", "keyMemoryLocked", "keybagCopyDamaged", "lockState", "locked",
                "memoryProtection", "notRotated", "ofAnotherDevice", "openedBy", "opensByItself",
                "protectors", "quarantined", "readOnly", "rollbackWatched", "rotationPending", "strength",
                "unlockCache", "vaultFolder",
                "walHoldsRemovedData", "wrongCredential", "wronglyIndexed",
            ])
    }

    @Test func json_withoutAVault_hasTheSameKeys() throws {
        let empty = try tool.status().keys.sorted()
        try tool.store()
        #expect(try tool.status().keys.sorted() == empty)
    }

    @Test func status_ofAVaultWithADeviceKeyAlone_saysWhatThatIsWorth() throws {
        try tool.store()
        let text = try tool.run("status").text
        #expect(text.contains("state         always unlocked: the device key opens it"))
        #expect(text.contains("strength      as strong as the device key's file"))
    }

    @Test func strength_withAPassphraseBesideTheDeviceKey_exceptsWhatThatOneKeeps() throws {
        let other = try Tool()
        #expect(try other.run("init", "--recovery-key").status == 0)
        let strength = try #require(try other.status()["strength"] as? String)
        #expect(strength.contains("everything except the values of items that require authentication"), "\(strength)")
        try tool.store()
        #expect(
            try tool.status()["strength"] as? String
                == "as strong as the device key's file: anyone who can read it can read everything")
    }

    @Test func status_ofALockedVault_countsWhatIsLocked() throws {
        let vault = try LockableTool()
        try vault.store()
        #expect(try vault.tool.status()["locked"] as? Int == 1)
        #expect(try vault.tool.status()["strength"] as? String == "as strong as the recovery key")
        #expect(try vault.tool.run("status").text.contains("state         locked, including items that open after"))
    }

    @Test func status_whereOthersMayChangeTheRecordOfTheState_namesTheRecord() throws {
        try tool.store()
        let run = try tool.shell(
            "chmod 666 ~/.local/state/swift-keychain/*; echo x | \"$CTL\" set -s s -a a; \"$CTL\" status")
        #expect(run.status == 0, "\(run.errors)")
        let record = tool.home.path + "/.local/state/swift-keychain/"
        #expect(run.text.contains("the record cannot be written: '\(record)"), "\(run.text)")
    }

    @Test func json_ofAVault_countsItemsByClass() throws {
        try tool.store()
        try tool.run("set", "--server", "h", "-a", "a", input: secret)
        let items = try #require(try tool.status()["items"] as? [String: Int])
        #expect(items == ["generic-password": 1, "internet-password": 1, "certificate": 0, "key": 0])
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed")) func json_ofADamagedVault_countsTheDamage() throws {
        try tool.store()
        try tool.damageItems()
        #expect(try tool.status()["damaged"] as? Int == 1)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed")) func json_withADamagedKeybagCopy_saysSo() throws {
        try tool.store()
        try tool.python(
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.execute("UPDATE keybag_copy SET bytes = zeroblob(length(bytes))")
            database.commit()
            """)
        #expect(try tool.status()["keybagCopyDamaged"] as? Bool == true)
    }

    @Test(.enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"))
    func status_onAReadOnlyMedium_saysSo() throws {
        try tool.store()
        let run = try tool.shellWithOwnMounts(Mounts.readOnlyHome + "\"$CTL\" status")
        #expect(run.text.contains("read-only"), "\(run.everything)")
    }
}
