// SPDX-License-Identifier: Apache-2.0
// What the vault says to a person's secret.

import Foundation
import KeychainCrypto
public import KeychainEngine
public import SecretMemory

extension Vault {
    public var userVerifier: (any UserVerifier)? { self }

    /// A recovery key counts: it proves the user, and is all that does if the last passphrase is removed.
    public func isPasscodeSet() throws(KeychainError) -> Bool {
        guard try openSession() != nil else { return false }
        return try currentSession().keybag.hasPerson
    }

    public func userKey(provenBy secret: SecretBytes) throws(KeychainError) -> SecretBytes {
        let session = try currentSession()
        guard session.keybag.hasPerson else { throw .passcodeNotSet }
        let surroundings = try surroundings()
        var protectors: [any Protector] = []
        if case .key(let key) = RecoveryKey.read(secret) { protectors.append(RecoveryKeyProtector(secret: key)) }
        if let passphrase = try Self.passphrase(secret, surroundings) { protectors.append(passphrase) }
        for protector in protectors {
            let authority = try session.firstOpening { (keybag) throws(KeychainError) in
                try keybag.authority(protector, surroundings.deviceKey)
            }
            if let key = authority?.userKey { return key }
        }
        throw KeychainError(.authenticationFailed, "That is neither a passphrase of this vault nor its recovery key.")
    }

    /// - Returns: `nil` for what cannot be a passphrase: a person has mistyped, and may try again.
    private static func passphrase(
        _ secret: SecretBytes, _ surroundings: Surroundings
    ) throws(KeychainError) -> (any Protector)? {
        do throws(KeychainError) {
            return try PassphraseProtector.make(secret, surroundings)
        } catch {
            guard error.reason == .invalidParameter else { throw error }
            return nil
        }
    }

    public func applicationKey(from password: SecretBytes) throws(KeychainError) -> SecretBytes {
        try create()
        let salt = try currentSession().keybag.vaultID
        do throws(PassphraseFailure) {
            // The cost is part of the format: another one would give another key.
            return try PassphraseDerivation.keys(fromBytes: password, salt: salt.bytes, .floor).wrapping
        } catch {
            guard error != .outOfMemory else {
                throw KeychainError(
                    .unavailable, "The key of the password takes 128 MiB to derive. Free some memory.")
            }
            throw KeychainError(.invalidParameter, "An application password has 1 to 1024 bytes.")
        }
    }
}
