// SPDX-License-Identifier: Apache-2.0
// Base32 (RFC 4648), as people copy it from a web page.

enum Base32 {
    /// Small letters count as capitals; spaces, hyphens and the padding are ignored.
    ///
    /// - Returns: `nil` for other characters, and for a length that no bytes have.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        var (result, bits, count, letters) = ([UInt8](), UInt32(0), 0, 0)
        for byte in text where !Array(" -=".utf8).contains(byte) {
            guard let value = value(byte) else { return nil }
            (bits, count, letters) = (bits << 5 | value, count + 5, letters + 1)
            guard count >= 8 else { continue }
            count -= 8
            result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return [1, 3, 6].contains(letters % 8) ? nil : result
    }

    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a"))
        case UInt8(ascii: "2")...UInt8(ascii: "7"): UInt32(byte - UInt8(ascii: "2")) + 26
        default: nil
        }
    }
}
