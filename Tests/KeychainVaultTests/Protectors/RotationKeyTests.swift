// SPDX-License-Identifier: Apache-2.0
// Rotations by a process that does not have every key: rows that it cannot open stay, with their keys.

import Foundation
import KeychainEngine
import Synchronization
import Testing

@testable import KeychainVault

@Suite struct RotationKeyTests {
    private static let bound = Accessibility.whenUnlockedThisDeviceOnly

    /// Opens with the device key and the old passphrase, and holds 20 items and one for this device alone.
    private static func vault() throws -> TestVault {
        let test = try TestVault(.cheap)
        for index in 0..<20 { try test.engine.add(.genericPassword("s", "\(index)", value: "value \(index)")) }
        try test.engine.add(.item(bound))
        try test.vault.addProtector(.old)
        return test
    }

    private static func begin(_ vault: Vault, authority: ProtectorSecret? = nil) throws {
        try vault.changeKeybag(try vault.authority(authority)) { (keybag, authority) throws(KeychainError) in
            try keybag.rotating(authority, at: Date())
        }
    }

    private static func hasAll(_ vault: Vault) throws -> Bool {
        try (0..<20).allSatisfy { try vault.engine.text(.genericPassword("s", "\($0)")) == "value \($0)" }
            && vault.engine.text(.find(bound)) == "value"
    }

    private static func generations(_ vault: Vault, of keyClass: UInt8) throws -> [UInt32] {
        try vault.session().keybag.keys.filter { $0.keyClass == keyClass }.map(\.generation)
    }

    @Test func rotation_resumedWithoutTheDeviceKey_keepsWhatItCannotOpenAndFails() throws {
        let test = try Self.vault()
        try Self.begin(test.another())
        let elsewhere = try test.withoutDeviceKey()
        #expect(reason { try elsewhere.rotate(authority: .old) } == .unavailable)
        let status = try test.another().status()
        #expect(status.quarantinedCount == 0)
        #expect(status.isRotating)
        #expect(status.unrotatedCount == 1)
        #expect(try Self.hasAll(test.another()))
        #expect(try Self.generations(test.another(), of: 6) == [2])
        #expect(try Self.generations(test.another(), of: 9) == [1, 2])
    }

    @Test func rotation_goneOnWithTheDeviceKey_endsAndLosesNothing() throws {
        let test = try Self.vault()
        try Self.begin(test.another())
        let elsewhere = try test.withoutDeviceKey()
        #expect(reason { try elsewhere.rotate(authority: .old) } == .unavailable)
        try test.another().rotate()
        #expect(try !test.another().status().isRotating)
        #expect(try Self.generations(test.another(), of: 6) == [2])
        #expect(try Self.generations(test.another(), of: 9) == [2])
        #expect(try Self.hasAll(test.another()))
    }

    @Test func rotation_begunWithoutTheDeviceKey_saysWhatWasNotRotated() throws {
        let test = try Self.vault()
        let elsewhere = try test.withoutDeviceKey()
        let outcome = failure { try elsewhere.rotate(authority: .old) }
        #expect(outcome?.reason == .unavailable)
        #expect(outcome?.message.contains("1 item bound to that device") == true, "\(outcome?.message ?? "")")
        #expect(try Self.generations(test.another(), of: 6) == [2])
        #expect(try Self.generations(test.another(), of: 9) == [1])
        #expect(try Self.hasAll(test.another()))
    }

    @Test func rotation_begunWithoutTheDeviceKey_staysUnfinishedUntilOneWithIt() throws {
        let test = try Self.vault()
        let elsewhere = try test.withoutDeviceKey()
        #expect(reason { try elsewhere.rotate(authority: .old) } == .unavailable)
        for vault in [elsewhere, test.another()] {
            let status = try vault.status()
            #expect(status.isRotating && status.unrotatedCount == 1)
            #expect(Vault.examine(vault.location, vault.settings).contains { $0.check == "rotation" })
        }
        try test.another().rotate()
        #expect(try !test.another().status().isRotating)
    }

