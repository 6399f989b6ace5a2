// SPDX-License-Identifier: Apache-2.0
// SHA-224 (FIPS 180-4), which swift-crypto does not have.

import Crypto
import Foundation

/// SHA-256 with other start values, cut to 28 bytes.
struct SHA224: HashFunction {
    static let blockByteCount = 64

    struct Digest: Crypto.Digest {
        static let byteCount = 28
        fileprivate let bytes: [UInt8]
        var description: String { "SHA224 digest" }

        func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            try bytes.withUnsafeBytes(body)
        }
    }

    private var state: [UInt32] = [
        0xC105_9ED8, 0x367C_D507, 0x3070_DD17, 0xF70E_5939, 0xFFC0_0B31, 0x6858_1511, 0x64F9_8FA7, 0xBEFA_4FA4,
    ]
    private var block: [UInt8] = []
    private var length: UInt64 = 0

    init() { block.reserveCapacity(Self.blockByteCount) }

    mutating func update(bufferPointer: UnsafeRawBufferPointer) {
        length += UInt64(bufferPointer.count)
        for byte in bufferPointer { append(byte) }
    }

    func finalize() -> Digest {
        var copy = self
        copy.append(0x80)
        while copy.block.count != 56 { copy.append(0) }
        withUnsafeBytes(of: (length * 8).bigEndian) { $0.forEach { copy.append($0) } }
        return Digest(bytes: copy.state.prefix(7).flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
    }

    private mutating func append(_ byte: UInt8) {
        block.append(byte)
        guard block.count == Self.blockByteCount else { return }
        compress()
        block.removeAll(keepingCapacity: true)
    }

    private mutating func compress() {
        var words = (0..<16).map { index in
            block[4 * index..<4 * index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let first = Self.rotated(early, 7) ^ Self.rotated(early, 18) ^ early >> 3
            let second = Self.rotated(late, 17) ^ Self.rotated(late, 19) ^ late >> 10
            words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
        }
        var work = state
        for (constant, word) in zip(Self.constants, words) { Self.round(&work, constant &+ word) }
        for index in state.indices { state[index] &+= work[index] }
    }

    /// The letters a to h of the standard are the elements 0 to 7.
    private static func round(_ work: inout [UInt32], _ input: UInt32) {
        let choice = work[4] & work[5] ^ ~work[4] & work[6]
        let majority = work[0] & work[1] ^ work[0] & work[2] ^ work[1] & work[2]
        let upper = rotated(work[4], 6) ^ rotated(work[4], 11) ^ rotated(work[4], 25)
        let lower = rotated(work[0], 2) ^ rotated(work[0], 13) ^ rotated(work[0], 22)
        let first = work[7] &+ upper &+ choice &+ input
        work.removeLast()
        work[3] &+= first
        work.insert(first &+ lower &+ majority, at: 0)
    }

    private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
        0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
        0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
        0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
        0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
        0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
        0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
        0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
    ]
}
