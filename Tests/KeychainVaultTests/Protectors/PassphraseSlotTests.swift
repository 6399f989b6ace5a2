// SPDX-License-Identifier: Apache-2.0
// The slot of a passphrase: wrong secrets, damage, and unacceptable numbers.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite struct PassphraseSlotTests {
    private let vaultID = UUID()
    private let key = SecretBytes.random(count: 32)

    private func protector(_ text: String, _ settings: VaultSettings = .cheap) throws -> any Protector {
        let location = try VaultLocation(folder: "/nowhere/vault", deviceKeyFile: "/nowhere/key/device.key")
        let environment = ProtectorEnvironment(location: location, deviceKey: nil, settings: settings)
        return try #require(try PassphraseProtector.make(SecretBytes(text: text), environment))
    }

    private func slot() throws -> Keybag.Slot {
        try protector("a passphrase").wrap(key, vaultID: vaultID, at: Date())
    }

    @Test func passphrase_opensItsSlotAndNoOther() throws {
        let slot = try slot()
        let opened = try #require(try protector("a passphrase").unwrap(slot, vaultID: vaultID))
        #expect(opened.bytes == key.bytes)
        #expect(try protector("another").unwrap(slot, vaultID: vaultID) == nil)
        #expect(try protector("a passphrase").unwrap(slot, vaultID: UUID()) == nil)
    }

    @Test func passphrase_spelledInTwoWays_isOne() throws {
        let slot = try protector("caf\u{E9}").wrap(key, vaultID: vaultID, at: Date())
        #expect(try protector("cafe\u{301}").unwrap(slot, vaultID: vaultID) != nil)
    }

    @Test(arguments: [[], Array(repeating: UInt8(97), count: 1025), [0xFF, 0xFE]] as [[UInt8]])
    func passphrase_thatIsNone_isRefused(bytes: [UInt8]) throws {
        let location = try VaultLocation(folder: "/nowhere/vault", deviceKeyFile: "/nowhere/key/device.key")
        let environment = ProtectorEnvironment(location: location, deviceKey: nil, settings: .cheap)
        #expect(
            reason { _ = try PassphraseProtector.make(SecretBytes(bytes: bytes), environment) } == .invalidParameter)
    }

    /// The right passphrase and a damaged slot are not a wrong passphrase.
    @Test func wrappedKey_damaged_isCorruptAndNotAWrongPassphrase() throws {
        var slot = try slot()
        slot.wrappedKey[20] ^= 1
        #expect(reason { _ = try protector("a passphrase").unwrap(slot, vaultID: vaultID) } == .corrupt)
        #expect(try protector("another").unwrap(slot, vaultID: vaultID) == nil)
    }

    /// The keybag's checksum distinguishes any damage in the file from a wrong passphrase, before anything is derived.
    @Test func slotInTheFile_withAnyByteFlipped_isCorrupt() throws {
        let test = try TestVault.locked()
        let original = try test.another().session().keybag
        try test.vault.close()
        let bytes = original.bytes
        for index in 30..<(30 + 27 + 48 + 92) {
            var damaged = bytes
            damaged[index] ^= 0x10
            #expect(throws: MalformedBytes.self) { try Keybag(bytes: damaged) }
        }
    }

    /// N ‖ r ‖ p, as bytes.
    static let hostileNumbers: [(UInt64, UInt32, UInt32)] = [
        (0, 8, 1), (1, 8, 1), (2, 8, 1), (1 << 14, 8, 1), ((1 << 17) - 1, 8, 1), ((1 << 17) + 1, 8, 1), (1 << 20, 8, 1),
        (1 << 31, 8, 1), (1 << 62, 8, 1), (1 << 63, 8, 1), (.max, 8, 1), (1 << 17, 0, 1), (1 << 17, 1, 1),
        (1 << 17, 9, 1), (1 << 17, .max, 1), (1 << 17, 8, 0), (1 << 17, 8, 5), (1 << 17, 8, .max), (0, 0, 0),
        (.max, .max, .max),
    ]

    @Test(arguments: hostileNumbers)
    func hostileNumbers_areRefusedBeforeAnyWork(rounds: UInt64, blockSize: UInt32, parallelism: UInt32) throws {
        var slot = try slotOfNumbers(rounds, blockSize, parallelism)
        expectNoDerivation {
            #expect(reason { _ = try protector("a passphrase").unwrap(slot, vaultID: vaultID) } == .corrupt)
            slot.parameters.append(0)
            #expect(reason { _ = try protector("a passphrase").unwrap(slot, vaultID: vaultID) } == .corrupt)
        }
    }

    private func slotOfNumbers(
        _ rounds: UInt64, _ blockSize: UInt32, _ parallelism: UInt32
    ) throws -> Keybag.Slot {
        var writer = ByteWriter(capacity: 48)
        writer.append(Data(repeating: 1, count: 32))
        writer.append(bigEndian: rounds)
        writer.append(bigEndian: blockSize)
        writer.append(bigEndian: parallelism)
        return Keybag.Slot(
            kind: 2, id: UUID(), created: 0, parameters: writer.data, commitment: Data(count: 32),
            wrappedKey: Data(count: 60))
    }

    /// A vault with an intact keybag and a hostile slot.
    @Test func hostileSlot_inAVault_isRefusedByUnlocking() throws {
        let test = try TestVault()
        try test.engine.add(.item(.always))
        try test.vault.changeKeybag(try test.vault.authority(nil)) { (keybag, authority) throws(KeychainError) in
            var next = keybag
            next.slots[0].kind = PassphraseProtector.kind.number
            next.slots[0].parameters = Data(repeating: 0xFF, count: 48)
            return try next.signed(authority)
        }
        #expect(reason { try test.another().unlock(.old) } == .corrupt)
    }

    @Test func slotBelowTheFloor_whenUnlocked_isRaisedToIt() throws {
        let test = try TestVault.locked()
        var settings = VaultSettings.cheap
        settings.scryptCost.floor.rounds = 1 << 16
        try test.another(settings).unlock(.old)
        let slot = try test.another().session().keybag.slots[0]
        #expect(Array(slot.parameters[32..<40]) == [0, 0, 0, 0, 0, 1, 0, 0])
        try test.another().unlock(.old)
        try test.forget()
    }

    @Test func slotBelowTheFloor_onAReadOnlyVault_unlocksAllTheSame() throws {
        guard getuid() != 0 else { return print("root writes everywhere: not tried") }
        let test = try TestVault.locked()
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: test.location.folder)
        defer { chmod(test.location.folder, 0o700) }
        var settings = VaultSettings.cheap
        settings.scryptCost.floor.rounds = 1 << 16
        try test.another(settings).unlock(.old)
    }

    @Test func passphrase_addedWithTheUsualSettings_costsTheFloorAtLeast() throws {
        let test = try TestVault()
        try test.vault.addProtector(.old)
        let slot = try #require(try test.vault.session().keybag.slots.last)
        let rounds = slot.parameters[32..<40].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        #expect(rounds >= 1 << 17)
        #expect(Array(slot.parameters[40...]) == [0, 0, 0, 8, 0, 0, 0, 1])
    }
}
