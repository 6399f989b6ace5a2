// SPDX-License-Identifier: Apache-2.0
// The lines of an export: a first line, one line for each item, a last line. Docs/FORMAT.md, "Exports".

import Crypto
import Foundation
import KeychainEngine
import KeychainKit

enum ArchiveFormat {
    static let name = "swift-keychain-export"
    static let version = 1
}

/// Writes an export.
protocol ArchiveForm {
    mutating func begin(_ count: Int) throws(KeychainError)
    mutating func add(_ item: Item) throws(KeychainError)
    mutating func end() throws(KeychainError)
}

/// The form that keeps everything of an item.
struct LinesForm: ArchiveForm {
    private let sink: any ByteSink
    private var digest = SHA256()
    private var count = 0

    init(_ sink: any ByteSink) { self.sink = sink }

    mutating func begin(_ count: Int) throws(KeychainError) {
        try put("{\"format\":\"\(ArchiveFormat.name)\",\"version\":\(ArchiveFormat.version),\"items\":\(count)}\n")
    }

    mutating func add(_ item: Item) throws(KeychainError) {
        count += 1
        try put(ItemLine.start(of: item))
        if let value = item.value {
            try put("\"")
            try putBase64(value)
            try put("\"}\n")
        } else {
            try put("null}\n")
        }
    }

    mutating func end() throws(KeychainError) {
        let sum = digest.finalize().map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        try put("{\"items\":\(count),\"sha256\":\"\(sum)\"}\n")
        try sink.finish()
    }

    private mutating func put(_ text: String) throws(KeychainError) { try put(Data(text.utf8)) }

    private mutating func put(_ bytes: Data) throws(KeychainError) {
        digest.update(data: bytes)
        try sink.write(bytes)
    }

    /// In parts, so that a large value is not in memory several times. Base64 of 3 bytes needs no filling.
    private mutating func putBase64(_ value: Data) throws(KeychainError) {
        var rest = value[...]
        while !rest.isEmpty {
            var part = rest.prefix(3 << 14).base64EncodedData()
            defer { part.wipe() }
            try put(part)
            rest = rest.dropFirst(3 << 14)
        }
    }
}

/// Reads an export, and checks all of it that can be checked without a vault.
struct ArchiveReading {
    /// What the first line says.
    private struct First: Decodable {
        let format: String
        let version: Int
        let items: Int?
    }

    private struct Last: Decodable {
        let items: Int
        let sha256: String
    }

    private var lines: LineSource
    private var digest = SHA256()
    private var count = 0
    private let expected: Int

    /// - Throws: `corrupt` for anything but an export, `newerFormat`.
    init(_ chunks: any ChunkSource) throws(KeychainError) {
        lines = LineSource(chunks)
        guard let line = try lines.next(), let first = Self.decoded(First.self, line),
            first.format == ArchiveFormat.name
        else { throw .damagedArchive("its content is not an export of a keychain") }
        guard first.version == ArchiveFormat.version else {
            throw KeychainError(
                first.version > ArchiveFormat.version ? .newerFormat : .corrupt,
                "The export was written by a newer version of keychainctl. Use that version.")
        }
        guard let items = first.items, items >= 0 else { throw .damagedArchive("its first line is malformed") }
        expected = items
        add(line)
    }

    /// The next item; `nil` after the last one, when the count and the sum are right.
    mutating func next() throws(KeychainError) -> Item? {
        guard var line = try lines.next() else { throw .damagedArchive("its last line is missing") }
        defer { line.wipe() }
        guard count < expected else {
            try checkEnd(line)
            return nil
        }
        add(line)
        count += 1
        do {
            return try JSONDecoder().decode(ItemLine.self, fromAny: line).item
        } catch let error as KeychainError {
            throw KeychainError(error.reason, "Line \(count + 1) of the export: \(error.message)")
        } catch {
            // The decoder's own message may quote the line.
            throw .damagedArchive("its line \(count + 1) is not an item")
        }
    }

    private mutating func add(_ line: Data) {
        digest.update(data: line)
        digest.update(data: Data("\n".utf8))
    }

    private mutating func checkEnd(_ line: Data) throws(KeychainError) {
        let sum = digest.finalize().map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        guard let last = Self.decoded(Last.self, line), last.items == count, last.sha256 == sum else {
            throw .damagedArchive("it does not contain the items that it began with")
        }
        guard try lines.next() == nil else { throw .damagedArchive("something follows its last line") }
    }

    private static func decoded<Line: Decodable>(_ type: Line.Type, _ line: Data) -> Line? {
        guard line.count <= 4096 else { return nil }
        do { return try JSONDecoder().decode(type, fromAny: line) } catch { return nil }
    }
}