    /// It was interrupted when all items were under the new keys.
    @Test func rotation_thatOnlyHasToDropOldKeys_isCompletedWithoutTheDeviceKey() throws {
        let test = try TestVault(.cheap)
        try test.vault.addProtector(.old)
        try Self.begin(test.another())
        try test.another().engine.add(.item(Self.bound))
        #expect(try test.another().status().isRotating)
        try test.withoutDeviceKey().rotate(authority: .old)
        #expect(try !test.another().status().isRotating)
        #expect(try Self.generations(test.another(), of: 6) == [2])
        #expect(try Self.generations(test.another(), of: 9) == [2])
        #expect(try test.another().engine.text(.find(Self.bound)) == "value")
    }

    /// A process with the device key continues a rotation that began without it: then all classes get new keys.
    @Test func rotation_begunWithoutTheDeviceKeyAndGoneOnWithIt_coversAllClasses() throws {
        let test = try Self.vault()
        let elsewhere = try test.withoutDeviceKey()
        try Self.begin(elsewhere, authority: .old)
        #expect(try Self.generations(test.another(), of: 9) == [1])
        try test.another().rotate()
        #expect(try Self.generations(test.another(), of: 6) == [2])
        #expect(try Self.generations(test.another(), of: 9) == [2])
        #expect(try Self.hasAll(test.another()))
    }

    @Test func twoRotationsAtOnce_oneWithoutTheDeviceKey_loseNothing() throws {
        let test = try Self.vault()
        let vaults = [test.another(), try test.withoutDeviceKey()]
        let reasons = Mutex<[KeychainError.Reason]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            for _ in 0..<3 {
                guard let outcome = failure({ try vaults[index].rotate(authority: .old) }) else { continue }
                reasons.withLock { $0.append(outcome.reason) }
            }
        }
        // The one without the key cannot do all of it; either may be told that the other has changed the keybag.
        #expect(Set(reasons.withLock { $0 }).isSubset(of: [.unavailable, .busy]))
        #expect(try test.another().status().quarantinedCount == 0)
        #expect(try Self.hasAll(test.another()))
        try test.another().rotate()
        #expect(try !test.another().status().isRotating)
        #expect(try Self.hasAll(test.another()))
    }

    @Test func passcodeItem_rotatedWithoutTheDeviceKey_stays() throws {
        let test = try Self.vault()
        try test.another().engine.add(.item(.whenPasscodeSetThisDeviceOnly))
        try Self.begin(test.another())
        #expect(reason { try test.withoutDeviceKey().rotate(authority: .old) } == .unavailable)
        #expect(try test.another().engine.text(.find(.whenPasscodeSetThisDeviceOnly)) == "value")
        try test.another().rotate()
        #expect(try test.another().engine.text(.find(.whenPasscodeSetThisDeviceOnly)) == "value")
        #expect(try Self.generations(test.another(), of: 12) == [2])
    }

    @Test func damagedRow_whoseKeyIsHere_isQuarantinedAlsoWithoutTheDeviceKey() throws {
        let test = try Self.vault()
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run(
            "UPDATE item SET metadata = zeroblob(length(metadata)) WHERE id = 2 OR class = 9")
        try test.another().accept()
        let elsewhere = try test.withoutDeviceKey()
        #expect(reason { try elsewhere.rotate(authority: .old) } == .unavailable)
        // What the key of class 9 would say of its row cannot be known here.
        #expect(try test.another().status().quarantinedCount == 1)
    }

    // MARK: - Quarantine

    /// Only its index was damaged, say; its bytes are whole.
    @Test func quarantinedRow_afterRotations_stillOpens() throws {
        let test = try Self.vault()
        let vault = test.another()
        try vault.write { transaction in try transaction.content.items.quarantine(3, at: Date()) }
        try vault.rotate()
        try vault.rotate()
        #expect(try !vault.status().isRotating)
        #expect(try Self.generations(vault, of: 6) == [1, 3])
        try vault.close()
        try PlainDatabase(test.databaseFile).run(
            """
            INSERT INTO item SELECT id, uuid, version, class, generation, major, minor, scope, metadata, value
            FROM quarantine
            """)
        #expect(try test.another().engine.text(.genericPassword("s", "2")) == "value 2")
    }

    @Test func keyOfAQuarantinedRow_afterTheRowHasGone_isDroppedByTheNextRotation() throws {
        let test = try Self.vault()
        let vault = test.another()
        try vault.write { transaction in try transaction.content.items.quarantine(3, at: Date()) }
        try vault.rotate()
        #expect(try Self.generations(vault, of: 6) == [1, 2])
        try vault.close()
        try PlainDatabase(test.databaseFile).run("DELETE FROM quarantine")
        try vault.accept()
        try vault.rotate()
        #expect(try Self.generations(vault, of: 6).count == 1)
    }

    @Test func change_thatWouldDropAKeyInUse_isRefused() throws {
        let test = try Self.vault()
        let vault = test.another()
        let outcome = reason {
            try vault.changeKeybag(try vault.authority(nil)) { (keybag, authority) throws(KeychainError) in
                var next = keybag
                next.keys.removeAll { $0.keyClass == 6 }
                return try next.signed(authority)
            }
        }
        #expect(outcome == .unsupported)
        #expect(try Self.hasAll(test.another()))
    }

    // MARK: - Another device

    @Test func vault_adopted_keepsItemsOfTheOtherDeviceUntilItsKeyIsBack() throws {
        let test = try TestVault.locked()
        let elsewhere = try test.withoutDeviceKey()
        #expect(try elsewhere.adoptDevice(authority: .old) == 3)
        try elsewhere.unlock(.old)
        let there = try elsewhere.status()
        #expect(there.ofAnotherDeviceCount == 3)
        #expect(there.damagedCount == 0)
        try elsewhere.rotate(authority: .old)
        // At the place of before, with the key of before.
        let vault = test.another()
        try vault.unlock(.old)
        #expect(try vault.engine.text(.find(Self.bound)) == "value")
        #expect(try vault.status().damagedCount == 0)
        try test.forget()
    }

    @Test func vault_adoptedAndAdoptedBack_isAsBefore() throws {
        let test = try TestVault.locked()
        let (vault, elsewhere) = (test.another(), try test.withoutDeviceKey())
        try elsewhere.adoptDevice(authority: .old)
        try elsewhere.unlock(.old)
        var item = Query.item(Self.bound)
        item.attributes[.account] = .string("there")
        try elsewhere.engine.add(item)
        #expect(try vault.adoptDevice(authority: .old) == 1)
        try vault.unlock(.old)
        #expect(try vault.engine.text(.find(Self.bound)) == "value")
        #expect(try vault.status().ofAnotherDeviceCount == 1)
        try vault.engine.update(.find(Self.bound), value: "written here")
        try vault.rotate(authority: .old)
        try vault.unlock(.old)
        #expect(try vault.engine.text(.find(Self.bound)) == "written here")
        try elsewhere.unlock(.old)
        #expect(try elsewhere.engine.text(.genericPassword("exerciser", "there")) == "value")
        try test.forget()
    }
}

