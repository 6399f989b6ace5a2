// SPDX-License-Identifier: Apache-2.0
// Comma-separated values as in RFC 4180, read strictly: a file that was cut is an error.

import Foundation
import KeychainKit

struct CSVTable {
    struct Row {
        let line: Int
        var fields: [Data]
    }

    /// In lower case.
    let columns: [String]
    var rows: [Row]

    init(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        var reader = CSVReader(bytes: try ImportText.checked(bytes))
        guard let header = try reader.row() else { throw .notA("a CSV file", "it is empty.") }
        columns = header.fields.map { String(decoding: $0.trimmed, as: UTF8.self).lowercased() }
        rows = []
        while var row = try reader.row() {
            if row.fields.count == 1, row.fields[0].isEmpty { continue }
            guard row.fields.count == columns.count else {
                let count = row.fields.count
                for index in row.fields.indices { row.fields[index].wipe() }
                throw .unreadable(
                    line: row.line,
                    "It has \(count) columns, but the first line has \(columns.count). The file may be cut.")
            }
            rows.append(row)
            guard rows.count <= ImportLimits.entries else { throw .tooManyEntries }
        }
    }

    /// - Throws: If a column is missing or exists twice.
    func index(_ name: String, of format: String) throws(KeychainError) -> Int {
        guard let index = try optionalIndex(name, of: format) else {
            throw .notA(format, "the first line names no column '\(name)'.")
        }
        return index
    }

    func optionalIndex(_ name: String, of format: String) throws(KeychainError) -> Int? {
        let found = columns.indices.filter { columns[$0] == name }
        guard found.count < 2 else { throw .notA(format, "the first line names the column '\(name)' twice.") }
        return found.first
    }
}

private struct CSVReader {
    let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var line = 1

    private static let mostColumns = 1000
    private static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ",")
    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// - Returns: `nil` at the end.
    mutating func row() throws(KeychainError) -> CSVTable.Row? {
        guard position < bytes.count else { return nil }
        var row = CSVTable.Row(line: line, fields: [])
        while true {
            row.fields.append(try field())
            guard row.fields.count <= Self.mostColumns else {
                throw .unreadable(line: line, "It has more than \(Self.mostColumns) columns.")
            }
            guard position < bytes.count, bytes[position] == Self.comma else { break }
            position += 1
        }
        try endLine()
        return row
    }

    private mutating func endLine() throws(KeychainError) {
        guard position < bytes.count else { return }
        if bytes[position] == Self.carriageReturn { position += 1 }
        guard position < bytes.count else { return }
        guard bytes[position] == Self.newline else {
            throw .unreadable(line: line, "A field in quotation marks is followed by other text.")
        }
        (position, line) = (position + 1, line + 1)
    }

    private mutating func field() throws(KeychainError) -> Data {
        if position < bytes.count, bytes[position] == Self.quote { return try quotedField() }
        let start = position
        while position < bytes.count, ![Self.comma, Self.newline].contains(bytes[position]) {
            guard bytes[position] != Self.quote else {
                throw .unreadable(line: line, "A quotation mark is inside a field that does not begin with one.")
            }
            let next = position + 1
            guard bytes[position] != Self.carriageReturn || next == bytes.count || bytes[next] == Self.newline else {
                throw .unreadable(line: line, "It has a carriage return alone. Lines end with a line feed.")
            }
            position += 1
        }
        // The last line may have been cut within its end.
        let isLast = position == bytes.count || bytes[position] == Self.newline
        if isLast, position > start, bytes[position - 1] == Self.carriageReturn { position -= 1 }
        return try checked(Data(bytes[start..<position]))
    }

    private mutating func quotedField() throws(KeychainError) -> Data {
        let (start, firstLine) = (position + 1, line)
        position += 1
        while true {
            guard position < bytes.count else {
                throw .unreadable(line: firstLine, "A quotation mark is not closed. The file may be cut.")
            }
            if bytes[position] == Self.newline { line += 1 }
            if bytes[position] == Self.quote {
                guard position + 1 < bytes.count, bytes[position + 1] == Self.quote else { break }
                position += 1
            }
            position += 1
        }
        defer { position += 1 }
        return try checked(unquoted(bytes[start..<position]))
    }

    /// Allocated once: a growing buffer would leave copies behind.
    private func unquoted(_ raw: Slice<UnsafeRawBufferPointer>) -> Data {
        var field = Data(capacity: raw.count)
        var rest = raw
        while let quote = rest.firstIndex(of: Self.quote) {
            field.append(contentsOf: rest[...quote])
            rest = rest[(quote + 2)...]
        }
        field.append(contentsOf: rest)
        return field
    }

    private func checked(_ field: Data) throws(KeychainError) -> Data {
        guard field.count <= ImportLimits.field else {
            throw KeychainError(.tooLarge, "Line \(line): A field is longer than 1 MiB. Nothing was imported.")
        }
        return field
    }
}
