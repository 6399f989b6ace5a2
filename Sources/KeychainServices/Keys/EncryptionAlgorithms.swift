// SPDX-License-Identifier: Apache-2.0
// The algorithms for encryption and key exchange, by Apple's names.

#if os(Linux)
    // MARK: - RSA

    extension SecKeyAlgorithm {
        /// RSA without padding; no key here supports it.
        public static let rsaEncryptionRaw = SecKeyAlgorithm("algid:encrypt:RSA:raw")
        /// RSA PKCS#1 v1.5. Prefer OAEP.
        public static let rsaEncryptionPKCS1 = SecKeyAlgorithm("algid:encrypt:RSA:PKCS1")
        /// RSA-OAEP with SHA-1.
        public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA1")
        /// RSA-OAEP with SHA-224. No key here supports it.
        public static let rsaEncryptionOAEPSHA224 = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA224")
        /// RSA-OAEP with SHA-256.
        public static let rsaEncryptionOAEPSHA256 = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA256")
        /// RSA-OAEP with SHA-384. No key here supports it.
        public static let rsaEncryptionOAEPSHA384 = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA384")
        /// RSA-OAEP with SHA-512. No key here supports it.
        public static let rsaEncryptionOAEPSHA512 = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA512")
        /// AES-GCM with a fresh key, which RSA-OAEP with SHA-1 encrypts.
        public static let rsaEncryptionOAEPSHA1AESGCM = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA1:AESGCM")
        /// AES-GCM with a fresh key, which RSA-OAEP with SHA-224 encrypts. No key here supports it.
        public static let rsaEncryptionOAEPSHA224AESGCM = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA224:AESGCM")
        /// AES-GCM with a fresh key, which RSA-OAEP with SHA-256 encrypts.
        public static let rsaEncryptionOAEPSHA256AESGCM = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA256:AESGCM")
        /// AES-GCM with a fresh key, which RSA-OAEP with SHA-384 encrypts. No key here supports it.
        public static let rsaEncryptionOAEPSHA384AESGCM = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA384:AESGCM")
        /// AES-GCM with a fresh key, which RSA-OAEP with SHA-512 encrypts. No key here supports it.
        public static let rsaEncryptionOAEPSHA512AESGCM = SecKeyAlgorithm("algid:encrypt:RSA:OAEP:SHA512:AESGCM")
    }

    // MARK: - ECIES

    extension SecKeyAlgorithm {
        /// ECIES: a key derived with SHA-1, AES-GCM with a zero IV.
        public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM")
        /// ECIES: a key derived with SHA-224, AES-GCM with a zero IV.
        public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM")
        /// ECIES: a key derived with SHA-256, AES-GCM with a zero IV.
        public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM")
        /// ECIES: a key derived with SHA-384, AES-GCM with a zero IV.
        public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM")
        /// ECIES: a key derived with SHA-512, AES-GCM with a zero IV.
        public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM")
        /// ECIES: a key and an IV derived with SHA-224, AES-GCM.
        public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV")
        /// ECIES: a key and an IV derived with SHA-256, AES-GCM.
        public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV")
        /// ECIES: a key and an IV derived with SHA-384, AES-GCM.
        public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV")
        /// ECIES: a key and an IV derived with SHA-512, AES-GCM.
        public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV")
        /// ECIES, with the cofactor: a key derived with SHA-1, AES-GCM with a zero IV.
        public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM")
        /// ECIES, with the cofactor: a key derived with SHA-224, AES-GCM with a zero IV.
        public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM")
        /// ECIES, with the cofactor: a key derived with SHA-256, AES-GCM with a zero IV.
        public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM")
        /// ECIES, with the cofactor: a key derived with SHA-384, AES-GCM with a zero IV.
        public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM")
        /// ECIES, with the cofactor: a key derived with SHA-512, AES-GCM with a zero IV.
        public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM")
        /// ECIES, with the cofactor: a key and an IV derived with SHA-224, AES-GCM.
        public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV")
        /// ECIES, with the cofactor: a key and an IV derived with SHA-256, AES-GCM.
        public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV")
        /// ECIES, with the cofactor: a key and an IV derived with SHA-384, AES-GCM.
        public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV")
        /// ECIES, with the cofactor: a key and an IV derived with SHA-512, AES-GCM.
        public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
            "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV")
    }

    // MARK: - Key exchange

    extension SecKeyAlgorithm {
        /// ECDH: the X coordinate.
        public static let ecdhKeyExchangeStandard = SecKeyAlgorithm("algid:keyexchange:ECDH")
        /// ECDH, and the key derivation of ANSI X9.63 with SHA-1.
        public static let ecdhKeyExchangeStandardX963SHA1 = SecKeyAlgorithm("algid:keyexchange:ECDH:KDFX963:SHA1")
        /// ECDH, and the key derivation of ANSI X9.63 with SHA-224.
        public static let ecdhKeyExchangeStandardX963SHA224 = SecKeyAlgorithm("algid:keyexchange:ECDH:KDFX963:SHA224")
        /// ECDH, and the key derivation of ANSI X9.63 with SHA-256.
        public static let ecdhKeyExchangeStandardX963SHA256 = SecKeyAlgorithm("algid:keyexchange:ECDH:KDFX963:SHA256")
        /// ECDH, and the key derivation of ANSI X9.63 with SHA-384.
        public static let ecdhKeyExchangeStandardX963SHA384 = SecKeyAlgorithm("algid:keyexchange:ECDH:KDFX963:SHA384")
        /// ECDH, and the key derivation of ANSI X9.63 with SHA-512.
        public static let ecdhKeyExchangeStandardX963SHA512 = SecKeyAlgorithm("algid:keyexchange:ECDH:KDFX963:SHA512")
        /// ECDH, with the cofactor: the X coordinate.
        public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm("algid:keyexchange:ECDHC")
        /// ECDH, with the cofactor, and the key derivation of ANSI X9.63 with SHA-1.
        public static let ecdhKeyExchangeCofactorX963SHA1 = SecKeyAlgorithm("algid:keyexchange:ECDHC:KDFX963:SHA1")
        /// ECDH, with the cofactor, and the key derivation of ANSI X9.63 with SHA-224.
        public static let ecdhKeyExchangeCofactorX963SHA224 = SecKeyAlgorithm("algid:keyexchange:ECDHC:KDFX963:SHA224")
        /// ECDH, with the cofactor, and the key derivation of ANSI X9.63 with SHA-256.
        public static let ecdhKeyExchangeCofactorX963SHA256 = SecKeyAlgorithm("algid:keyexchange:ECDHC:KDFX963:SHA256")
        /// ECDH, with the cofactor, and the key derivation of ANSI X9.63 with SHA-384.
        public static let ecdhKeyExchangeCofactorX963SHA384 = SecKeyAlgorithm("algid:keyexchange:ECDHC:KDFX963:SHA384")
        /// ECDH, with the cofactor, and the key derivation of ANSI X9.63 with SHA-512.
        public static let ecdhKeyExchangeCofactorX963SHA512 = SecKeyAlgorithm("algid:keyexchange:ECDHC:KDFX963:SHA512")
    }
#endif
