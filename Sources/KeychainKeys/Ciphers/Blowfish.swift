// SPDX-License-Identifier: Apache-2.0
// Blowfish, as far as the key derivation of OpenSSH needs it.

import SecretMemory

/// The state of Blowfish (B. Schneier, 1993): 18 words that are added to the halves of a block, and four tables.
struct Blowfish {
    private var words: [UInt32]

    /// The state before any key: the first fractional digits of pi.
    init() { words = PiDigits.words }

    /// Mixes a key in, as bcrypt does: if there is `data`, it is mixed into the blocks that are encrypted for the next
    /// state.
    mutating func expand(key: [UInt8], data: [UInt8]? = nil) {
        words.withUnsafeMutableBufferPointer { words in
            var position = 0
            for index in 0..<18 { words[index] ^= Self.nextWord(key, &position) }
            position = 0
            var (left, right) = (UInt32(0), UInt32(0))
            for index in stride(from: 0, to: words.count, by: 2) {
                if let data {
                    left ^= Self.nextWord(data, &position)
                    right ^= Self.nextWord(data, &position)
                }
                Self.encrypt(words, &left, &right)
                (words[index], words[index + 1]) = (left, right)
            }
        }
    }

    /// Encrypts pairs of words in place.
    mutating func encrypt(_ blocks: inout [UInt32]) {
        words.withUnsafeMutableBufferPointer { words in
            for index in stride(from: 0, to: blocks.count, by: 2) {
                var (left, right) = (blocks[index], blocks[index + 1])
                Self.encrypt(words, &left, &right)
                (blocks[index], blocks[index + 1]) = (left, right)
            }
        }
    }

    mutating func wipe() { words.withUnsafeMutableBytes { wipeMemory($0) } }

    private static func encrypt(
        _ words: UnsafeMutableBufferPointer<UInt32>, _ left: inout UInt32, _ right: inout UInt32
    ) {
        for round in 0..<16 {
            left ^= words[round]
            let first = words[18 + Int(left >> 24)] &+ words[274 + Int(left >> 16 & 255)]
            right ^= (first ^ words[530 + Int(left >> 8 & 255)]) &+ words[786 + Int(left & 255)]
            (left, right) = (right, left)
        }
        (left, right) = (right ^ words[17], left ^ words[16])
    }

    /// The next four bytes; continues at the beginning after the end.
    private static func nextWord(_ bytes: [UInt8], _ position: inout Int) -> UInt32 {
        var word: UInt32 = 0
        for _ in 0..<4 {
            word = word << 8 | UInt32(bytes[position])
            position = (position + 1) % bytes.count
        }
        return word
    }
}

/// The fractional digits of pi, 32 bits in each word. They are computed, because a table would have a thousand numbers.
private enum PiDigits {
    static let words: [UInt32] = {
        var pi = arctangent(5, times: 16)
        subtract(arctangent(239, times: 4), from: &pi)
        return Array(pi[1..<1043])
    }()

    /// The words of a number: one before the point, then the digits, then some against errors of rounding.
    private static let count = 1 + 1042 + 4

    /// A multiple of arctan(1/x), by its power series: two of them make pi (J. Machin, 1706).
    private static func arctangent(_ x: UInt64, times factor: UInt32) -> [UInt32] {
        var power = [factor] + [UInt32](repeating: 0, count: count - 1)
        divide(&power, by: x)
        var (sum, divisor, isAdded) = (power, UInt64(1), false)
        while power.contains(where: { $0 != 0 }) {
            divide(&power, by: x * x)
            divisor += 2
            var term = power
            divide(&term, by: divisor)
            if isAdded { add(term, to: &sum) } else { subtract(term, from: &sum) }
            isAdded.toggle()
        }
        return sum
    }

    private static func divide(_ number: inout [UInt32], by divisor: UInt64) {
        number.withUnsafeMutableBufferPointer { words in
            var rest: UInt64 = 0
            for index in words.indices {
                let value = rest << 32 | UInt64(words[index])
                guard value != 0 else { continue }
                words[index] = UInt32(value / divisor)
                rest = value % divisor
            }
        }
    }

    private static func add(_ term: [UInt32], to sum: inout [UInt32]) {
        var carry: UInt64 = 0
        for index in sum.indices.reversed() {
            carry += UInt64(sum[index]) + UInt64(term[index])
            sum[index] = UInt32(truncatingIfNeeded: carry)
            carry >>= 32
        }
    }

    private static func subtract(_ term: [UInt32], from sum: inout [UInt32]) {
        var borrow: Int64 = 0
        for index in sum.indices.reversed() {
            borrow += Int64(sum[index]) - Int64(term[index])
            sum[index] = UInt32(truncatingIfNeeded: borrow)
            borrow >>= 32
        }
    }
}
