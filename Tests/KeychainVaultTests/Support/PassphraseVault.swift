// SPDX-License-Identifier: Apache-2.0
// Vaults that open with a passphrase.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import SecretMemory

@testable import KeychainVault

extension VaultSettings {
    /// A tenth of a second for a passphrase: these tests are not about guessing.
    static var cheap: VaultSettings {
        var settings = patient
        settings.scryptCost = .cheap
        settings.rotationBatch = 8
        return settings
    }
}

extension ProtectorSecret {
    /// The exerciser knows the first two of them.
    static let old = passphrase("the old passphrase")
    static let new = passphrase("the new passphrase")

    static func passphrase(_ text: String) -> ProtectorSecret {
        ProtectorSecret(PassphraseProtector.kind, SecretBytes(text: text))
    }

    static func keyFile(_ fill: UInt8 = 7) -> ProtectorSecret {
        ProtectorSecret(KeyFileProtector.kind, SecretBytes(bytes: Array(repeating: fill, count: 32)))
    }

    static func recoveryKey(_ text: SecretBytes) -> ProtectorSecret {
        ProtectorSecret(RecoveryKeyProtector.kind, text)
    }

    static let deviceKey = ProtectorSecret(DeviceKeyProtector.kind)
}

extension TestVault {
    /// The same vault as another process would see it.
    func another(_ settings: VaultSettings = .cheap) -> Vault { Vault(location, settings) }

    /// Gives the vault the old passphrase and takes the device key's slot away, so that it is locked.
    func protect() throws {
        isProtected.withLock { $0 = true }
        let vault = another()
        try vault.addProtector(.old)
        try vault.removeProtector(vault.slot(DeviceKeyProtector.kind), authority: .old)
        try self.vault.close()
    }

    /// With the old passphrase, locked, holding one item in each class that needs no passcode, named like its class.
    static func locked() throws -> TestVault {
        let test = try TestVault()
        for accessibility in Accessibility.allCases where accessibility != .whenPasscodeSetThisDeviceOnly {
            try test.engine.add(.item(accessibility))
        }
        try test.protect()
        return test
    }

    /// Takes what the kernel keeps of this vault away.
    func forget() throws { try another().lock(forgettingFirstUnlock: true) }
}

extension Query {
    /// The item of a class.
    static func item(_ accessibility: Accessibility) -> Query {
        var query = genericPassword("exerciser", accessibility.rawValue, value: "value")
        query.attributes[.accessible] = .string(accessibility.rawValue)
        return query
    }

    static func find(_ accessibility: Accessibility) -> Query {
        genericPassword("exerciser", accessibility.rawValue)
    }
}

extension Vault {
    var engine: Engine { Engine(store: self) }

    func slot(_ kind: ProtectorKind) throws -> UUID {
        guard let slot = try status().slots.first(where: { $0.kind == kind }) else { throw KeychainError.noSuchSlot }
        return slot.id
    }
}
