// SPDX-License-Identifier: Apache-2.0
// A key as text on paper.

import Crypto
import Foundation
public import SecretMemory

/// 256 random bits that the user writes down: Crockford's base32 in fourteen groups of four, the last one a checksum.
///
/// ```swift
/// let key = RecoveryKey.make()
/// show(RecoveryKey.text(key))  // 7ZQ3-0V5K-…
/// ```
///
/// The checksum has 20 bits: one in a million mistyped texts is accepted as a key, which then opens nothing.
public enum RecoveryKey {
    /// The result of reading a typed text.
    public enum Reading: Sendable {
        /// 32 bytes.
        case key(SecretBytes)
        /// 56 letters and digits, at least one of them wrong.
        case mistyped
        /// Not a recovery key: another length, or characters that keys do not contain.
        case other
    }

    /// 32 bytes.
    public static func make() -> SecretBytes { .random(count: 32) }

    /// The text of a key of 32 bytes: 69 bytes of ASCII, in upper case, the groups joined by hyphens.
    public static func text(_ key: SecretBytes) -> SecretBytes {
        precondition(key.count == 32, "a recovery key has 32 bytes")
        return Symbols.text(.concatenating(key, check(key)))
    }

    /// Reads typed text: case, spaces, hyphens and line breaks are ignored, O counts as 0, I and L as 1.
    public static func read(_ text: SecretBytes) -> Reading {
        switch Symbols.read(text) {
        case .symbols(let packed): return verified(packed)
        case .wrongLetter: return .mistyped
        case .nothing: return .other
        }
    }

    private static func verified(_ packed: SecretBytes) -> Reading {
        packed.withUnsafeBytes { bytes in
            let key = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<32]))
            let isRight = check(key).withUnsafeBytes { $0.elementsEqual(bytes[32...]) }
            return isRight ? .key(key) : .mistyped
        }
    }

    /// Four zero bits that fill the last symbol of the key, and the first 20 bits of a digest.
    private static func check(_ key: SecretBytes) -> SecretBytes {
        // A copy of the digest's state lies on the stack, with the key as it is.
        defer { scrubResidue() }
        let digest = key.withUnsafeBytes { SHA256.digest(of: $0, after: "swift-keychain/1 recovery key") }
        let bits = digest.prefix(3).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } >> 4
        return SecretBytes(count: 3) { bytes in
            for index in 0..<3 { bytes[index] = UInt8(truncatingIfNeeded: bits >> (16 - 8 * index)) }
        }
    }
}

/// 56 symbols of five bits, which are 35 bytes.
private enum Symbols {
    static let count = 56
    static let byteCount = 35
    static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    static func text(_ packed: SecretBytes) -> SecretBytes {
        packed.withUnsafeBytes { bytes in
            SecretBytes(count: count + count / 4 - 1) { text in
                for index in 0..<count {
                    if index > 0 && index.isMultiple(of: 4) { text[index + index / 4 - 1] = UInt8(ascii: "-") }
                    text[index + index / 4] = alphabet[Int(symbol(index, of: bytes))]
                }
            }
        }
    }

    enum Found {
        case symbols(SecretBytes)
        /// The right number of letters and digits, with at least one that is not a symbol.
        case wrongLetter
        case nothing
    }

    static func read(_ text: SecretBytes) -> Found {
        var (length, looksRight, isRight) = (0, true, true)
        let packed = SecretBytes(count: byteCount) { bytes in
            text.withUnsafeBytes {
                for character in $0 where !isSeparator(character) {
                    let value = value(of: character)
                    looksRight = looksRight && isLetterOrDigit(character)
                    isRight = isRight && value != nil
                    if length < count { put(value ?? 0, at: length, in: bytes) }
                    length += 1
                }
            }
        }
        guard length == count && looksRight else { return .nothing }
        return isRight ? .symbols(packed) : .wrongLetter
    }

    private static func symbol(_ index: Int, of bytes: UnsafeRawBufferPointer) -> UInt8 {
        let (at, shift) = (index * 5 / 8, 11 - index * 5 % 8)
        let next = at + 1 < bytes.count ? bytes[at + 1] : 0
        return UInt8((UInt16(bytes[at]) << 8 | UInt16(next)) >> shift & 31)
    }

    private static func put(_ symbol: UInt8, at index: Int, in bytes: UnsafeMutableRawBufferPointer) {
        let (at, shift) = (index * 5 / 8, 11 - index * 5 % 8)
        let bits = UInt16(symbol) << shift
        bytes[at] |= UInt8(bits >> 8)
        if at + 1 < bytes.count { bytes[at + 1] |= UInt8(bits & 0xFF) }
    }

    private static func value(of character: UInt8) -> UInt8? {
        let upper = isLetter(character) ? character & ~0x20 : character
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return alphabet.firstIndex(of: upper).map(UInt8.init)
        }
    }

    private static func isSeparator(_ character: UInt8) -> Bool { "- \t\r\n".utf8.contains(character) }

    private static func isLetter(_ character: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character | 0x20)
    }

    private static func isLetterOrDigit(_ character: UInt8) -> Bool {
        isLetter(character) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
    }
}
