// SPDX-License-Identifier: Apache-2.0
// Signing, verifying, encrypting, decrypting and agreeing on secrets with key objects.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainEngine
    import KeychainKeys
    import SecretMemory

    /// An operation of `SecKeyIsAlgorithmSupported`.
    public enum SecKeyOperationType: CFIndex, Sendable, CaseIterable {
        /// `SecKeyCreateSignature`.
        case sign = 0
        /// `SecKeyVerifySignature`.
        case verify = 1
        /// `SecKeyCreateEncryptedData`.
        case encrypt = 2
        /// `SecKeyCreateDecryptedData`.
        case decrypt = 3
        /// `SecKeyCopyKeyExchangeResult`.
        case keyExchange = 4
    }

    /// Whether a key supports an algorithm for an operation. If it does not, the operation is `errSecParam`.
    public func SecKeyIsAlgorithmSupported(
        _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
    ) -> Bool {
        // An algorithm that nobody knows is one that no key supports; Apple's function has no error.
        guard let algorithm = try? algorithm.known(), let operation = KeyOperation(rawValue: operation.rawValue) else {
            return false
        }
        return switch key.half {
        case .publicHalf(let key): key.supports(algorithm, for: operation)
        case .privateHalf(let key): key.supports(algorithm, for: operation)
        case .onToken(let key): key.publicKey.privateHalfSupports(algorithm, for: operation)
        }
    }

    /// Signs a message or a digest with a private key.
    ///
    /// ```swift
    /// let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, &error) as Data?
    /// ```
    ///
    /// - Parameters:
    ///   - dataToSign: the message, or a digest of exactly the algorithm's length, as the algorithm's name says.
    ///   - error: receives an error that the caller releases: `errSecParam` for an algorithm that the key does not
    ///     support, or a digest of another length. For a key on a token also the errors of the token and of asking the
    ///     user, such as `errSecUserCanceled`, and `errSecItemNotFound` if its item is gone.
    public func SecKeyCreateSignature(
        _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
        _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> CFData? {
        reporting(to: error) { NSData(data: try key.sign(dataToSign as Data, algorithm.known())) }
    }

    /// Checks a signature with a public key.
    ///
    /// - Parameters:
    ///   - signedData: the message or the digest, as for `SecKeyCreateSignature`.
    ///   - error: receives an error that the caller releases: `errSecVerifyFailed` if the signature does not match,
    ///     `errSecParam` as for `SecKeyCreateSignature`.
    public func SecKeyVerifySignature(
        _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
        _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> Bool {
        let isValid: Bool? = reporting(to: error) {
            guard case .publicHalf(let key) = key.half else { throw KeyFailure.algorithmNotSupported }
            guard try key.isValidSignature(signature as Data, for: signedData as Data, algorithm.known()) else {
                throw KeychainError.wrongSignature
            }
            return true
        }
        return isValid ?? false
    }

    /// Encrypts data for the owner of a public key.
    ///
    /// ```swift
    /// let algorithm = SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA256AESGCM
    /// let ciphertext = SecKeyCreateEncryptedData(publicKey, algorithm, plaintext as CFData, &error) as Data?
    /// ```
    ///
    /// - Parameter error: receives an error that the caller releases: `errSecParam` for an algorithm that the key does
    ///   not support, or data that is too long for it.
    public func SecKeyCreateEncryptedData(
        _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData,
        _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> CFData? {
        reporting(to: error) {
            guard case .publicHalf(let key) = key.half else { throw KeyFailure.algorithmNotSupported }
            return NSData(data: try key.encrypt(plaintext as Data, algorithm.known()))
        }
    }

    /// Decrypts data with a private key.
    ///
    /// - Parameter error: receives an error that the caller releases: `errSecParam` for an algorithm that the key does
    ///   not support, and for data that was not encrypted for this key or was changed.
    public func SecKeyCreateDecryptedData(
        _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData,
        _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> CFData? {
        reporting(to: error) { NSData(try key.decrypt(ciphertext as Data, algorithm.known())) }
    }

    extension SecKey {
        fileprivate func sign(_ data: Data, _ algorithm: KeyAlgorithm) throws -> Data {
            if case .onToken(let key) = half { return try key.sign(data, algorithm) }
            return try loadedKey().sign(data, algorithm)
        }

        fileprivate func decrypt(_ ciphertext: Data, _ algorithm: KeyAlgorithm) throws -> SecretBytes {
            if case .onToken(let key) = half { return try key.decrypt(ciphertext, algorithm) }
            return try privateKey().decrypt(ciphertext, algorithm)
        }

        fileprivate func exchange(
            with peer: PublicKey, _ algorithm: KeyAlgorithm, size: Int? = nil, sharedInfo: Data = Data()
        ) throws -> SecretBytes {
            if case .onToken(let key) = half {
                return try key.exchange(with: peer, algorithm, size: size, sharedInfo: sharedInfo)
            }
            return try privateKey().exchange(with: peer, algorithm, size: size, sharedInfo: sharedInfo)
        }
    }

    extension NSData {
        /// A copy of a secret that belongs to the caller.
        fileprivate convenience init(_ secret: SecretBytes) {
            self.init(data: secret.withUnsafeBytes { Data($0) })
        }
    }

    // MARK: - Key exchange

    /// A parameter of `SecKeyCopyKeyExchangeResult`.
    public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
        private let name: String
        /// The key in the dictionary.
        public var rawValue: CFString { NSString(string: name) }
        /// The parameter with this key.
        public init(rawValue: CFString) { name = rawValue as String }

        /// How many bytes to derive (number); required by algorithms with a derivation.
        public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
        /// Additional input of the derivation (data).
        public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")

        /// Keys are texts, or values of this type, which Foundation turns into texts on Apple platforms only.
        fileprivate func entry(in parameters: NSDictionary) -> Any? { parameters[rawValue] ?? parameters[self] }
    }

    /// Agrees on a secret with the owner of another key of the same kind.
    ///
    /// - Parameters:
    ///   - publicKey: the public key of the other party.
    ///   - parameters: for algorithms with a derivation `requestedSize` and optionally `sharedInfo`
    ///     (``SecKeyKeyExchangeParameter``); not read for others.
    ///   - error: receives an error that the caller releases: `errSecDecode` for a key of another curve; otherwise
    ///     `errSecParam`.
    public func SecKeyCopyKeyExchangeResult(
        _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
        _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> CFData? {
        reporting(to: error) { try privateKey.exchange(with: publicKey, algorithm.known(), parameters) }
    }

    extension SecKey {
        fileprivate func exchange(
            with peer: SecKey, _ algorithm: KeyAlgorithm, _ parameters: NSDictionary
        ) throws -> NSData {
            guard isPrivate else { throw KeyFailure.algorithmNotSupported }
            guard case .publicHalf(let peer) = peer.half else { throw KeyFailure.malformed("public key") }
            guard case .keyExchangeX963 = algorithm else { return NSData(try exchange(with: peer, algorithm)) }
            let info = SecKeyKeyExchangeParameter.sharedInfo.entry(in: parameters)
            guard let size = SecKeyKeyExchangeParameter.requestedSize.entry(in: parameters), !(size is String),
                let size = keyNumber(size), info == nil || info is Data
            else { throw KeyFailure.invalidLength }
            return NSData(try exchange(with: peer, algorithm, size: size, sharedInfo: info as? Data ?? Data()))
        }
    }
#endif
