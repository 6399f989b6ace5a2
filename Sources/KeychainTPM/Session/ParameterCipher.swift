// SPDX-License-Identifier: Apache-2.0
// The encryption of a parameter on its way to or from the TPM.

#if TPM
    import Crypto
    import CryptoExtras
    import Foundation
    import SecretMemory

    /// AES-128 in CFB mode, with a key that is used once: each message has new nonces.
    struct ParameterCipher {
        private let keys: SecretBytes

        /// - Parameters:
        ///   - secret: The key of the session, and the secret of the object.
        ///   - newer: The nonce of the sender.
        init(_ secret: SecretBytes, newer: [UInt8], older: [UInt8]) {
            keys = KeyDerivation.key(from: secret, "CFB", newer, older)
        }

        func encrypt(_ bytes: inout [UInt8], in range: Range<Int>) throws(TPMFailure) {
            try apply(&bytes, range) { try AES._CFB.encrypt($0, using: $1, iv: $2) }
        }

        func decrypt(_ bytes: inout [UInt8], in range: Range<Int>) throws(TPMFailure) {
            try apply(&bytes, range) { try AES._CFB.decrypt($0, using: $1, iv: $2) }
        }

        private func apply(
            _ bytes: inout [UInt8], _ range: Range<Int>,
            _ body: (UnsafeRawBufferPointer, SymmetricKey, AES._CFB.IV) throws -> Data
        ) throws(TPMFailure) {
            guard !range.isEmpty else { return }
            do {
                var result = try keys.withUnsafeBytes { keys in
                    let key = SymmetricKey(data: UnsafeRawBufferPointer(rebasing: keys[..<16]))
                    let iv = try AES._CFB.IV(ivBytes: Array(keys[16...]))
                    return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range]), key, iv) }
                }
                guard result.count == range.count else { throw TPMFailure.malformed }
                bytes.withUnsafeMutableBytes { bytes in
                    result.withUnsafeBytes {
                        UnsafeMutableRawBufferPointer(rebasing: bytes[range]).copyMemory(from: $0)
                    }
                }
                result.resetBytes(in: result.startIndex..<result.endIndex)
            } catch {
                throw .malformed
            }
        }
    }
#endif
