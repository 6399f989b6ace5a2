// SPDX-License-Identifier: Apache-2.0
// Numbers of "Trusted Platform Module Library, Part 2: Structures".

// Folders, from top to bottom:
//
// - Interface: keys and secrets of a TPM
// - Session: conversations whose secrets are encrypted on the way
// - Messages: commands and responses as bytes
// - Transport: the connection to a TPM

#if TPM
    enum CommandCode: UInt32 {
        case createPrimary = 0x131
        case create = 0x153
        case ecdhZGen = 0x154
        case load = 0x157
        case sign = 0x15D
        case unseal = 0x15E
        case flushContext = 0x165
        case startAuthSession = 0x176
        case getCapability = 0x17A
    }

    enum Tag {
        static let noSessions: UInt16 = 0x8001
        static let sessions: UInt16 = 0x8002
        static let hashCheck: UInt16 = 0x8024
    }

    enum Handle {
        static let owner: UInt32 = 0x4000_0001
        static let null: UInt32 = 0x4000_0007
        static let password: UInt32 = 0x4000_0009

        static func isTransient(_ handle: UInt32) -> Bool { handle >> 24 == 0x80 }
        static func isHMACSession(_ handle: UInt32) -> Bool { handle >> 24 == 0x02 }
    }

    enum AlgorithmID {
        static let sha1: UInt16 = 0x04
        static let aes: UInt16 = 0x06
        static let keyedHash: UInt16 = 0x08
        static let sha256: UInt16 = 0x0B
        static let sha384: UInt16 = 0x0C
        static let sha512: UInt16 = 0x0D
        static let null: UInt16 = 0x10
        static let ecdsa: UInt16 = 0x18
        static let ecc: UInt16 = 0x23
        static let cfb: UInt16 = 0x43
        static let nistP256: UInt16 = 0x03
    }

    /// TPMA_OBJECT
    struct ObjectAttributes: OptionSet {
        let rawValue: UInt32

        static let fixedTPM = Self(rawValue: 1 << 1)
        static let fixedParent = Self(rawValue: 1 << 4)
        static let sensitiveDataOrigin = Self(rawValue: 1 << 5)
        static let userWithAuth = Self(rawValue: 1 << 6)
        /// Wrong secrets are not counted, and a locked TPM does not refuse the object.
        static let noDA = Self(rawValue: 1 << 10)
        static let restricted = Self(rawValue: 1 << 16)
        static let decrypt = Self(rawValue: 1 << 17)
        static let sign = Self(rawValue: 1 << 18)
    }

    /// TPMA_SESSION
    struct SessionAttributes: OptionSet {
        let rawValue: UInt8

        static let continueSession = Self(rawValue: 1 << 0)
        /// The first parameter of the command is encrypted: the TPM decrypts it.
        static let encryptedCommand = Self(rawValue: 1 << 5)
        /// The first parameter of the response is encrypted.
        static let encryptedResponse = Self(rawValue: 1 << 6)
    }

    /// TPM_PT
    enum Property: UInt32 {
        case lockoutCounter = 0x20E
        case maxAuthFail = 0x20F
        case lockoutInterval = 0x210
    }
#endif
