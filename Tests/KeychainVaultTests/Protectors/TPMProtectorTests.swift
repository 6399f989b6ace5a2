// SPDX-License-Identifier: Apache-2.0
// What a TPM seals as a way to open a vault. The tests of KeychainTPM are about real ones.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite struct TPMProtectorTests {
    private static let pin = ProtectorSecret(.tpm, SecretBytes(text: "2580"))
    private static let wrongPIN = ProtectorSecret(.tpm, SecretBytes(text: "2581"))
    private static let withoutPIN = ProtectorSecret(.tpm)

    private let sealer = FakeSealer()
    private let test: TestVault

    /// Locked, with a passphrase.
    init() throws { test = try TestVault.locked() }

    private var settings: VaultSettings {
        var settings = VaultSettings.cheap
        settings.sealer = sealer
        return settings
    }

    private var vault: Vault { test.another(settings) }

    private func opens(_ secret: ProtectorSecret) throws -> Bool {
        let vault = vault
        try vault.unlock(secret)
        defer { do { try test.forget() } catch { Issue.record(error) } }
        return try vault.engine.text(.find(.whenUnlocked)) == "value"
    }

    @Test(arguments: [withoutPIN, pin])
    func tpm_added_opensTheVaultWhenItIsNamed(secret: ProtectorSecret) throws {
        try vault.addProtector(secret, authority: .old)
        #expect(try vault.protectors.map(\.needsPIN) == [false, secret.secret != nil])
        #expect(try vault.lockState == .beforeFirstUnlock)
        #expect(sealer.openings == 0)
        #expect(try opens(secret))
        #expect(try opens(.old))
    }

    @Test func pin_thatIsWrongOrMissing_opensNothing() throws {
        try vault.addProtector(Self.pin, authority: .old)
        for secret in [Self.wrongPIN, Self.withoutPIN] {
            #expect(reason { try vault.unlock(secret) } == .authenticationFailed)
        }
    }

    @Test(arguments: [4001, 4064, 70_000])
    func objectOfATPM_thatIsTooLong_isRefusedAndNothingChanges(length: Int) throws {
        sealer.setLength(length)
        #expect(reason { try vault.addProtector(Self.withoutPIN, authority: .old) } == .unsupported)
        #expect(try opens(.old))
    }

    @Test func longestObjectOfATPM_opensTheVault() throws {
        sealer.setLength(4000)
        try vault.addProtector(Self.withoutPIN, authority: .old)
        #expect(try opens(Self.withoutPIN))
    }

    // MARK: - Characters of PINs

    private func typed(_ bytes: [UInt8]) -> ProtectorSecret {
        ProtectorSecret(.tpm, SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) })
    }

    @Test func pin_typedInAnotherFormOfUnicode_opensTheVault() throws {
        let (composed, decomposed) = (Array("\u{E9}1".utf8), Array("e\u{301}1".utf8))
        try #require(composed != decomposed)
        try vault.addProtector(typed(decomposed), authority: .old)
        for form in [composed, decomposed] { #expect(try opens(typed(form))) }
    }

    @Test func pin_thatIsNotText_isTakenAsItIs() throws {
        try vault.addProtector(typed([0xFF, 0, 0x65, 0xCC, 0x81]), authority: .old)
        #expect(try opens(typed([0xFF, 0, 0x65, 0xCC, 0x81])))
        #expect(reason { try vault.unlock(typed([0xFF, 0, 0xC3, 0xA9])) } == .authenticationFailed)
    }

    @Test(arguments: [[], [UInt8](repeating: 0x31, count: 1025), [UInt8](repeating: 0xFF, count: 1025)])
    func pin_ofNoOrTooManyBytes_isRefused(bytes: [UInt8]) {
        #expect(reason { try vault.addProtector(typed(bytes), authority: .old) } == .invalidParameter)
    }

    // MARK: - Never alone

    @Test func tpm_addedWhereThereIsNoVault_makesNone() throws {
        let test = try TestVault()
        #expect(reason { try test.another(settings).addProtector(Self.withoutPIN) } == .unsupported)
        #expect(!FileManager.default.fileExists(atPath: test.location.databaseFile))
    }

    @Test func tpm_addedBesideTheDeviceKeyAlone_isRefused() throws {
        let test = try TestVault()
        try test.engine.add(.item(.always))
        #expect(reason { try test.another(settings).addProtector(Self.withoutPIN) } == .unsupported)
        #expect(sealer.sealings == 0)
    }

    @Test func secondTPM_isRefused() throws {
        try vault.addProtector(Self.withoutPIN, authority: .old)
        #expect(reason { try vault.addProtector(Self.pin, authority: .old) } == .unsupported)
    }

    @Test func lastSecretOfAPerson_besideATPM_isNotRemoved() throws {
        try vault.addProtector(Self.withoutPIN, authority: .old)
        let passphrase = try vault.slot(PassphraseProtector.kind)
        for keepsKeys in [false, true] {
            let refusal = failure {
                try vault.removeProtector(passphrase, erasingItems: true, keepingKeys: keepsKeys, authority: .old)
            }
            #expect(refusal?.reason == .unsupported)
            #expect(refusal?.message.contains("TPM") == true)
        }
        try vault.addProtector(.recoveryKey(Vault.makeRecoveryKey()), authority: .old)
        #expect(
            reason { try vault.removeProtector(passphrase, erasingItems: true, keepingKeys: true, authority: .old) }
                == nil)
    }

    // MARK: - Removing

    @Test func otherProtector_removed_leavesATPMThatOpensTheNewKeys() throws {
        try vault.addProtector(Self.withoutPIN, authority: .old)
        try vault.addProtector(.keyFile(), authority: .old)
        #expect(try vault.removeProtector(vault.slot(KeyFileProtector.kind), authority: .old))
        #expect(sealer.sealings == 2)
        #expect(try opens(Self.withoutPIN))
    }

    /// The root key must not be sealed by somebody's TPM on the bus.
    @Test func otherProtector_removedWhileTheTPMIsReplaced_isKept() throws {
        try vault.addProtector(Self.withoutPIN, authority: .old)
        try vault.addProtector(.keyFile(), authority: .old)
        sealer.replaceBeforeSealing()
        let slot = try vault.slot(KeyFileProtector.kind)
        #expect(reason { try vault.removeProtector(slot, authority: .old) } == .ofAnotherDevice)
        #expect(sealer.sealings == 1)
        #expect(try vault.slot(KeyFileProtector.kind) == slot)
    }

    @Test func otherProtector_removedBesideATPMThatIsGoneOrWantsAPIN_namesIt() throws {
        try vault.addProtector(Self.pin, authority: .old)
        try vault.addProtector(.keyFile(), authority: .old)
        let slot = try vault.slot(KeyFileProtector.kind)
        let refusal = failure { try vault.removeProtector(slot, authority: .old) }
        #expect(refusal?.reason == .unavailable)
        #expect(refusal?.message.contains("the TPM does not open its slot") == true)
        #expect(try !vault.removeProtector(slot, keepingKeys: true, authority: .old))
        #expect(try opens(Self.pin))
    }

    @Test func tpm_thatIsGone_isRemoved() throws {
        try vault.addProtector(Self.withoutPIN, authority: .old)
        sealer.clear()
        #expect(try vault.removeProtector(vault.slot(TPMProtector.kind), authority: .old))
        #expect(reason { try vault.unlock(Self.withoutPIN) } == .authenticationFailed)
    }

    // MARK: - Other TPMs, and programs without one

    @Test func tpm_thatWasCleared_isOfAnotherDevice_untilItIsChanged() throws {
        try vault.addProtector(Self.withoutPIN, authority: .old)
        sealer.clear()
        #expect(reason { try vault.unlock(Self.withoutPIN) } == .ofAnotherDevice)
        #expect(try opens(.old))
        try vault.changeProtector(vault.slot(TPMProtector.kind), to: Self.pin, authority: .old)
        #expect(try opens(Self.pin))
    }

    /// This program writes one slot at most. Others may write more.
    @Test func slotsOfSeveralTPMs_areTriedUntilOneOpens() throws {
        let protector = TPMProtector(sealer: sealer, pin: nil)
        let deviceKey = try DeviceKey.loadOrCreate(test.location.deviceKeyFile, timeout: .testLimit)
        var keybag = try Keybag.make(protector, deviceKey: deviceKey, at: Date())
        let authority = try #require(try keybag.authority(protector, deviceKey))
        sealer.clear()
        #expect(reason { _ = try keybag.opening(protector, deviceKey) } == .ofAnotherDevice)
        keybag.slots.append(try protector.wrap(authority.rootKey, vaultID: keybag.vaultID, at: Date()))
        keybag = try keybag.signed(authority)
        #expect(try keybag.opening(protector, deviceKey)?.slot == keybag.slots[1])
    }

    @Test func program_withoutTPM_saysSoAndKeepsTheSlot() throws {
        try vault.addProtector(Self.withoutPIN, authority: .old)
        let other = test.another()
        #expect(reason { try other.unlock(Self.withoutPIN) } == .unavailable)
        try other.addProtector(.keyFile(), authority: .old)
        #expect(try opens(Self.withoutPIN))
    }

    @Test func slot_withParametersOfAnyLength_opensNothing() throws {
        let protector = TPMProtector(sealer: sealer, pin: nil)
        let (key, id) = (SecretBytes.random(count: 32), UUID())
        var slot = try protector.wrap(key, vaultID: id, at: Date())
        let parameters = slot.parameters
        for count in 0..<parameters.count {
            slot.parameters = parameters.prefix(count)
            var opened: SecretBytes?
            let refusal = reason { opened = try protector.unwrap(slot, vaultID: id) }
            #expect(refusal == (count > 33 ? .corrupt : nil))
            #expect(opened == nil)
        }
        slot.parameters = parameters
        slot.parameters[0] ^= 1
        #expect(reason { _ = try protector.unwrap(slot, vaultID: id) } == .corrupt)
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func slot_readByTheReader_opens() throws {
        try vault.addProtector(Self.withoutPIN, authority: .old)
        let path = test.root + "/secret"
        let secret = try #require(sealer.secrets.first)
        try test.place(secret.withUnsafeBytes { Data($0) }, at: path)
        let reading = try FormatReader.read(test.location, ["--tpm-secret", path])
        #expect(reading.status == 0, "\(reading.errors)")
        #expect(reading.items.count == Accessibility.allCases.count - 1)
    }
}

