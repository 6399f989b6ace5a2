// SPDX-License-Identifier: Apache-2.0
// Protectors whose secret is a file: credentials and key files.

import Foundation
import KeychainEngine
import SecretMemory
import Testing

@testable import KeychainVault

@Suite struct FoundKeyTests {
    /// A credentials folder as systemd makes it, and a vault that opens with what is in it and a passphrase.
    private func vaultWithCredential(_ bytes: Data = Data(repeating: 3, count: 32)) throws -> (TestVault, VaultSettings)
    {
        let test = try TestVault.locked()
        var settings = VaultSettings.cheap
        let folder = test.root + "/credentials"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        settings.credentialsFolder = folder
        try place(bytes, at: folder + "/swift-keychain.key", mode: 0o400)
        return (test, settings)
    }

    private static let credential = ProtectorSecret(CredentialProtector.kind)

    @Test func credential_added_opensTheVaultForTheServiceAlone() throws {
        let (test, settings) = try vaultWithCredential()
        try test.another(settings).addProtector(Self.credential, authority: .old)
        #expect(try test.another(settings).lockState == .unlocked)
        #expect(try test.another(settings).engine.text(.find(.whenUnlocked)) == "value")
        #expect(try test.another().lockState == .beforeFirstUnlock)
    }

    @Test func credential_ofAnotherService_opensNothing() throws {
        let (test, settings) = try vaultWithCredential()
        try test.another(settings).addProtector(Self.credential, authority: .old)
        let path = try #require(settings.credentialsFolder) + "/swift-keychain.key"
        try FileManager.default.removeItem(atPath: path)
        try place(Data(repeating: 4, count: 32), at: path, mode: 0o400)
        #expect(try test.another(settings).lockState == .beforeFirstUnlock)
    }

    @Test(arguments: [0o440, 0o404, 0o444, 0o660, 0o420])
    func credential_openToOthers_isRefused(mode: Int) throws {
        let (test, settings) = try vaultWithCredential()
        chmod(try #require(settings.credentialsFolder) + "/swift-keychain.key", mode_t(mode))
        #expect(reason { _ = try test.another(settings).lockState } == .unsafeLocation)
    }

    @Test(arguments: [0, 1, 31, 4097, 100_000])
    func credential_ofAnUnlikelyLength_isRefused(length: Int) throws {
        let (test, settings) = try vaultWithCredential(Data(count: length))
        let found = reason { _ = try test.another(settings).lockState }
        #expect(found == .corrupt || found == .invalidParameter)
    }

    @Test func credential_thatIsAPipeOrALink_isRefusedWithoutHanging() throws {
        let (test, settings) = try vaultWithCredential()
        let path = try #require(settings.credentialsFolder) + "/swift-keychain.key"
        try FileManager.default.moveItem(atPath: path, toPath: path + ".real")
        mkfifo(path, 0o600)
        #expect(reason { _ = try test.another(settings).lockState } == .unsafeLocation)
        unlink(path)
        symlink(path + ".real", path)
        #expect(reason { _ = try test.another(settings).lockState } == .unsafeLocation)
    }

    @Test func credentialsFolder_withoutOurs_changesNothing() throws {
        let (test, settings) = try vaultWithCredential()
        unlink(try #require(settings.credentialsFolder) + "/swift-keychain.key")
        #expect(try test.another(settings).lockState == .beforeFirstUnlock)
    }

    @Test(arguments: [1, 31, 4097])
    func keyFile_ofAnUnlikelyLength_isRefused(length: Int) throws {
        let test = try TestVault()
        let secret = ProtectorSecret(KeyFileProtector.kind, .random(count: length))
        #expect(reason { try test.vault.addProtector(secret) } == .invalidParameter)
    }

    @Test func recoveryKey_typedWrongly_isToldFromAWrongOne() throws {
        let test = try TestVault()
        let text = Vault.makeRecoveryKey()
        try test.another().addProtector(.recoveryKey(text))
        var mistyped = text.bytes
        mistyped[0] = mistyped[0] == UInt8(ascii: "7") ? UInt8(ascii: "8") : UInt8(ascii: "7")
        #expect(
            reason { try test.another().unlock(.recoveryKey(SecretBytes(bytes: mistyped))) } == .invalidParameter)
        #expect(reason { try test.another().unlock(.recoveryKey(Vault.makeRecoveryKey())) } == .authenticationFailed)
        try test.another().unlock(.recoveryKey(SecretBytes(bytes: text.bytes.map { $0 | 0x20 })))
    }

    private func place(_ bytes: Data, at path: String, mode: mode_t) throws {
        try bytes.write(to: URL(fileURLWithPath: path))
        chmod(path, mode)
    }
}
