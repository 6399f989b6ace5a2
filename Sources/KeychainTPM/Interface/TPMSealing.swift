// SPDX-License-Identifier: Apache-2.0
// Secrets that only one TPM opens.

#if TPM
    import Crypto
    public import Foundation
    public import KeychainEngine
    public import SecretMemory

    /// Seals secrets so that only this TPM opens them again, with a PIN if one was given.
    ///
    /// ```swift
    /// let sealing = TPMSealing()
    /// let object = try sealing.seal(.random(count: 32), pin: pin)
    /// let secret = try sealing.unseal(object, pin: pin)
    /// ```
    ///
    /// The TPM counts wrong PINs and locks itself after a number that its owner sets. It also counts a power failure as a wrong
    /// PIN if a PIN was used since its last start. While it is locked, it refuses right PINs too. A secret without a PIN is not
    /// affected.
    ///
    /// A vault uses it for its protector of the kind `tpm2`:
    ///
    /// ```swift
    /// var settings = try VaultSettings.fromEnvironment(ProcessEnvironment.current)
    /// settings.sealer = TPMSealing()
    /// let vault = Vault.at(try .fromEnvironment(ProcessEnvironment.current), settings)
    /// try vault.unlock(ProtectorSecret(.tpm, pin))
    /// ```
    ///
    /// See ``TPMToken`` for the connection, and for what several programs must know.
    ///
    /// Does not protect a secret without a PIN against programs that may use the TPM and read the object. Does not protect any
    /// secret against losing the TPM: keep another way to what it opens.
    public struct TPMSealing: SecretSealer {
        private let device: Device

        /// Does not connect yet.
        ///
        /// - Parameters:
        ///   - connection: The name of a TPM for tpm2-tss (TCTI).
        ///   - timeout: How long each command may take.
        public init(connection: String = TPMToken.defaultConnection, timeout: Duration = .seconds(60)) {
            device = Device(TCTITransport(name: connection, timeout: timeout), timeout: timeout)
        }

        package init(
            _ transport: any TPMTransport, patience: Duration = .seconds(10), timeout: Duration = .seconds(60)
        ) {
            device = Device(transport, patience: patience, timeout: timeout)
        }

        /// - Parameters:
        ///   - secret: 1 to 128 bytes.
        ///   - pin: At least one byte; `nil`: without a PIN.
        ///   - sibling: An object that the same TPM sealed; `nil`: whichever TPM is reached is trusted without proof.
        /// - Returns: An object to store. It is useless without the TPM.
        /// - Throws: `invalidParameter`; `ofAnotherDevice` if the TPM did not seal `sibling`, or was cleared since; `corrupt` if
        ///   that is damaged; `unavailable` or `timedOut` if the TPM cannot be used; `busy`.
        public func seal(
            _ secret: SecretBytes, pin: SecretBytes? = nil, like sibling: Data? = nil
        ) throws(KeychainError) -> Data {
            guard Self.lengths.contains(secret.count) else {
                throw KeychainError(
                    .invalidParameter,
                    "A TPM seals \(Self.lengths.lowerBound) to \(Self.lengths.upperBound) bytes.")
            }
            let authorization = try Self.authorization(pin)
            var name: [UInt8]?
            if let sibling { name = try WrappedObject(sibling, oneOf: [.openSecret, .guardedSecret]).storageKeyName }
            do throws(TPMFailure) {
                return try device.converse(name) { (conversation) throws(TPMFailure) in
                    try conversation.create(
                        pin == nil ? .openSecret : .guardedSecret, authorization: authorization, holding: secret)
                }.data
            } catch {
                throw SealingFailure(failure: error, lockout: nil).error
            }
        }

        /// - Parameter pin: The PIN that the secret was sealed with; `nil` if there was none.
        /// - Throws: `authenticationFailed` for a wrong or missing PIN; `unavailable` while the TPM is locked, and if it cannot be
        ///   used; `ofAnotherDevice` for another TPM or after it was cleared; `corrupt`; `timedOut`; `busy`.
        public func unseal(_ object: Data, pin: SecretBytes? = nil) throws(KeychainError) -> SecretBytes {
            let object = try WrappedObject(object, oneOf: [.openSecret, .guardedSecret])
            let authorization = try Self.authorization(for: object, pin)
            do throws(SealingFailure) {
                return try unseal(object, authorization)
            } catch {
                throw error.error
            }
        }

        // MARK: - Helpers

        /// A TPM of 2016 seals this much.
        private static let lengths = 1...128

        private func unseal(
            _ object: WrappedObject, _ authorization: SecretBytes?
        ) throws(SealingFailure) -> SecretBytes {
            var lockout: Lockout?
            do throws(TPMFailure) {
                return try device.converse(object.storageKeyName) { (conversation) throws(TPMFailure) in
                    var loaded = try conversation.load(object)
                    loaded.authorization = authorization
                    do throws(TPMFailure) {
                        return try Self.unseal(loaded, conversation)
                    } catch {
                        lockout = Lockout(after: error, conversation)
                        throw error
                    }
                }
            } catch {
                throw SealingFailure(failure: error, lockout: lockout)
            }
        }

        private static func unseal(
            _ loaded: Conversation.Loaded, _ conversation: Conversation
        ) throws(TPMFailure) -> SecretBytes {
            var response = try conversation.run(.unseal, on: loaded, .encryptedResponse, [])
            defer { response.parameters.wipe() }
            return try read(response.parameters) { (reader) throws(MalformedMessage) in
                var secret = try reader.sized()
                defer { secret.wipe() }
                try reader.end()
                guard lengths.contains(secret.count) else { throw MalformedMessage() }
                return secret.withUnsafeBytes { SecretBytes(copying: $0) }
            }
        }

        /// A wrong try costs one, so what cannot be right is not tried.
        private static func authorization(
            for object: WrappedObject, _ pin: SecretBytes?
        ) throws(KeychainError) -> SecretBytes? {
            guard object.area.kind == .guardedSecret else {
                guard pin == nil else {
                    throw KeychainError(.invalidParameter, "The secret in the TPM has no PIN. Open it without one.")
                }
                return nil
            }
            guard let pin else {
                throw KeychainError(.authenticationFailed, "The secret in the TPM has a PIN. Give it.")
            }
            return try authorization(pin)
        }

        /// What the TPM compares: of a PIN of any length, its hash. Without zeros at the end, because TPMs ignore them.
        private static func authorization(_ pin: SecretBytes?) throws(KeychainError) -> SecretBytes? {
            guard let pin else { return nil }
            guard pin.count > 0 else { throw KeychainError(.invalidParameter, "A PIN has at least one character.") }
            var hash = SHA256()
            hash.update(data: Array("swift-keychain TPM PIN\0".utf8))
            pin.withUnsafeBytes { hash.update(bufferPointer: $0) }
            return hash.finalize().withUnsafeBytes { digest in
                let end = digest.lastIndex { $0 != 0 } ?? 0
                return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: digest[...end]))
            }
        }
    }

    /// A failure to open or seal a secret, and how many wrong PINs the TPM has counted.
    private struct SealingFailure: Error {
        let failure: TPMFailure
        let lockout: Lockout?

        var error: KeychainError {
            switch failure {
            case .refused(let code, .unseal) where code.isWrongSecret:
                KeychainError(.authenticationFailed, "The PIN is wrong. \(lockout?.triesLeft ?? "Try again.")")
            case .refused(let code, _) where code.isLockedOut:
                KeychainError(
                    .unavailable,
                    "The TPM is locked after too many wrong PINs or power failures. "
                        + (lockout?.whenToTryAgain ?? "Try again later."))
            case .refused(let code, .load) where code.isDamage: .damagedObject
            case .ofAnotherDevice:
                KeychainError(
                    .ofAnotherDevice,
                    "The secret was sealed by another TPM, or by this one before it was cleared. Open the vault with the "
                        + "recovery key or the passphrase, and seal a new secret: keychainctl protect change tpm2")
            default: failure.error
            }
        }
    }

    extension Lockout {
        fileprivate init?(after failure: TPMFailure, _ conversation: Conversation) {
            guard case .refused(let code, _) = failure, code.isWrongSecret || code.isLockedOut else { return nil }
            self.init(conversation)
        }
    }
#endif
