// SPDX-License-Identifier: Apache-2.0
// What remembers the state of a vault: it may be lost, old or forged.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

extension HeadAttackTests {
    @Test func stateFolder_deleted_theKernelStillRemembers() throws {
        guard KernelUnlockCache.isUsable else { return print("skipped: the kernel keeps no keys for this process") }
        var settings = VaultSettings.cheap
        settings.anchors = [.file, .kernel]
        let test = try TestVault(settings)
        defer { Self.removeKernelAnchor(test) }
        try Self.add(test, 1)
        try test.vault.close()
        let old = try Self.copy(test)
        try Self.add(test, 2)
        try Self.putBack(old, test)
        try FileManager.default.removeItem(atPath: test.location.stateFolder)
        try Self.expectReadOnly(test, [.older(changes: 1)], items: 1, settings)
        try Self.expectAcceptedInOneStep(test, [.older(changes: 1)], settings)
    }

    private static func removeKernelAnchor(_ test: TestVault) {
        guard let id = try? test.another().currentSession().keybag.vaultID else { return }
        let name = "swift-keychain:seen:" + Anchor.Place(test.location, vaultID: id).name
        if let key = try? KernelKeyring.find(name) { try? KernelKeyring.remove(key) }
    }

    /// An attacker who can do this can restore the earlier state: the limit that Docs/THREATS.md names.
    @Test func stateFolderAndVault_putBackTogether_areNotNoticed() throws {
        let test = try Self.vaultWithThreeItems()
        let old = try test.files()
        try Self.add(test, 4)
        try Self.putBack(old.filter { $0.key == test.databaseFile }, test)
        for (path, bytes) in old where path.hasPrefix(test.location.stateFolder) { try test.place(bytes, at: path) }
        #expect(try test.another().headFindings(wholeVault: true) == [])
    }

    @Test(arguments: ["", "short", String(repeating: "x", count: 104), String(repeating: "x", count: 5000)])
    func stateFile_thatIsNoAnchor_countsAsNoneAndIsReplaced(_ content: String) throws {
        let test = try Self.vaultWithThreeItems()
        let file = try #require(test.files().keys.first { $0.hasPrefix(test.location.stateFolder) })
        try Data(content.utf8).write(to: URL(fileURLWithPath: file))
        #expect(try test.another().headFindings() == [])
        try test.another().engine.add(.genericPassword("service", "new", value: "v"))
        #expect(try !test.another().currentSession().anchors.read().records.isEmpty)
    }

    /// Otherwise everyone who can write the state folder could make the vault read-only.
    @Test func stateFile_whoseSequenceWasRaisedWithoutTheKey_countsAsNone() throws {
        let test = try Self.vaultWithThreeItems()
        let file = try #require(test.files().keys.first { $0.hasPrefix(test.location.stateFolder) })
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let lastByteOfTheSequence = Anchor.length - 32 - 1
        bytes[lastByteOfTheSequence] = .max
        try bytes.write(to: URL(fileURLWithPath: file))
        #expect(try test.another().headFindings() == [])
        try test.another().engine.add(.genericPassword("service", "new", value: "v"))
    }

    @Test func stateFile_ofAnotherFolder_saysNothing() throws {
        let (test, other) = (try Self.vaultWithThreeItems(), try TestVault())
        try test.vault.close()
        let old = try test.files().filter { $0.key.hasSuffix("vault.db") || $0.key.hasSuffix("device.key") }
        try Self.add(test, 4)
        for (path, bytes) in old {
            try other.place(bytes, at: path.replacingOccurrences(of: test.root, with: other.root))
        }
        for (path, bytes) in try test.files() where path.hasPrefix(test.location.stateFolder) {
            try other.place(bytes, at: path.replacingOccurrences(of: test.root, with: other.root))
        }
        #expect(try other.another().headFindings(wholeVault: true) == [])
        try other.another().engine.add(.genericPassword("service", "new", value: "v"))
    }

    @Test func stateFolder_thatCannotBeMade_isDoneWithout() throws {
        let temporary = try TemporaryFolder("keychain-test")
        defer { withExtendedLifetime(temporary) {} }
        let root = temporary.path
        try Data().write(to: URL(fileURLWithPath: root + "/file"))
        let location = try VaultLocation(
            folder: root + "/vault", deviceKeyFile: root + "/device.key", stateFolder: root + "/file/state")
        try Vault(location).engine.add(.genericPassword("service", "account", value: "v"))
        #expect(try Vault(location).headFindings(wholeVault: true) == [])
    }

    // MARK: - Locked vaults

    @Test func lockedVault_putBack_refusesAChangeOfItsProtectors() throws {
        let test = try TestVault.locked()
        defer { try? test.forget() }
        try test.another().addProtector(.keyFile(1), authority: .old)
        let old = try Self.copy(test)
        try test.another().addProtector(.keyFile(2), authority: .old)
        try Self.putBack(old, test)
        #expect(reason { try test.another().addProtector(.keyFile(3), authority: .old) } == .rolledBack)
        let vault = test.another()
        try vault.unlock(.old)
        #expect(try vault.accept() == [.older(changes: 1)])
        try test.another().addProtector(.keyFile(3), authority: .old)
    }
}
