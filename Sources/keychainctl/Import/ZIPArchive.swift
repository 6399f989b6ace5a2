// SPDX-License-Identifier: Apache-2.0
// One member of a ZIP archive that is in memory. Nothing is extracted, so that names of members are only compared.

import Foundation
import KeychainKit

/// An archive whose directory is complete. Everything that it says of a member is compared with what the member itself says:
/// programs would otherwise see different members in one file.
struct ZIPArchive {
    private let bytes: UnsafeRawBufferPointer
    /// What the file is, with its article.
    private let format: String
    /// Where the directory is, which lies behind the members.
    private let directory: Range<Int>
    private let count: Int

    private static let localSignature: UInt32 = 0x0403_4B50
    private static let directorySignature: UInt32 = 0x0201_4B50
    private static let endSignature: UInt32 = 0x0605_4B50
    private static let (localLength, entryLength, endLength) = (30, 46, 22)
    private static let longestComment = 0xFFFF

    static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: "PK\u{3}\u{4}".utf8) }

    /// Finds the directory.
    ///
    /// - Throws: `invalidParameter` for an archive that is cut, has several parts, or is a ZIP64.
    init(_ bytes: UnsafeRawBufferPointer, format: String) throws(KeychainError) {
        (self.bytes, self.format) = (bytes, format)
        guard let end = Self.end(of: bytes) else { throw .notA(format, "its directory is missing. It may be cut.") }
        let header = ZIPHeader(bytes, at: end)
        let (size, start) = (Int(header.long(12)), Int(header.long(16)))
        // A ZIP64 has its own end of the directory in between, and the largest numbers here.
        guard header.short(4) == 0, header.short(6) == 0, header.short(8) == header.short(10), start + size == end
        else {
            throw .notA(format, "its directory is damaged, or the archive has several parts or is a ZIP64.")
        }
        (directory, count) = (start..<end, Int(header.short(10)))
    }

    /// The last place at which a directory ends, with a comment up to the end of the file.
    private static func end(of bytes: UnsafeRawBufferPointer) -> Int? {
        let last = bytes.count - endLength
        guard last >= 0 else { return nil }
        return (max(0, last - longestComment)...last).reversed().first { position in
            let header = ZIPHeader(bytes, at: position)
            return header.long(0) == endSignature && position + endLength + Int(header.short(20)) == bytes.count
        }
    }

    /// The content of a member.
    ///
    /// - Parameter limit: Its most bytes.
    /// - Throws: `invalidParameter` if there is none, if there are several, or if it is damaged; `unsupported` if it is
    ///   encrypted or compressed in another way than usual; `tooLarge`.
    func member(_ name: String, limit: Int) throws(KeychainError) -> Data {
        let found = try entries(named: name)
        guard let entry = found.first, found.count == 1 else {
            throw .notA(format, found.isEmpty ? "it has no '\(name)'." : "it has several members '\(name)'.")
        }
        // Encrypted members, and a directory whose numbers are hidden.
        guard entry.flags & 0x2041 == 0, entry.method == 0 || entry.method == 8 else {
            throw KeychainError(
                .unsupported,
                "'\(name)' of the archive is encrypted, or is not compressed by 'deflate'. Nothing was imported.")
        }
        guard entry.size <= limit else {
            throw KeychainError(
                .tooLarge, "'\(name)' of the archive is larger than \(limit >> 20) MiB. Nothing was imported.")
        }
        return try content(of: entry, at: try place(of: entry, name))
    }

    /// The number of files in it that have other names. Folders do not count.
    func countOfFiles(besides names: [String]) throws(KeychainError) -> Int {
        try entries { name in
            name.last != UInt8(ascii: "/") && !names.contains { name.elementsEqual($0.utf8) }
        }.count
    }

    // MARK: - Directory

    private struct Entry {
        let flags, method: UInt16
        let checksum: UInt32
        let compressedSize, size, offset: Int

        init(_ header: ZIPHeader) {
            (flags, method, checksum) = (header.short(8), header.short(10), header.long(16))
            (compressedSize, size) = (Int(header.long(20)), Int(header.long(24)))
            offset = Int(header.long(42))
        }
    }

    private func entries(named name: String) throws(KeychainError) -> [Entry] {
        try entries { $0.elementsEqual(name.utf8) }
    }

    private func entries(where isWanted: (Slice<UnsafeRawBufferPointer>) -> Bool) throws(KeychainError) -> [Entry] {
        var (entries, position): ([Entry], Int) = ([], directory.lowerBound)
        for _ in 0..<count {
            guard position + Self.entryLength <= directory.upperBound else { throw damaged }
            let header = ZIPHeader(bytes, at: position)
            let nameLength = Int(header.short(28))
            let end = position + Self.entryLength + nameLength + Int(header.short(30)) + Int(header.short(32))
            guard header.long(0) == Self.directorySignature, end <= directory.upperBound else { throw damaged }
            let start = position + Self.entryLength
            if isWanted(bytes[start..<(start + nameLength)]) { entries.append(Entry(header)) }
            position = end
        }
        guard position == directory.upperBound else { throw damaged }
        return entries
    }

    /// Where the compressed bytes are.
    private func place(of entry: Entry, _ name: String) throws(KeychainError) -> Range<Int> {
        guard entry.offset + Self.localLength <= directory.lowerBound else { throw damaged }
        let header = ZIPHeader(bytes, at: entry.offset)
        let nameStart = entry.offset + Self.localLength
        let nameEnd = nameStart + Int(header.short(26))
        let start = nameEnd + Int(header.short(28))
        guard header.long(0) == Self.localSignature, header.short(6) == entry.flags, header.short(8) == entry.method,
            start + entry.compressedSize <= directory.lowerBound,
            bytes[nameStart..<nameEnd].elementsEqual(name.utf8), hasSameNumbers(header, entry)
        else { throw damaged }
        return start..<(start + entry.compressedSize)
    }

    /// A program that writes to a pipe knows the numbers only afterwards, and writes zeros before the member.
    private func hasSameNumbers(_ header: ZIPHeader, _ entry: Entry) -> Bool {
        if entry.flags & 0x8 != 0 { return true }
        return header.long(14) == entry.checksum && Int(header.long(18)) == entry.compressedSize
            && Int(header.long(22)) == entry.size
    }

    private func content(of entry: Entry, at place: Range<Int>) throws(KeychainError) -> Data {
        let compressed = UnsafeRawBufferPointer(rebasing: bytes[place])
        guard var content = entry.method == 0 ? Data(compressed) : Inflation.inflated(compressed, count: entry.size)
        else {
            throw damaged
        }
        guard content.count == entry.size, Inflation.checksum(content) == entry.checksum else {
            content.wipe()
            throw damaged
        }
        return content
    }

    private var damaged: KeychainError { .notA(format, "it is damaged, or its parts contradict each other.") }
}

/// Numbers of a header, with their last byte first.
private struct ZIPHeader {
    private let bytes: UnsafeRawBufferPointer
    private let start: Int

    /// - Parameter position: With a whole header behind it.
    init(_ bytes: UnsafeRawBufferPointer, at position: Int) { (self.bytes, start) = (bytes, position) }

    func short(_ offset: Int) -> UInt16 {
        UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: start + offset, as: UInt16.self))
    }

    func long(_ offset: Int) -> UInt32 {
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start + offset, as: UInt32.self))
    }
}
