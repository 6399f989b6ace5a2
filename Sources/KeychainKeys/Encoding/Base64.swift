// SPDX-License-Identifier: Apache-2.0
// Base64 from and to secret memory. Foundation would leave copies.

import SecretMemory

enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The values of characters; 255 for characters that are not digits.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// - Parameter text: White space is skipped.
    /// - Returns: `nil` for any other character or wrong padding.
    static func decode(_ text: UnsafeRawBufferPointer) -> SecretBytes? {
        var digits = 0
        var padding = 0
        for character in text where !isSpace(character) {
            if character == UInt8(ascii: "=") { padding += 1 } else { digits += 1 }
            if padding > 2 || padding > 0 && character != UInt8(ascii: "=") { return nil }
        }
        guard (digits + padding) % 4 == 0 else { return nil }
        var isValid = true
        let result = SecretBytes(count: digits * 6 / 8) { isValid = decode(text, into: $0) }
        return isValid ? result : nil
    }

    private static func decode(_ text: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Bool {
        var (bits, count, position) = (UInt32(0), 0, 0)
        for character in text where !isSpace(character) && character != UInt8(ascii: "=") {
            let value = values[Int(character)]
            guard value < 64 else { return false }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            target[position] = UInt8(truncatingIfNeeded: bits >> UInt32(count))
            position += 1
            bits &= (1 << UInt32(count)) - 1
        }
        // The remaining bits of the last digit must be zero.
        return bits == 0
    }

    static func isSpace(_ character: UInt8) -> Bool {
        character == 0x20 || (0x09...0x0D).contains(character)
    }

    /// Lines of 64 characters, each with a line feed.
    static func encodeLines(_ bytes: SecretBytes) -> SecretBytes {
        let characters = (bytes.count + 2) / 3 * 4
        return SecretBytes(count: characters + (characters + 63) / 64) { target in
            bytes.withUnsafeBytes { encode($0, into: target) }
        }
    }

    private static func encode(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
        var position = 0
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = (0..<3).map { start + $0 < bytes.count ? UInt32(bytes[start + $0]) : 0 }
            let bits = group[0] << 16 | group[1] << 8 | group[2]
            for digit in 0..<4 {
                let isPadding = start + digit > bytes.count
                let value = Int(bits >> UInt32(18 - 6 * digit) & 63)
                target[position] = isPadding ? UInt8(ascii: "=") : alphabet[value]
                position += 1
            }
            if position % 65 == 64 || start + 3 >= bytes.count {
                target[position] = UInt8(ascii: "\n")
                position += 1
            }
        }
    }
}
