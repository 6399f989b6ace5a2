// SPDX-License-Identifier: Apache-2.0
// The algorithms for signatures with RSA, by Apple's names.

#if os(Linux)
    // MARK: - PKCS#1 v1.5

    extension SecKeyAlgorithm {
        /// RSA without padding; no key here supports it.
        public static let rsaSignatureRaw = SecKeyAlgorithm("algid:sign:RSA:raw")
        /// RSA with padding of the caller's bytes as they are; no key here supports it.
        public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15")
        /// RSA PKCS#1 v1.5 of a SHA-1 digest.
        public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15:SHA1")
        /// RSA PKCS#1 v1.5 of a SHA-224 digest. No key here supports it.
        public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15:SHA224")
        /// RSA PKCS#1 v1.5 of a SHA-256 digest.
        public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15:SHA256")
        /// RSA PKCS#1 v1.5 of a SHA-384 digest.
        public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15:SHA384")
        /// RSA PKCS#1 v1.5 of a SHA-512 digest.
        public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm("algid:sign:RSA:digest-PKCS1v15:SHA512")
        /// RSA PKCS#1 v1.5 of a message that is hashed with SHA-1.
        public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:SHA1")
        /// RSA PKCS#1 v1.5 of a message that is hashed with SHA-224. No key here supports it.
        public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:SHA224")
        /// RSA PKCS#1 v1.5 of a message that is hashed with SHA-256.
        public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:SHA256")
        /// RSA PKCS#1 v1.5 of a message that is hashed with SHA-384.
        public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:SHA384")
        /// RSA PKCS#1 v1.5 of a message that is hashed with SHA-512.
        public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:SHA512")
    }

    // MARK: - PSS

    extension SecKeyAlgorithm {
        /// RSA-PSS of a SHA-1 digest.
        public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm("algid:sign:RSA:digest-PSS:SHA1:SHA1:20")
        /// RSA-PSS of a SHA-224 digest. No key here supports it.
        public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm("algid:sign:RSA:digest-PSS:SHA224:SHA224:28")
        /// RSA-PSS of a SHA-256 digest.
        public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm("algid:sign:RSA:digest-PSS:SHA256:SHA256:32")
        /// RSA-PSS of a SHA-384 digest.
        public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm("algid:sign:RSA:digest-PSS:SHA384:SHA384:48")
        /// RSA-PSS of a SHA-512 digest.
        public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm("algid:sign:RSA:digest-PSS:SHA512:SHA512:64")
        /// RSA-PSS of a message that is hashed with SHA-1.
        public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm("algid:sign:RSA:message-PSS:SHA1:SHA1:20")
        /// RSA-PSS of a message that is hashed with SHA-224. No key here supports it.
        public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm("algid:sign:RSA:message-PSS:SHA224:SHA224:28")
        /// RSA-PSS of a message that is hashed with SHA-256.
        public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm("algid:sign:RSA:message-PSS:SHA256:SHA256:32")
        /// RSA-PSS of a message that is hashed with SHA-384.
        public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm("algid:sign:RSA:message-PSS:SHA384:SHA384:48")
        /// RSA-PSS of a message that is hashed with SHA-512.
        public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm("algid:sign:RSA:message-PSS:SHA512:SHA512:64")
    }
#endif
