// SPDX-License-Identifier: Apache-2.0
// Text of XML as the characters that it stands for.

import Foundation

enum XMLText {
    enum Problem: Error {
        case tooLong
        /// One that XML does not allow.
        case character
        /// A reference to something else than a character, or to one that XML does not define.
        case entity
    }

    /// The longest is `&#x10FFFF;`, or more with zeros before it.
    private static let longestReference = 16
    private static let named: [String: Unicode.Scalar] = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]

    /// - Parameter limit: The most bytes of the result.
    static func decoded(_ text: Slice<UnsafeRawBufferPointer>, limit: Int) throws(Problem) -> Data {
        // Allocated once: a growing buffer would leave copies behind. References are longer than what they stand for.
        var result = Data(capacity: min(text.count, limit + 4))
        var rest = text
        while let byte = rest.popFirst() {
            guard result.count < limit else {
                result.wipe()
                throw .tooLong
            }
            switch byte {
            case UInt8(ascii: "&"): result.append(contentsOf: Array(String(try reference(&rest)).utf8))
            // XML has one kind of line end. A carriage return that is meant is written as a reference.
            case 0x0D:
                if rest.first == 0x0A { rest = rest.dropFirst() }
                result.append(0x0A)
            case 0x09, 0x0A, 0x20...: result.append(byte)
            default: throw .character
            }
        }
        guard result.count <= limit else {
            result.wipe()
            throw .tooLong
        }
        return result
    }

    /// - Parameter rest: What follows the ampersand.
    private static func reference(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(Problem) -> Unicode.Scalar {
        guard let end = rest.prefix(longestReference).firstIndex(of: UInt8(ascii: ";")) else { throw .entity }
        let name = String(decoding: rest[..<end], as: UTF8.self)
        rest = rest[(end + 1)...]
        if let scalar = named[name] { return scalar }
        guard name.hasPrefix("#") else { throw .entity }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.utf8.dropFirst(isHexadecimal ? 2 : 1)
        guard digits.allSatisfy({ $0.hexadecimalDigit != nil }),
            let code = UInt32(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10),
            let scalar = Unicode.Scalar(code)
        else { throw .entity }
        guard code >= 0x20 || code == 0x09 || code == 0x0A || code == 0x0D, code & 0xFFFE != 0xFFFE else {
            throw .character
        }
        return scalar
    }
}
