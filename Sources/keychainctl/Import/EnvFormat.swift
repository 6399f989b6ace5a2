// SPDX-License-Identifier: Apache-2.0
// Files of variables (.env), as docker compose, dotenv and systemd read them.

import Foundation
import KeychainKit

/// `NAME=value` in each line, optionally after `export`. What the programs read differently is not guessed: such a
/// variable is reported and not imported.
struct EnvFormat {
    private let bytes: UnsafeRawBufferPointer
    private let service: String
    private var position = 0
    private var line = 1
    private var records: [ImportRecord] = []

    private static let newline = UInt8(ascii: "\n")

    static func records(
        _ bytes: UnsafeRawBufferPointer, service: String
    ) throws(KeychainError) -> [ImportRecord] {
        var format = EnvFormat(bytes: try ImportText.checked(withoutReturns: bytes), service: service)
        while format.position < bytes.count, format.position < format.bytes.count { try format.readLine() }
        return format.records
    }

    private init(bytes: UnsafeRawBufferPointer, service: String) { (self.bytes, self.service) = (bytes, service) }

    private mutating func readLine() throws(KeychainError) {
        skipSpace()
        guard let byte, byte != Self.newline, byte != UInt8(ascii: "#"), byte != UInt8(ascii: "\r") else {
            return skipLine()
        }
        let start = line
        let name = try name()
        position += 1
        skipSpace()
        let value = try value()
        try endLine(start)
        append(name, value, start)
        guard records.count <= ImportLimits.entries else { throw .tooManyEntries }
    }

    private mutating func append(_ name: String, _ value: (bytes: Data, refers: Bool), _ line: Int) {
        let origin = "line \(line)"
        if value.refers {
            let reason = "it refers to another variable (${…}); put the value in single quotes to import it as it is"
            records.append(ImportRecord(skipping: name, reason, origin: origin))
        } else if value.bytes.isEmpty {
            records.append(ImportRecord(skipping: name, "it is empty", origin: origin))
        } else {
            let item = ImportedItem(place: .service(service), account: name, value: value.bytes)
            records.append(ImportRecord(item, origin: origin))
        }
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func name() throws(KeychainError) -> String {
        let end = bytes[position...].firstIndex { $0 == UInt8(ascii: "=") || $0 == Self.newline } ?? bytes.count
        var word = bytes[position..<end].trimmed
        let export = Array("export".utf8)
        if word.starts(with: export), word.dropFirst(export.count).first.map({ $0 == 0x20 || $0 == 0x09 }) ?? false {
            word = word.dropFirst(export.count).trimmed
        }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "="), let first = word.first,
            word.allSatisfy(Self.isNameByte), !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        else { throw .unreadable(line: line, "It is not NAME=VALUE.") }
        position = end
        return String(decoding: word, as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    // MARK: - Values

    private mutating func value() throws(KeychainError) -> (Data, Bool) {
        switch byte {
        case UInt8(ascii: "'"): (try quoted(UInt8(ascii: "'"), hasEscapes: false).0, false)
        case UInt8(ascii: "\""): try quoted(UInt8(ascii: "\""), hasEscapes: true)
        default: plain()
        }
    }

    /// To the end of the line or a comment.
    private mutating func plain() -> (Data, Bool) {
        let end = bytes[position...].firstIndex(of: Self.newline) ?? bytes.count
        var raw = bytes[position..<end]
        if raw.last == UInt8(ascii: "\r") { raw = raw.dropLast() }
        let comment = raw.indices.first { index in
            raw[index] == UInt8(ascii: "#")
                && (index == raw.startIndex || raw[index - 1] == 0x20 || raw[index - 1] == 0x09)
        }
        position = end
        let value = raw[..<(comment ?? raw.endIndex)].trimmed
        return (Data(value), value.refersToVariable)
    }

    private mutating func quoted(_ quote: UInt8, hasEscapes: Bool) throws(KeychainError) -> (Data, Bool) {
        let (start, firstLine) = (position + 1, line)
        position += 1
        while let byte, byte != quote {
            skip()
            if hasEscapes, byte == UInt8(ascii: "\\") { skip() }
        }
        guard position < bytes.count else {
            throw .unreadable(line: firstLine, "A quotation mark is not closed. The file may be cut.")
        }
        defer { position += 1 }
        let raw = bytes[start..<position]
        guard raw.count <= ImportLimits.field else {
            throw KeychainError(.tooLarge, "Line \(firstLine): The value is longer than 1 MiB. Nothing was imported.")
        }
        return hasEscapes ? (Self.unescaped(raw), raw.refersToVariable) : (Data(raw), false)
    }

    /// Counts the lines, also where a backslash ends one.
    private mutating func skip() {
        if byte == Self.newline { line += 1 }
        position += 1
    }

    private static func unescaped(_ raw: Slice<UnsafeRawBufferPointer>) -> Data {
        var (value, rest) = (Data(capacity: raw.count), raw)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
                value.append(byte)
                continue
            }
            switch next {
            case UInt8(ascii: "n"): value.append(newline)
            case UInt8(ascii: "r"): value.append(UInt8(ascii: "\r"))
            case UInt8(ascii: "t"): value.append(UInt8(ascii: "\t"))
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"): value.append(next)
            default: value.append(contentsOf: [byte, next])
            }
        }
        return value
    }

    // MARK: - Lines

    private mutating func endLine(_ start: Int) throws(KeychainError) {
        let end = position
        skipSpace()
        // Without a space before it, a shell takes it for a part of the value.
        let isComment = byte == UInt8(ascii: "#") && position > end
        if byte == UInt8(ascii: "\r") { position += 1 }
        guard byte == nil || byte == Self.newline || isComment else {
            throw .unreadable(line: start, "A value in quotation marks is followed by other text.")
        }
        skipLine()
    }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x09 { position += 1 }
    }

    private mutating func skipLine() {
        while let byte, byte != Self.newline { position += 1 }
        guard byte != nil else { return }
        (position, line) = (position + 1, line + 1)
    }
}

extension Collection<UInt8> {
    /// Whether `${` occurs without a backslash before it.
    fileprivate var refersToVariable: Bool {
        var isEscaped = false
        for (byte, next) in zip(self, dropFirst()) {
            if !isEscaped, byte == UInt8(ascii: "$"), next == UInt8(ascii: "{") { return true }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return false
    }
}
