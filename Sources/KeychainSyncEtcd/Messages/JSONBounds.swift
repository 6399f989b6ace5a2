// SPDX-License-Identifier: Apache-2.0
// The limits of JSON that comes from a carrier, checked before it is decoded.

import Foundation

/// A decoder builds tables that are many times as large as the text, and goes as deep as the text does.
enum JSONBounds {
    static let line = 4 << 20
    static let body = 32 << 20
    static let depth = 16
    /// A page of keys has some ten thousand.
    static let values = 500_000

    /// Whether the text is neither too deep nor has too many values. It may still be no JSON.
    static func hold(_ text: Data) -> Bool {
        guard text.count <= body else { return false }
        return text.withUnsafeBytes { bytes in
            var (depth, values, isString, isEscaped) = (0, 0, false, false)
            for byte in bytes {
                if isString {
                    if isEscaped {
                        isEscaped = false
                    } else if byte == UInt8(ascii: "\\") {
                        isEscaped = true
                    } else if byte == UInt8(ascii: "\"") {
                        isString = false
                    }
                    continue
                }
                switch byte {
                case UInt8(ascii: "\""): isString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): (depth, values) = (depth + 1, values + 1)
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                case UInt8(ascii: ","), UInt8(ascii: ":"): values += 1
                default: break
                }
                guard depth <= Self.depth, values <= Self.values else { return false }
            }
            return true
        }
    }
}
