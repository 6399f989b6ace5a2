// SPDX-License-Identifier: Apache-2.0
// Policies, credentials and operations; numbers as in Apple's headers.

#if os(Linux)
    /// The proof that a user must give.
    public enum LAPolicy: Int, Sendable {
        /// Biometry. There is none here: never satisfied.
        case deviceOwnerAuthenticationWithBiometrics = 1
        /// Biometry or the passcode. Here: a passphrase of the vault, or its recovery key.
        case deviceOwnerAuthentication = 2
        /// Another device of the user nearby. There is none here: never satisfied.
        case deviceOwnerAuthenticationWithCompanion = 3
        /// One of these two. Never satisfied here.
        case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4
        /// A watch on the user's wrist. Never satisfied here.
        case deviceOwnerAuthenticationWithWristDetection = 5

        /// Older name of `deviceOwnerAuthenticationWithCompanion`.
        public static var deviceOwnerAuthenticationWithWatch: LAPolicy { .deviceOwnerAuthenticationWithCompanion }
        /// Older name of `deviceOwnerAuthenticationWithBiometricsOrCompanion`.
        public static var deviceOwnerAuthenticationWithBiometricsOrWatch: LAPolicy {
            .deviceOwnerAuthenticationWithBiometricsOrCompanion
        }
    }

    /// The kinds of biometry.
    public enum LABiometryType: Int, Sendable {
        /// None. It is always none here.
        case none = 0
        /// Fingers.
        case touchID = 1
        /// Faces.
        case faceID = 2
        /// Irises.
        case opticID = 4
    }

    /// The credentials that a program can set.
    public enum LACredentialType: Int, Sendable {
        /// The password that the program protects its items with.
        case applicationPassword = 0
        /// The PIN of a smart card. There are no smart cards here.
        case smartCardPIN = -3
    }

    /// The operation that needs access.
    public enum LAAccessControlOperation: Int, Sendable {
        /// Adding an item.
        case createItem = 0
        /// Reading or changing an item.
        case useItem = 1
        /// Making a key.
        case createKey = 2
        /// Signing.
        case useKeySign = 3
        /// Decrypting.
        case useKeyDecrypt = 4
        /// Agreeing on a key.
        case useKeyKeyExchange = 5
    }
#endif