extension TestVault {
    /// The vault as a process sees it that finds another path for the device key, where there is no file yet.
    func withoutDeviceKey() throws -> Vault {
        Vault(try VaultLocation(folder: location.folder, deviceKeyFile: root + "/elsewhere/device.key"), .cheap)
    }

    // MARK: - Clocks

    /// A vault whose keys were made under a clock that was ahead.
    @Test func rotation_afterTheClockWasSetBack_tellsWhichClassesItHasLeftOut() throws {
        let test = try TestVault.locked()
        let key = test.location.deviceKeyFile
        try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
        let vault = test.another()
        let authority = try vault.authority(.old)
        let keybag = try vault.session().keybag
        let rotated = try keybag.rotating(authority, at: .distantPast)
        let classes = Accessibility.allCases.filter(\.isThisDeviceOnly).map(\.number)
        let leftOut = Set(rotated.classesLeftOut(authority, KeyUse()))
        #expect(!leftOut.isEmpty && leftOut.isSubset(of: classes))
        #expect(Set(rotated.unfinishedRotation(KeyUse()).keys).isSuperset(of: leftOut))
    }

    @Test func passphrase_addedAfterTheClockWasSetBack_looksLikeNoRotation() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let (keybag, authority) = (try test.vault.session().keybag, try test.vault.authority(nil))
        let protector = try test.vault.protector(.old)
        let added = try keybag.adding(protector, authority, at: .distantPast)
        #expect(added.unfinishedRotation(KeyUse()).isEmpty)
    }
}
