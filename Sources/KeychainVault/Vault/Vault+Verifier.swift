// SPDX-License-Identifier: Apache-2.0
// Checking a user's secret against the vault.

import Foundation
import KeychainCrypto
public import KeychainEngine
public import SecretMemory

extension Vault {
    public var userVerifier: (any UserVerifier)? { self }

    /// A recovery key counts: it proves the user, and is the only proof if the last passphrase is removed.
    public func isPasscodeSet() throws(KeychainError) -> Bool {
        guard try openSession() != nil else { return false }
        return try currentSession().keybag.hasPerson
    }

    public func userKey(provenBy secret: SecretBytes) throws(KeychainError) -> SecretBytes {
        let session = try currentSession()
        guard session.keybag.hasPerson else { throw .passcodeNotSet }
        let environment = try environment()
        var protectors: [any Protector] = []
        if case .key(let key) = RecoveryKey.read(secret) { protectors.append(RecoveryKeyProtector(secret: key)) }
        if let passphrase = try Self.passphrase(secret, environment) { protectors.append(passphrase) }
        for protector in protectors {
            let authority = try session.firstOpening { (keybag) throws(KeychainError) in
                try keybag.authority(protector, environment.deviceKey)
            }
            if let key = authority?.userKey { return key }
        }
        throw KeychainError(.authenticationFailed, "This is neither a passphrase nor the recovery key of this vault.")
    }

    /// - Returns: `nil` for text that cannot be a passphrase: the user has mistyped, and may try again.
    private static func passphrase(
        _ secret: SecretBytes, _ environment: ProtectorEnvironment
    ) throws(KeychainError) -> (any Protector)? {
        do throws(KeychainError) {
            return try PassphraseProtector.make(secret, environment)
        } catch {
            guard error.reason == .invalidParameter else { throw error }
            return nil
        }
    }

    public func applicationKey(from password: SecretBytes) throws(KeychainError) -> SecretBytes {
        try create()
        let salt = try currentSession().keybag.vaultID
        do throws(PassphraseFailure) {
            // The cost is part of the format: another cost would give another key.
            return try PassphraseDerivation.keys(fromBytes: password, salt: salt.bytes, .floor).wrapping
        } catch {
            guard error != .outOfMemory else {
                throw KeychainError(
                    .unavailable, "Deriving the key of the password needs 128 MiB. Free some memory.")
            }
            throw KeychainError(.invalidParameter, "An application password has 1 to 1024 bytes.")
        }
    }
}
