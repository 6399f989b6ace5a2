// SPDX-License-Identifier: Apache-2.0
// The algorithms for signatures with elliptic curves, by Apple's names.

#if os(Linux)
    // MARK: - DER (ANSI X9.62)

    extension SecKeyAlgorithm {
        /// ECDSA of a digest of any length; the signature is DER.
        public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962")
        /// ECDSA of a SHA-1 digest; the signature is DER.
        public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962:SHA1")
        /// ECDSA of a SHA-224 digest; the signature is DER.
        public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962:SHA224")
        /// ECDSA of a SHA-256 digest; the signature is DER.
        public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962:SHA256")
        /// ECDSA of a SHA-384 digest; the signature is DER.
        public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962:SHA384")
        /// ECDSA of a SHA-512 digest; the signature is DER.
        public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm("algid:sign:ECDSA:digest-X962:SHA512")
        /// ECDSA of a message that is hashed with SHA-1; the signature is DER.
        public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm("algid:sign:ECDSA:message-X962:SHA1")
        /// ECDSA of a message that is hashed with SHA-224; the signature is DER.
        public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm("algid:sign:ECDSA:message-X962:SHA224")
        /// ECDSA of a message that is hashed with SHA-256; the signature is DER.
        public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm("algid:sign:ECDSA:message-X962:SHA256")
        /// ECDSA of a message that is hashed with SHA-384; the signature is DER.
        public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm("algid:sign:ECDSA:message-X962:SHA384")
        /// ECDSA of a message that is hashed with SHA-512; the signature is DER.
        public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm("algid:sign:ECDSA:message-X962:SHA512")
    }

    // MARK: - r ‖ s (RFC 4754)

    extension SecKeyAlgorithm {
        /// Older name of `ecdsaSignatureDigestRFC4754`.
        public static let ecdsaSignatureRFC4754 = SecKeyAlgorithm("algid:sign:ECDSA:RFC4754")
        /// ECDSA of a digest of any length; the signature is r ‖ s.
        public static let ecdsaSignatureDigestRFC4754 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754")
        /// ECDSA of a SHA-1 digest; the signature is r ‖ s.
        public static let ecdsaSignatureDigestRFC4754SHA1 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754:SHA1")
        /// ECDSA of a SHA-224 digest; the signature is r ‖ s.
        public static let ecdsaSignatureDigestRFC4754SHA224 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754:SHA224")
        /// ECDSA of a SHA-256 digest; the signature is r ‖ s.
        public static let ecdsaSignatureDigestRFC4754SHA256 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754:SHA256")
        /// ECDSA of a SHA-384 digest; the signature is r ‖ s.
        public static let ecdsaSignatureDigestRFC4754SHA384 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754:SHA384")
        /// ECDSA of a SHA-512 digest; the signature is r ‖ s.
        public static let ecdsaSignatureDigestRFC4754SHA512 = SecKeyAlgorithm("algid:sign:ECDSA:digest-RFC4754:SHA512")
        /// ECDSA of a message that is hashed with SHA-1; the signature is r ‖ s, as in JSON Web Tokens.
        public static let ecdsaSignatureMessageRFC4754SHA1 = SecKeyAlgorithm("algid:sign:ECDSA:message-RFC4754:SHA1")
        /// ECDSA of a message that is hashed with SHA-224; the signature is r ‖ s, as in JSON Web Tokens.
        public static let ecdsaSignatureMessageRFC4754SHA224 = SecKeyAlgorithm(
            "algid:sign:ECDSA:message-RFC4754:SHA224")
        /// ECDSA of a message that is hashed with SHA-256; the signature is r ‖ s, as in JSON Web Tokens.
        public static let ecdsaSignatureMessageRFC4754SHA256 = SecKeyAlgorithm(
            "algid:sign:ECDSA:message-RFC4754:SHA256")
        /// ECDSA of a message that is hashed with SHA-384; the signature is r ‖ s, as in JSON Web Tokens.
        public static let ecdsaSignatureMessageRFC4754SHA384 = SecKeyAlgorithm(
            "algid:sign:ECDSA:message-RFC4754:SHA384")
        /// ECDSA of a message that is hashed with SHA-512; the signature is r ‖ s, as in JSON Web Tokens.
        public static let ecdsaSignatureMessageRFC4754SHA512 = SecKeyAlgorithm(
            "algid:sign:ECDSA:message-RFC4754:SHA512")
    }
#endif
