// SPDX-License-Identifier: Apache-2.0
// Triple DES and RC2, only to read files of other programs: nothing is encrypted with them here.

import SecretMemory

/// A cipher with blocks of eight bytes that decrypts in CBC mode. It is not constant-time, because the user's own files
/// are decrypted.
protocol LegacyCipher {
    func decrypt(_ block: UInt64) -> UInt64
}

extension LegacyCipher {
    /// Larger files are not encrypted like this, and these ciphers are slow.
    private static var limit: Int { 256 << 10 }

    /// - Throws: `KeyFailure.wrongPassphrase` if the padding is wrong.
    func decryptCBC(_ ciphertext: some ByteSlice, iv: [UInt8]) throws(KeyFailure) -> SecretBytes {
        guard !ciphertext.isEmpty, ciphertext.count % 8 == 0, iv.count == 8 else { throw .malformed("ciphertext") }
        guard ciphertext.count <= Self.limit else { throw .limitExceeded("ciphertext of a legacy cipher") }
        var (previous, rest) = (word(iv), ciphertext)
        let padded = SecretBytes(count: ciphertext.count) { target in
            for start in stride(from: 0, to: target.count, by: 8) {
                let block = word(rest.prefix(8))
                target.storeBytes(of: (decrypt(block) ^ previous).bigEndian, toByteOffset: start, as: UInt64.self)
                (previous, rest) = (block, rest.dropFirst(8))
            }
        }
        return try withoutPadding(SecretSlice(padded))
    }

    private func word(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private func withoutPadding(_ bytes: SecretSlice) throws(KeyFailure) -> SecretBytes {
        guard let last = bytes.last, (1...8).contains(last), bytes.suffix(Int(last)).allSatisfy({ $0 == last }) else {
            throw .wrongPassphrase
        }
        return bytes.dropLast(Int(last)).copy
    }
}

// MARK: - Triple DES

/// Triple DES with three keys (NIST SP 800-67).
struct TripleDES: LegacyCipher {
    private let keys: [[UInt64]]

    /// - Parameter key: 24 bytes.
    init(_ key: [UInt8]) {
        keys = (0..<3).map { DES.roundKeys(key[8 * $0..<8 * $0 + 8].reduce(0) { $0 << 8 | UInt64($1) }) }
    }

    func decrypt(_ block: UInt64) -> UInt64 {
        DES.apply(keys[0].reversed(), DES.apply(keys[1], DES.apply(keys[2].reversed(), block)))
    }
}

/// DES (FIPS 46-3). Bits are numbered from the highest one, beginning with 1, as the standard does.
private enum DES {
    static func apply(_ roundKeys: [UInt64], _ block: UInt64) -> UInt64 {
        let start = permuted(block, initial, width: 64)
        var (left, right) = (start >> 32, start & 0xFFFF_FFFF)
        for key in roundKeys { (left, right) = (right, left ^ function(right, key)) }
        return permuted(right << 32 | left, final, width: 64)
    }

    static func roundKeys(_ key: UInt64) -> [UInt64] {
        let chosen = permuted(key, keyChoice, width: 64)
        var (left, right) = (chosen >> 28, chosen & 0xFFF_FFFF)
        return rotations.map { count in
            left = (left << count | left >> (28 - count)) & 0xFFF_FFFF
            right = (right << count | right >> (28 - count)) & 0xFFF_FFFF
            return permuted(left << 28 | right, roundChoice, width: 56)
        }
    }

    private static func function(_ half: UInt64, _ key: UInt64) -> UInt64 {
        let input = permuted(half, expansion, width: 32) ^ key
        var output: UInt64 = 0
        for box in 0..<8 {
            let bits = Int(input >> UInt64(42 - 6 * box) & 63)
            let (row, column) = (bits >> 4 & 2 | bits & 1, bits >> 1 & 15)
            output = output << 4 | UInt64(boxes[box][16 * row + column])
        }
        return permuted(output, mixing, width: 32)
    }

