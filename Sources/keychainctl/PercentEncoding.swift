// SPDX-License-Identifier: Apache-2.0
// Percent-encoded bytes, as in the parts of a URL.

enum PercentEncoding {
    /// - Returns: `nil` if two hexadecimal digits are missing after a `%`.
    static func decoded(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        var (result, rest) = ([UInt8](), Array(bytes)[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            result.append(high << 4 | low)
        }
        return result
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
