// SPDX-License-Identifier: Apache-2.0
// The key derivation of TPMs ("Part 1: Architecture", 11.4.10). All keys here have 256 bits, one block of SHA-256.

#if TPM
    import Crypto
    import SecretMemory

    enum KeyDerivation {
        /// KDFa
        static func key(from secret: SecretBytes, _ label: String, _ first: [UInt8], _ second: [UInt8]) -> SecretBytes {
            var code = HMAC<SHA256>(key: secret.withUnsafeBytes { SymmetricKey(data: $0) })
            code.update(data: counter + Array(label.utf8) + [0] + first + second + [0, 0, 1, 0])
            return code.finalize().withUnsafeBytes { SecretBytes(copying: $0) }
        }

        /// KDFe
        static func key(
            fromShared secret: SharedSecret, _ label: String, _ first: [UInt8], _ second: [UInt8]
        ) -> SecretBytes {
            var hash = SHA256()
            hash.update(data: counter)
            secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
            hash.update(data: Array(label.utf8) + [0] + first + second)
            return hash.finalize().withUnsafeBytes { SecretBytes(copying: $0) }
        }

        private static let counter: [UInt8] = [0, 0, 0, 1]
    }
#endif
