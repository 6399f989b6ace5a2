// SPDX-License-Identifier: Apache-2.0
// The public functions that generate keys.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainEngine

    /// Generates a pair of keys, stores the halves that are permanent, and returns the private key.
    ///
    /// ```swift
    /// let attributes: [CFString: Any] = [
    ///     kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
    ///     kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data("com.example.key".utf8)],
    /// ]
    /// let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error)
    /// ```
    ///
    /// - Parameters:
    ///   - parameters: `kSecAttrKeyType` (a constant, or the text 105 or 106 for Ed25519 or X25519) and
    ///     `kSecAttrKeySizeInBits`: 256, 384 or 521, for RSA a multiple of 128 from 1024 to 8192. The attributes of an
    ///     addition for both halves, and in `kSecPrivateKeyAttrs` and `kSecPublicKeyAttrs` those for one half. A half is
    ///     stored if its `kSecAttrIsPermanent` is `true`. With `kSecAttrTokenID` the private half is made and stays on a
    ///     token (`KeyTokens`): a P-256 key, stored unless `kSecAttrIsPermanent` is `false`.
    ///   - error: receives an error that the caller releases: `errSecParam` for a type or size that is not supported,
    ///     `errSecUnimplemented` for a token that this program does not have, the errors of the token, and the status of
    ///     `SecItemAdd` if a half could not be stored. Then neither half was.
    public func SecKeyCreateRandomKey(
        _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> SecKey? {
        reporting(to: error) { try KeyPairRequest(parameters).generated(.shared) { .shared } }
    }

    /// Generates a pair of keys and returns both. In new code use `SecKeyCreateRandomKey`.
    ///
    /// - Parameters:
    ///   - parameters: as for `SecKeyCreateRandomKey`.
    ///   - publicKey: receives the public key; not touched on failure.
    ///   - privateKey: receives the private key; not touched on failure.
    /// - Returns: `errSecSuccess`, or the code of the error of `SecKeyCreateRandomKey`.
    @discardableResult
    public func SecKeyGeneratePair(
        _ parameters: CFDictionary, _ publicKey: UnsafeMutablePointer<SecKey?>?,
        _ privateKey: UnsafeMutablePointer<SecKey?>?
    ) -> OSStatus {
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters, &error) else {
            return error.map { OSStatus(truncatingIfNeeded: $0.takeRetainedValue().code) } ?? errSecParam
        }
        publicKey?.pointee = SecKeyCopyPublicKey(key)
        privateKey?.pointee = key
        return errSecSuccess
    }
#endif
