// SPDX-License-Identifier: Apache-2.0
// Rotating the class keys.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

@Suite struct RotationTests {
    private static func vault(items: Int) throws -> TestVault {
        let test = try TestVault()
        for index in 0..<items { try test.engine.add(.genericPassword("s", "\(index)", value: "value \(index)")) }
        return test
    }

    private static func generations(_ vault: Vault) throws -> Set<UInt32> {
        var found: Set<UInt32> = []
        try vault.session().reader.read { db in
            try ItemTable(db).forEach(.all, .metadata) { row in
                found.insert(row.generation)
                return true
            }
        }
        return found
    }

    @Test func rotation_finished_leavesEveryItemUnderOneNewKey() throws {
        let test = try Self.vault(items: 30)
        let vault = test.another()
        let old = try vault.session().keybag.keys
        var steps: [Int] = []
        try vault.rotate { steps.append($0) }
        #expect(steps == [8, 16, 24, 30])
        let keybag = try vault.session().keybag
        #expect(keybag.keys.filter { $0.keyClass != 32 }.allSatisfy { $0.generation == 2 })
        #expect(keybag.keys.filter { $0.keyClass == 32 } == old.filter { $0.keyClass == 32 })
        #expect(try Self.generations(vault) == [2])
        for index in 0..<30 { #expect(try test.reopened().text(.genericPassword("s", "\(index)")) == "value \(index)") }
    }

    @Test func rotation_keepsIdentitiesAndVersions() throws {
        let test = try Self.vault(items: 3)
        let before = try test.vault.select(Selection(itemClass: .genericPassword), limit: nil, includingValues: true)
        try test.another().rotate()
        let after = try test.another().select(
            Selection(itemClass: .genericPassword), limit: nil, includingValues: true)
        #expect(before.items == after.items)
    }

    /// A process that read the keybag before the rotation.
    @Test func reader_withTheKeysOfBefore_readsWhatIsRotated() throws {
        let test = try Self.vault(items: 3)
        #expect(try test.engine.text(.genericPassword("s", "0")) == "value 0")
        try test.another().rotate()
        #expect(try test.engine.text(.genericPassword("s", "1")) == "value 1")
    }

    @Test func writer_withTheKeysOfBefore_writesUnderTheNewOnes() throws {
        let test = try Self.vault(items: 1)
        try test.another().rotate()
        try test.engine.add(.genericPassword("s", "later", value: "v"))
        #expect(try Self.generations(test.another()) == [2])
    }

    @Test func rotation_brokenOff_isToldByStatusAndGoesOn() throws {
        let test = try Self.vault(items: 20)
        let vault = test.another()
        try vault.changeKeybag(try vault.authority(nil)) { (keybag, authority) throws(KeychainError) in
            try keybag.rotating(authority, at: Date())
        }
        #expect(try vault.status().isRotating)
        #expect(try test.reopened().text(.genericPassword("s", "7")) == "value 7")
        try vault.rotate()
        #expect(try !vault.status().isRotating)
        #expect(try Self.generations(vault) == [2])
    }

    @Test func row_thatDoesNotOpen_isQuarantinedByRotation() throws {
        let test = try Self.vault(items: 3)
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run(
            "UPDATE item SET metadata = zeroblob(length(metadata)) WHERE id = 2")
        let vault = test.another()
        try vault.accept()
        try vault.rotate()
        #expect(try vault.status().quarantinedCount == 1)
        #expect(try test.reopened().text(.genericPassword("s", "2")) == "value 2")
    }

    @Test func rotation_ofALockedVault_takesThePassphrase() throws {
        let test = try TestVault.locked()
        let vault = test.another()
        #expect(reason { try vault.rotate() } == .authenticationFailed)
        try vault.rotate(authority: .old)
        #expect(try vault.lockState == .beforeFirstUnlock)
        try vault.unlock(.old)
        #expect(try vault.engine.text(.find(.whenUnlockedThisDeviceOnly)) == "value")
        try test.forget()
    }

    @Test func rotationTwice_makesAThirdGeneration() throws {
        let test = try Self.vault(items: 2)
        let vault = test.another()
        try vault.rotate()
        try vault.rotate()
        #expect(try Self.generations(vault) == [3])
    }
}
