// SPDX-License-Identifier: Apache-2.0
// The older functions of iOS for signing and encrypting with key objects, over the newer ones.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    import Foundation
    import KeychainKeys

    /// The padding of `SecKeyRawSign`, `SecKeyRawVerify`, `SecKeyEncrypt` and `SecKeyDecrypt`; numbers as in Apple's
    /// header.
    public struct SecPadding: OptionSet, Hashable, Sendable {
        /// Apple's number.
        public let rawValue: UInt32
        /// The padding with this number.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// PKCS#1 v1.5; for signatures without the name of a hash, which no key here supports.
        public static let PKCS1 = SecPadding(rawValue: 1)
        /// OAEP with SHA-1.
        public static let OAEP = SecPadding(rawValue: 2)
        /// ECDSA signatures as r ‖ s.
        public static let sigRaw = SecPadding(rawValue: 0x4000)
        /// PKCS#1 v1.5 of an MD2 digest; no key here supports it.
        public static let PKCS1MD2 = SecPadding(rawValue: 0x8000)
        /// PKCS#1 v1.5 of an MD5 digest; no key here supports it.
        public static let PKCS1MD5 = SecPadding(rawValue: 0x8001)
        /// PKCS#1 v1.5 of a SHA-1 digest.
        public static let PKCS1SHA1 = SecPadding(rawValue: 0x8002)
        /// PKCS#1 v1.5 of a SHA-224 digest; no key here supports it.
        public static let PKCS1SHA224 = SecPadding(rawValue: 0x8003)
        /// PKCS#1 v1.5 of a SHA-256 digest.
        public static let PKCS1SHA256 = SecPadding(rawValue: 0x8004)
        /// PKCS#1 v1.5 of a SHA-384 digest.
        public static let PKCS1SHA384 = SecPadding(rawValue: 0x8005)
        /// PKCS#1 v1.5 of a SHA-512 digest.
        public static let PKCS1SHA512 = SecPadding(rawValue: 0x8006)
    }

    /// Signs a digest. In new code use `SecKeyCreateSignature`.
    ///
    /// - Parameters:
    ///   - sig: memory for the signature.
    ///   - sigLen: the size of this memory; receives the length of the signature.
    /// - Returns: `errSecSuccess`; `errSecParam` for a padding or a length that the key does not take, and for too little
    ///   memory.
    @discardableResult
    public func SecKeyRawSign(
        _ key: SecKey, _ padding: SecPadding, _ dataToSign: UnsafePointer<UInt8>, _ dataToSignLen: Int,
        _ sig: UnsafeMutablePointer<UInt8>, _ sigLen: UnsafeMutablePointer<Int>
    ) -> OSStatus {
        guard let digest = copy(dataToSign, dataToSignLen), let algorithm = padding.signature(of: key) else {
            return errSecParam
        }
        return write(SecKeyCreateSignature(key, algorithm, digest, nil), to: sig, sigLen)
    }

    /// Checks the signature of a digest. In new code use `SecKeyVerifySignature`.
    ///
    /// - Returns: `errSecSuccess`; -9809 (`errSSLCrypto`) if the signature does not match; `errSecParam` for a padding or
    ///   a length that the key does not take.
    @discardableResult
    public func SecKeyRawVerify(
        _ key: SecKey, _ padding: SecPadding, _ signedData: UnsafePointer<UInt8>, _ signedDataLen: Int,
        _ sig: UnsafePointer<UInt8>, _ sigLen: Int
    ) -> OSStatus {
        guard let digest = copy(signedData, signedDataLen), let signature = copy(sig, sigLen),
            let algorithm = padding.signature(of: key)
        else { return errSecParam }
        var failure: Unmanaged<CFError>?
        guard !SecKeyVerifySignature(key, algorithm, digest, signature, &failure) else { return errSecSuccess }
        let code = failure?.takeRetainedValue().code
        return code == Int(errSecVerifyFailed) ? -9809 : errSecParam
    }

    /// Encrypts one block with an RSA key. In new code use `SecKeyCreateEncryptedData`.
    ///
    /// - Parameters:
    ///   - cipherText: memory for the result.
    ///   - cipherTextLen: the size of this memory; receives the length of the result.
    /// - Returns: `errSecSuccess`; `errSecParam` for a padding or a length that the key does not take, and for too little
    ///   memory.
    @discardableResult
    public func SecKeyEncrypt(
        _ key: SecKey, _ padding: SecPadding, _ plainText: UnsafePointer<UInt8>, _ plainTextLen: Int,
        _ cipherText: UnsafeMutablePointer<UInt8>, _ cipherTextLen: UnsafeMutablePointer<Int>
    ) -> OSStatus {
        guard let data = copy(plainText, plainTextLen), let algorithm = padding.encryption else { return errSecParam }
        return write(SecKeyCreateEncryptedData(key, algorithm, data, nil), to: cipherText, cipherTextLen)
    }

    /// Decrypts one block with an RSA key. In new code use `SecKeyCreateDecryptedData`.
    ///
    /// - Parameters:
    ///   - plainText: memory for the result.
    ///   - plainTextLen: the size of this memory; receives the length of the result.
    /// - Returns: `errSecSuccess`; `errSecParam` for a padding that the key does not take, for data that was not encrypted
    ///   for this key, and for too little memory.
    @discardableResult
    public func SecKeyDecrypt(
        _ key: SecKey, _ padding: SecPadding, _ cipherText: UnsafePointer<UInt8>, _ cipherTextLen: Int,
        _ plainText: UnsafeMutablePointer<UInt8>, _ plainTextLen: UnsafeMutablePointer<Int>
    ) -> OSStatus {
        guard let data = copy(cipherText, cipherTextLen), let algorithm = padding.encryption else {
            return errSecParam
        }
        return write(SecKeyCreateDecryptedData(key, algorithm, data, nil), to: plainText, plainTextLen)
    }

    extension SecPadding {
        fileprivate func signature(of key: SecKey) -> SecKeyAlgorithm? {
            guard key.publicKey.kind == .rsa else {
                return self == .sigRaw ? .ecdsaSignatureDigestRFC4754 : .ecdsaSignatureDigestX962
            }
            return switch self {
            case []: .rsaSignatureRaw
            case .PKCS1: .rsaSignatureDigestPKCS1v15Raw
            case .PKCS1SHA1: .rsaSignatureDigestPKCS1v15SHA1
            case .PKCS1SHA224: .rsaSignatureDigestPKCS1v15SHA224
            case .PKCS1SHA256: .rsaSignatureDigestPKCS1v15SHA256
            case .PKCS1SHA384: .rsaSignatureDigestPKCS1v15SHA384
            case .PKCS1SHA512: .rsaSignatureDigestPKCS1v15SHA512
            default: nil
            }
        }

        fileprivate var encryption: SecKeyAlgorithm? {
            switch self {
            case []: .rsaEncryptionRaw
            case .PKCS1: .rsaEncryptionPKCS1
            case .OAEP: .rsaEncryptionOAEPSHA1
            default: nil
            }
        }
    }

    private func copy(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> NSData? {
        count < 0 ? nil : NSData(bytes: bytes, length: count)
    }

    /// Writes a result into the caller's memory, if there is a result and enough memory.
    private func write(
        _ result: NSData?, to memory: UnsafeMutablePointer<UInt8>, _ length: UnsafeMutablePointer<Int>
    ) -> OSStatus {
        guard let result, result.length <= length.pointee else { return errSecParam }
        result.getBytes(memory, length: result.length)
        length.pointee = result.length
        return errSecSuccess
    }
#endif
