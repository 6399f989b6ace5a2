// SPDX-License-Identifier: Apache-2.0
// How macOS's command shows bytes: as text, or in hexadecimal digits with the text beside them.

import Foundation

enum ValueForm {
    private static let upper = Array("0123456789ABCDEF".utf8)
    private static let lower = Array("0123456789abcdef".utf8)
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    /// `"text"`, or `0x` and digits, followed by quoted text with octal digits if any byte is printable; nothing for no
    /// bytes. The caller wipes it.
    static func bytes(_ value: Data) -> Data {
        guard !value.isEmpty else { return Data() }
        // Enough for every form, so that the buffer does not grow and leave copies.
        var form = Data(capacity: 6 * value.count + 8)
        if value.allSatisfy({ isPrintable($0) && $0 != backslash }) {
            form.append(quote)
            form.append(value)
            form.append(quote)
            return form
        }
        form.append(contentsOf: "0x".utf8)
        appendHexadecimal(value, upper, to: &form)
        form.append(UInt8(ascii: " "))
        if value.contains(where: isPrintable) { appendOctal(value, to: &form) }
        return form
    }

    static func text(_ value: Data) -> String { String(decoding: bytes(value), as: UTF8.self) }

    /// The value alone: as it is if every byte is printable, otherwise in lower-case hexadecimal digits.
    static func plain(_ value: Data) -> Data {
        var form = Data(capacity: 2 * value.count + 1)
        if value.allSatisfy(isPrintable) { form.append(value) } else { appendHexadecimal(value, lower, to: &form) }
        return form
    }

    static func hexadecimal(_ value: Data) -> String {
        var form = Data()
        appendHexadecimal(value, upper, to: &form)
        return String(decoding: form, as: UTF8.self)
    }

    private static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

    private static func appendHexadecimal(_ value: Data, _ digits: [UInt8], to form: inout Data) {
        for byte in value {
            form.append(digits[Int(byte >> 4)])
            form.append(digits[Int(byte & 15)])
        }
    }

    private static func appendOctal(_ value: Data, to form: inout Data) {
        form.append(contentsOf: " \"".utf8)
        for byte in value {
            guard !isPrintable(byte) || byte == backslash else {
                form.append(byte)
                continue
            }
            form.append(backslash)
            for shift in [6, 3, 0] { form.append(upper[Int(byte >> UInt8(shift) & 7)]) }
        }
        form.append(quote)
    }
}

extension Data {
    /// The digits of `-X`; an odd number of them gets a leading zero.
    ///
    /// - Returns: `nil` if there are other characters.
    init?(hexadecimal text: String) {
        let digits = Array(text.utf8.count.isMultiple(of: 2) ? text.utf8 : ("0" + text).utf8)
        var bytes = Data(capacity: digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.digit(digits[index]), let low = Self.digit(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        self = bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
