// SPDX-License-Identifier: Apache-2.0
// The composed form of a passphrase that is not plain ASCII.

import Foundation
import SecretMemory

extension PassphraseDerivation {
    /// Composition may shorten the text: a Hangul syllable to a third, more is not known.
    private static let longestUncomposed = 4 * 1024

    static func composed(_ passphrase: SecretBytes) throws(PassphraseFailure) -> SecretBytes {
        guard passphrase.count <= longestUncomposed else { throw .tooLong }
        // Foundation works on copies, which small blocks of the heap and the stack may keep.
        defer { scrubLeftovers() }
        var text = try text(passphrase)
        defer { text.wipe() }
        return try joined(text)
    }

    private static func text(_ passphrase: SecretBytes) throws(PassphraseFailure) -> String {
        let text = passphrase.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
        guard let text else { throw .notText }
        return text
    }

    /// One character at a time, which composition never reaches across, so that no other string ever holds all of them.
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

    /// Taken apart first: Foundation on Linux does not add a final letter to a Hangul syllable that is composed already.
    private static func composed(_ character: Character) -> String.UTF8View {
        let text = String(character).decomposedStringWithCanonicalMapping
        let hasOldHangul = text.unicodeScalars.contains(where: isOldHangul)
        return (hasOldHangul ? composedAroundOldHangul(text) : text.precomposedStringWithCanonicalMapping).utf8
    }

    /// Foundation on Linux composes old Hangul letters as if they were those of today, and gets other characters. They are
    /// part of no composed character, so what stands between them is composed for itself.
    private static func composedAroundOldHangul(_ text: String) -> String {
        var (result, rest) = ("", String.UnicodeScalarView())
        for scalar in text.unicodeScalars {
            guard isOldHangul(scalar) else {
                rest.append(scalar)
                continue
            }
            result += String(rest).precomposedStringWithCanonicalMapping
            result.unicodeScalars.append(scalar)
            rest = String.UnicodeScalarView()
        }
        return result + String(rest).precomposedStringWithCanonicalMapping
    }

    /// Letters in the blocks of those that compose, beyond the last of their kind that does.
    private static func isOldHangul(_ scalar: Unicode.Scalar) -> Bool {
        (0x1113...0x1160).contains(scalar.value) || (0x1176...0x11A7).contains(scalar.value)
            || (0x11C3...0x11FF).contains(scalar.value)
    }
}
