// SPDX-License-Identifier: Apache-2.0
// A code that is typed once, to admit a machine to a ring.

import Crypto
import Foundation
public import SecretMemory

/// 100 random bits and 20 check bits: Crockford's base32 in six groups of four.
///
/// There are too many bits to guess, even for an attacker who has the authenticated data and can test guesses offline.
public enum InvitationCode {
    /// 104 bits: the last four are zero.
    public static let byteCount = 13

    public static func make() -> SecretBytes {
        SecretBytes(count: byteCount) { bytes in
            fillWithRandomBytes(bytes)
            bytes[byteCount - 1] &= 0xF0
        }
    }

    /// 29 bytes of ASCII: `7K2M-XXXX-XXXX-XXXX-XXXX-XXXX`.
    public static func text(_ code: SecretBytes) -> SecretBytes {
        precondition(code.count == byteCount, "an invitation code has 13 bytes")
        return code.withUnsafeBytes { bytes in
            SecretBytes(count: 29) { text in
                let check = check(bytes)
                for index in 0..<24 {
                    if index > 0 && index.isMultiple(of: 4) { text[index + index / 4 - 1] = UInt8(ascii: "-") }
                    let symbol = index < 20 ? Base32.symbol(index, of: bytes) : UInt8(check >> (5 * (23 - index)) & 31)
                    text[index + index / 4] = Base32.alphabet[Int(symbol)]
                }
            }
        }
    }

    /// Reads typed text: case, spaces and hyphens are ignored, O counts as 0, I and L as 1.
    ///
    /// - Returns: `nil` if it is mistyped, or not a code.
    public static func read(_ text: SecretBytes) -> SecretBytes? {
        var symbols: [UInt8] = []
        symbols.reserveCapacity(24)
        defer { symbols.wipe() }
        let isReadable = text.withUnsafeBytes { text in
            guard text.count <= 128 else { return false }
            for character in text where !"- \t\r\n".utf8.contains(character) {
                guard symbols.count < 24, let value = Base32.value(of: character) else { return false }
                symbols.append(value)
            }
            return symbols.count == 24
        }
        return isReadable ? code(symbols) : nil
    }

    private static func code(_ symbols: [UInt8]) -> SecretBytes? {
        let code = SecretBytes(count: byteCount) { bytes in
            for index in 0..<20 {
                let (at, shift) = (index * 5 / 8, 11 - index * 5 % 8)
                let bits = UInt16(symbols[index]) << shift
                bytes[at] |= UInt8(bits >> 8)
                if at + 1 < bytes.count { bytes[at + 1] |= UInt8(bits & 0xFF) }
            }
        }
        let typed = symbols[20...].reduce(UInt32(0)) { $0 << 5 | UInt32($1) }
        return code.withUnsafeBytes { check($0) } == typed ? code : nil
    }

    /// The first 20 bits of a digest.
    private static func check(_ code: UnsafeRawBufferPointer) -> UInt32 {
        // A copy of the digest's state lies on the stack, with the code as it is.
        defer { scrubResidue() }
        let digest = SHA256.digest(of: code, after: "swift-keychain/1 invitation code")
        return digest.prefix(3).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } >> 4
    }
}

/// Crockford's base32, for text that people read out or type.
public enum Base32 {
    static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The text of public bytes in groups of four; trailing bits that do not fill a symbol are omitted.
    public static func groups(_ bytes: [UInt8]) -> String {
        let symbols = bytes.withUnsafeBytes { bytes in
            (0..<bytes.count * 8 / 5).map { alphabet[Int(symbol($0, of: bytes))] }
        }
        let groups = stride(from: 0, to: symbols.count, by: 4).map { symbols[$0..<min($0 + 4, symbols.count)] }
        return groups.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
    }

    static func symbol(_ index: Int, of bytes: UnsafeRawBufferPointer) -> UInt8 {
        let (at, shift) = (index * 5 / 8, 11 - index * 5 % 8)
        let next = at + 1 < bytes.count ? bytes[at + 1] : 0
        return UInt8((UInt16(bytes[at]) << 8 | UInt16(next)) >> shift & 31)
    }

    static func value(of character: UInt8) -> UInt8? {
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character | 0x20)
        switch isLetter ? character & ~0x20 : character {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        case let upper: return alphabet.firstIndex(of: upper).map(UInt8.init)
        }
    }
}
