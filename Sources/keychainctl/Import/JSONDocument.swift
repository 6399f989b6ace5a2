// SPDX-License-Identifier: Apache-2.0
// JSON from other programs, whose nesting is checked before it is decoded.

import Foundation
import KeychainKit

enum JSONDocument {
    /// - Parameter format: What the file is, with its article.
    static func decode<Value: Decodable>(
        _ type: Value.Type, _ bytes: UnsafeRawBufferPointer, _ format: String
    ) throws(KeychainError) -> Value {
        let text = try ImportText.checked(withLongLines: bytes, format)
        try checkNesting(text)
        var copy = Data(text)
        defer { copy.wipe() }
        do {
            return try JSONDecoder().decode(type, from: copy)
        } catch {
            throw .notA(format, "\(place(of: error)) is not as expected.")
        }
    }

    /// Numbers only: the keys on the way may be content.
    private static func place(of error: any Error) -> String {
        let path: [any CodingKey] =
            switch error {
            case DecodingError.keyNotFound(_, let context), DecodingError.typeMismatch(_, let context),
                DecodingError.valueNotFound(_, let context), DecodingError.dataCorrupted(let context):
                context.codingPath
            default: []
            }
        let numbers = path.compactMap(\.intValue).map { String($0 + 1) }
        return numbers.isEmpty ? "its JSON" : "entry \(numbers.joined(separator: "."))"
    }

    private static func checkNesting(_ text: UnsafeRawBufferPointer) throws(KeychainError) {
        var (line, depth, isText, isEscaped) = (1, 0, false, false)
        for byte in text {
            if byte == UInt8(ascii: "\n") { line += 1 }
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else {
                    isText = byte != UInt8(ascii: "\"")
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            guard depth >= 0 else { throw .unreadable(line: line, "A bracket closes that was not opened.") }
            guard depth <= ImportLimits.nesting else {
                throw .unreadable(line: line, "The JSON is nested more than \(ImportLimits.nesting) levels deep.")
            }
        }
        guard depth == 0, !isText else { throw .unreadable(line: line, "The JSON ends early. The file may be cut.") }
    }
}

extension ImportText {
    /// JSON is often one line, and XML has lines of any length, so that only the file has a limit. Zero bytes and invalid
    /// UTF-8 are errors as in text.
    static func checked(
        withLongLines bytes: UnsafeRawBufferPointer, _ format: String
    ) throws(KeychainError) -> UnsafeRawBufferPointer {
        guard !bytes.starts(with: Array("PK\u{3}\u{4}".utf8)) else { throw .notA(format, "it is a ZIP archive.") }
        guard !bytes.contains(0) else { throw .notA(format, "it contains a zero byte.") }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .notA(format, "it is not valid UTF-8.") }
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? UnsafeRawBufferPointer(rebasing: bytes[3...]) : bytes
    }
}