    private static func permuted(_ bits: UInt64, _ table: [UInt8], width: UInt64) -> UInt64 {
        table.reduce(0) { $0 << 1 | bits >> (width - UInt64($1)) & 1 }
    }

    private static let initial: [UInt8] = [
        58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4, 62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32,
        24, 16, 8, 57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3, 61, 53, 45, 37, 29, 21, 13, 5, 63, 55,
        47, 39, 31, 23, 15, 7,
    ]
    private static let final: [UInt8] = [
        40, 8, 48, 16, 56, 24, 64, 32, 39, 7, 47, 15, 55, 23, 63, 31, 38, 6, 46, 14, 54, 22, 62, 30, 37, 5, 45, 13, 53,
        21, 61, 29, 36, 4, 44, 12, 52, 20, 60, 28, 35, 3, 43, 11, 51, 19, 59, 27, 34, 2, 42, 10, 50, 18, 58, 26, 33, 1,
        41, 9, 49, 17, 57, 25,
    ]
    private static let expansion: [UInt8] = [
        32, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17, 16, 17, 18, 19, 20, 21, 20,
        21, 22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1,
    ]
    private static let mixing: [UInt8] = [
        16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11,
        4, 25,
    ]
    private static let keyChoice: [UInt8] = [
        57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36, 63,
        55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
    ]
    private static let roundChoice: [UInt8] = [
        14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55,
        30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
    ]
    private static let rotations: [UInt64] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1]
    private static let boxes: [[UInt8]] = [
        [
            14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7, 0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8,
            4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0, 15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13,
        ],
        [
            15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10, 3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5,
            0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15, 13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9,
        ],
        [
            10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8, 13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1,
            13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7, 1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12,
        ],
        [
            7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15, 13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9,
            10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4, 3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14,
        ],
        [
            2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9, 14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6,
            4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14, 11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3,
        ],
        [
            12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11, 10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8,
            9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6, 4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13,
        ],
        [
            4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1, 13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6,
            1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2, 6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12,
        ],
        [
            13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7, 1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2,
            7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8, 2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11,
        ],
    ]
}

// MARK: - RC2

/// RC2 (RFC 2268) with a key whose length is its strength.
struct RC2: LegacyCipher {
    private let key: [UInt16]

    /// - Parameter key: 5 or 16 bytes.
    init(_ key: [UInt8]) {
        var bytes = key
        for index in key.count..<128 {
            bytes.append(Self.table[Int(bytes[index - 1] &+ bytes[index - key.count])])
        }
        bytes[128 - key.count] = Self.table[Int(bytes[128 - key.count])]
        for index in (0..<128 - key.count).reversed() {
            bytes[index] = Self.table[Int(bytes[index + 1] ^ bytes[index + key.count])]
        }
        self.key = (0..<64).map { UInt16(bytes[2 * $0 + 1]) << 8 | UInt16(bytes[2 * $0]) }
    }

    /// The words of a block are little-endian.
    func decrypt(_ block: UInt64) -> UInt64 {
        var words = (0..<4).map { UInt16(truncatingIfNeeded: block >> UInt64(48 - 16 * $0)).byteSwapped }
        var position = 63
        for round in (0..<16).reversed() {
            for index in (0..<4).reversed() {
                unmix(&words, index, key[position])
                position -= 1
            }
            // Between the fifth and the sixth round, and between the eleventh and the twelfth.
            guard round == 11 || round == 5 else { continue }
            for index in (0..<4).reversed() { words[index] &-= key[Int(words[(index + 3) % 4] & 63)] }
        }
        return words.reduce(0) { $0 << 16 | UInt64($1.byteSwapped) }
    }

    private func unmix(_ words: inout [UInt16], _ index: Int, _ key: UInt16) {
        let count = UInt16([1, 2, 3, 5][index])
        let (last, next, second) = (words[(index + 3) % 4], words[(index + 1) % 4], words[(index + 2) % 4])
        words[index] = words[index] >> count | words[index] << (16 - count)
        words[index] = words[index] &- key &- (last & second) &- (~last & next)
    }

