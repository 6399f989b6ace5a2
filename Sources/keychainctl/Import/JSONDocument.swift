// SPDX-License-Identifier: Apache-2.0
// JSON from other programs, whose nesting and keys are checked before it is decoded.

import Foundation
import KeychainKit

enum JSONDocument {
    /// - Parameter format: What the file is, with its article.
    static func decode<Value: Decodable>(
        _ type: Value.Type, _ bytes: UnsafeRawBufferPointer, _ format: String
    ) throws(KeychainError) -> Value {
        let text = try ImportText.checked(withLongLines: bytes, format)
        var check = JSONCheck(text)
        try check.run()
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

}

/// What the decoder accepts: deep nesting takes its stack, and of a key that an object has twice it takes one.
private struct JSONCheck {
    private let text: UnsafeRawBufferPointer
    private var line = 1
    /// For each open bracket, the keys so far. An array has none.
    private var open: [Set<String>] = []
    /// The text that was read last, with its quotation marks. Before a colon, it is a key.
    private var lastText = 0..<0

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    mutating func run() throws(KeychainError) {
        var position = 0
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                lastText = position..<(try end(ofTextAt: position))
                position = lastText.upperBound
                continue
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): try begin()
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard open.popLast() != nil else { throw unreadable("A bracket closes that was not opened.") }
            case UInt8(ascii: ":"): try addKey()
            default: break
            }
            position += 1
        }
        guard open.isEmpty else { throw endsEarly }
    }

    private mutating func begin() throws(KeychainError) {
        open.append([])
        guard open.count <= ImportLimits.nesting else {
            throw unreadable("The JSON is nested more than \(ImportLimits.nesting) levels deep.")
        }
    }

    private mutating func end(ofTextAt start: Int) throws(KeychainError) -> Int {
        var position = start + 1
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""): return position + 1
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "\\"): position += 1
            default: break
            }
            position += 1
        }
        throw endsEarly
    }

    private mutating func addKey() throws(KeychainError) {
        guard !open.isEmpty else { return }
        let isNew = open[open.count - 1].insert(key).inserted
        guard isNew else { throw unreadable("An object has a key twice.") }
    }

    /// Two keys with different escapes may be the same.
    private var key: String {
        let quoted = text[lastText]
        let plain = String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
        guard quoted.contains(UInt8(ascii: "\\")) else { return plain }
        // The decoder finds the error again, and reports it.
        return (try? JSONDecoder().decode(String.self, from: Data(quoted))) ?? plain
    }

    private var endsEarly: KeychainError { unreadable("The JSON ends early. The file may be cut.") }

    private func unreadable(_ problem: String) -> KeychainError { .unreadable(line: line, problem) }
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
