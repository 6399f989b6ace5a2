// SPDX-License-Identifier: Apache-2.0
// Lines of text, checked before anything is made of them.

import Foundation
import KeychainKit

/// One line without its end.
struct ImportLine {
    let number: Int
    let bytes: Slice<UnsafeRawBufferPointer>

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

enum ImportText {
    private static let newline = UInt8(ascii: "\n")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The text without a byte order mark.
    ///
    /// - Throws: If a line is too long, is not UTF-8 or contains a zero byte.
    static func checked(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> UnsafeRawBufferPointer {
        try forEachLine(bytes) { (line) throws(KeychainError) in
            guard line.bytes.count <= ImportLimits.line else {
                throw KeychainError(.tooLarge, "Line \(line.number) is longer than 1 MiB. Nothing was imported.")
            }
            guard !line.bytes.contains(0) else { throw .unreadable(line: line.number, "It contains a zero byte.") }
            guard String(validating: line.bytes, as: UTF8.self) != nil else {
                throw .unreadable(line: line.number, "It is not valid UTF-8.")
            }
        }
        return bytes.starts(with: byteOrderMark) ? UnsafeRawBufferPointer(rebasing: bytes[3...]) : bytes
    }

    /// The text of a format whose lines never end with a carriage return alone. A comment would end there, or go on, depending on who reads it.
    ///
    /// - Throws: Also if there is a carriage return that does not end a line of the file.
    static func checked(withoutReturns bytes: UnsafeRawBufferPointer) throws(KeychainError) -> UnsafeRawBufferPointer {
        try forEachLine(bytes) { (line) throws(KeychainError) in
            guard let first = line.bytes.firstIndex(of: UInt8(ascii: "\r")) else { return }
            guard first == line.bytes.endIndex - 1 else {
                throw .unreadable(line: line.number, "It contains a carriage return.")
            }
        }
        return try checked(bytes)
    }

    /// The lines of checked text, without a final carriage return.
    static func lines(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [ImportLine] {
        var lines: [ImportLine] = []
        try forEachLine(try checked(bytes)) { (line) throws(KeychainError) in
            let hasReturn = line.bytes.last == UInt8(ascii: "\r")
            lines.append(ImportLine(number: line.number, bytes: hasReturn ? line.bytes.dropLast() : line.bytes))
            // A few lines of each entry are more than any format has.
            guard lines.count <= 64 * ImportLimits.entries else { throw .tooManyEntries }
        }
        return lines
    }

    private static func forEachLine(
        _ bytes: UnsafeRawBufferPointer, _ body: (ImportLine) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        var (number, start) = (1, 0)
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: newline) ?? bytes.count
            try body(ImportLine(number: number, bytes: bytes[start..<end]))
            (number, start) = (number + 1, end + 1)
        }
    }
}

extension Collection<UInt8> {
    /// The text without spaces and tabs at its ends.
    var trimmed: SubSequence {
        let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var rest = drop(while: isSpace)
        while rest.count > 0, let last = rest.dropFirst(rest.count - 1).first, isSpace(last) {
            rest = rest.prefix(rest.count - 1)
        }
        return rest
    }

    /// With `%XX` replaced by the byte; `nil` if a `%` is not followed by two digits.
    var percentDecoded: Data? {
        var result = Data(capacity: count)
        var rest = self[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
                return nil
            }
            result.append(high << 4 | low)
        }
        return result
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit.
    var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