/// Keeps what it seals.
private final class FakeSealer: SecretSealer {
    private struct State {
        var sealed: [Data: (secret: SecretBytes, pin: SecretBytes?)] = [:]
        var known: Set<Data> = []
        var openings = 0
        var secrets: [SecretBytes] = []
        var isReplacedBeforeSealing = false
        var length = 100
    }

    private let state = Guarded(State())

    var openings: Int { state.withLock { $0.openings } }
    var sealings: Int { state.withLock { $0.known.count } }
    var secrets: [SecretBytes] { state.withLock { $0.secrets } }

    func clear() { state.withLock { $0.sealed = [:] } }

    /// Another one comes in its place before it seals again.
    func replaceBeforeSealing() { state.withLock { $0.isReplacedBeforeSealing = true } }

    /// The bytes of what it seals.
    func setLength(_ length: Int) { state.withLock { $0.length = length } }

    func seal(_ secret: SecretBytes, pin: SecretBytes?, like sibling: Data?) throws(KeychainError) -> Data {
        let object = SecretBytes.random(count: state.withLock { $0.length }).withUnsafeBytes { Data($0) }
        try state.withLock { (state) throws(KeychainError) in
            if state.isReplacedBeforeSealing { state.sealed = [:] }
            if let sibling, state.sealed[sibling] == nil { throw KeychainError(.ofAnotherDevice, "replaced") }
            state.sealed[object] = (secret, pin)
            state.known.insert(object)
            state.secrets.append(secret)
        }
        return object
    }

    func unseal(_ object: Data, pin: SecretBytes?) throws(KeychainError) -> SecretBytes {
        try state.withLock { (state) throws(KeychainError) in
            state.openings += 1
            guard state.known.contains(object) else { throw KeychainError(.corrupt, "unknown") }
            guard let sealed = state.sealed[object] else { throw KeychainError(.ofAnotherDevice, "cleared") }
            switch (sealed.pin, pin) {
            case (nil, nil): return sealed.secret
            case (let expected?, let pin?) where pin.holdsSameBytes(as: expected): return sealed.secret
            default: throw KeychainError(.authenticationFailed, "wrong")
            }
        }
    }
}