    /// A permutation from the digits of pi.
    private static let table: [UInt8] = [
        0xD9, 0x78, 0xF9, 0xC4, 0x19, 0xDD, 0xB5, 0xED, 0x28, 0xE9, 0xFD, 0x79, 0x4A, 0xA0, 0xD8, 0x9D,
        0xC6, 0x7E, 0x37, 0x83, 0x2B, 0x76, 0x53, 0x8E, 0x62, 0x4C, 0x64, 0x88, 0x44, 0x8B, 0xFB, 0xA2,
        0x17, 0x9A, 0x59, 0xF5, 0x87, 0xB3, 0x4F, 0x13, 0x61, 0x45, 0x6D, 0x8D, 0x09, 0x81, 0x7D, 0x32,
        0xBD, 0x8F, 0x40, 0xEB, 0x86, 0xB7, 0x7B, 0x0B, 0xF0, 0x95, 0x21, 0x22, 0x5C, 0x6B, 0x4E, 0x82,
        0x54, 0xD6, 0x65, 0x93, 0xCE, 0x60, 0xB2, 0x1C, 0x73, 0x56, 0xC0, 0x14, 0xA7, 0x8C, 0xF1, 0xDC,
        0x12, 0x75, 0xCA, 0x1F, 0x3B, 0xBE, 0xE4, 0xD1, 0x42, 0x3D, 0xD4, 0x30, 0xA3, 0x3C, 0xB6, 0x26,
        0x6F, 0xBF, 0x0E, 0xDA, 0x46, 0x69, 0x07, 0x57, 0x27, 0xF2, 0x1D, 0x9B, 0xBC, 0x94, 0x43, 0x03,
        0xF8, 0x11, 0xC7, 0xF6, 0x90, 0xEF, 0x3E, 0xE7, 0x06, 0xC3, 0xD5, 0x2F, 0xC8, 0x66, 0x1E, 0xD7,
        0x08, 0xE8, 0xEA, 0xDE, 0x80, 0x52, 0xEE, 0xF7, 0x84, 0xAA, 0x72, 0xAC, 0x35, 0x4D, 0x6A, 0x2A,
        0x96, 0x1A, 0xD2, 0x71, 0x5A, 0x15, 0x49, 0x74, 0x4B, 0x9F, 0xD0, 0x5E, 0x04, 0x18, 0xA4, 0xEC,
        0xC2, 0xE0, 0x41, 0x6E, 0x0F, 0x51, 0xCB, 0xCC, 0x24, 0x91, 0xAF, 0x50, 0xA1, 0xF4, 0x70, 0x39,
        0x99, 0x7C, 0x3A, 0x85, 0x23, 0xB8, 0xB4, 0x7A, 0xFC, 0x02, 0x36, 0x5B, 0x25, 0x55, 0x97, 0x31,
        0x2D, 0x5D, 0xFA, 0x98, 0xE3, 0x8A, 0x92, 0xAE, 0x05, 0xDF, 0x29, 0x10, 0x67, 0x6C, 0xBA, 0xC9,
        0xD3, 0x00, 0xE6, 0xCF, 0xE1, 0x9E, 0xA8, 0x2C, 0x63, 0x16, 0x01, 0x3F, 0x58, 0xE2, 0x89, 0xA9,
        0x0D, 0x38, 0x34, 0x1B, 0xAB, 0x33, 0xFF, 0xB0, 0xBB, 0x48, 0x0C, 0x5F, 0xB9, 0xB1, 0xCD, 0x2E,
        0xC5, 0xF3, 0xDB, 0x47, 0xE5, 0xA5, 0x9C, 0x77, 0x0A, 0xA6, 0x20, 0x68, 0xFE, 0x7F, 0xC1, 0xAD,
    ]
}
