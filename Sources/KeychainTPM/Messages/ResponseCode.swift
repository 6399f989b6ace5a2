// SPDX-License-Identifier: Apache-2.0
// Why a TPM refused a command.

#if TPM
    /// TPM_RC
    struct ResponseCode: Hashable {
        let raw: UInt32

        static let success: UInt32 = 0

        /// The code without the number of the parameter, handle or session that it is about.
        private var kind: UInt32 { raw & 0x80 == 0 ? raw : raw & 0xFFFF_F0BF }

        var isSuccess: Bool { raw == Self.success }

        /// The same command succeeds when it is sent again a moment later: RETRY, YIELDED, TESTING, NV_RATE.
        var isTemporary: Bool { [0x922, 0x908, 0x90A, 0x920].contains(raw) }

        /// All places for keys or sessions are taken: OBJECT_MEMORY, SESSION_MEMORY, MEMORY, SESSION_HANDLES,
        /// OBJECT_HANDLES.
        var isOutOfPlaces: Bool { (0x902...0x906).contains(raw) }

        /// AUTH_FAIL, BAD_AUTH
        var isWrongSecret: Bool { kind == 0x8E || kind == 0xA2 }

        /// LOCKOUT
        var isLockedOut: Bool { raw == 0x921 }

        /// HASH, SCHEME
        var isUnsupportedHash: Bool { kind == 0x83 || kind == 0x92 }

        /// The answers to an object that was changed: INTEGRITY, BINDING, SIZE, VALUE, ATTRIBUTES, KEY, TYPE,
        /// INSUFFICIENT, ECC_POINT.
        var isDamage: Bool { [0x9F, 0xA5, 0x95, 0x84, 0x82, 0x9C, 0x8A, 0x9A, 0xA7].contains(kind) }

        /// FAILURE, INITIALIZE
        var isBroken: Bool { raw == 0x101 || raw == 0x100 }

        var text: String { "code 0x" + String(raw, radix: 16, uppercase: true) }
    }
#endif
