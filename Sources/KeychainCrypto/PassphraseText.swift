// SPDX-License-Identifier: Apache-2.0
// The composed form of a passphrase that is not plain ASCII.

import Foundation
import SecretMemory

#if !canImport(Darwin)
    @_spi(_Unicode) import Swift
#endif

extension PassphraseDerivation {
    /// Composition may shorten the text: a Hangul syllable to a third. A larger factor is not known.
    private static let longestUncomposed = 4 * 1024

    static func composed(_ passphrase: SecretBytes) throws(PassphraseFailure) -> SecretBytes {
        guard passphrase.count <= longestUncomposed else { throw .tooLong }
        // Composition works on copies, which small blocks of the heap and the stack may keep.
        defer { scrubResidue() }
        var text = try text(passphrase)
        defer { text.wipe() }
        return try joined(text)
    }

    private static func text(_ passphrase: SecretBytes) throws(PassphraseFailure) -> String {
        let text = passphrase.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
        guard let text else { throw .notText }
        return text
    }

    /// One character at a time, because composition never crosses characters. So no other string ever contains all of
    /// them.
    private static func joined(_ text: String) throws(PassphraseFailure) -> SecretBytes {
        var length = 0
        let buffer = SecretBytes(count: 1024) { buffer in
            for character in text {
                for byte in composed(character) {
                    if length < buffer.count { buffer[length] = byte }
                    length += 1
                }
            }
        }
        guard length <= buffer.count else { throw .tooLong }
        return buffer.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<length])) }
    }

    #if canImport(Darwin)
        private static func composed(_ character: Character) -> String.UTF8View {
            String(character).precomposedStringWithCanonicalMapping.utf8
        }
    #else
        /// With the standard library: Foundation would link all of ICU, and composes old Hangul letters incorrectly.
        private static func composed(_ character: Character) -> String.UTF8View {
            var text = String.UnicodeScalarView()
            for scalar in apart(character)._nfc { text.append(scalar) }
            return String(text).utf8
        }

        /// Three Tibetan vowels count as letters although their parts are marks. If such a vowel is one character, the
        /// standard library does not sort its parts among other marks.
        private static func apart(_ character: Character) -> String {
            var text = String.UnicodeScalarView()
            for scalar in character.unicodeScalars {
                switch scalar {
                case "\u{F73}": text.append(contentsOf: ["\u{F71}", "\u{F72}"])
                case "\u{F75}": text.append(contentsOf: ["\u{F71}", "\u{F74}"])
                case "\u{F81}": text.append(contentsOf: ["\u{F71}", "\u{F80}"])
                default: text.append(scalar)
                }
            }
            return String(text)
        }
    #endif
}
