// SPDX-License-Identifier: Apache-2.0
// Reading a file in chunks, encrypted or in clear text, and the lines in it.

import Crypto
import Foundation
import KeychainKit

/// The bytes of an open file from some position on. Several can read one descriptor.
struct FileBytes {
    let descriptor: Int32
    let path: String
    private var offset: off_t = 0

    init(_ descriptor: Int32, _ path: String) { (self.descriptor, self.path) = (descriptor, path) }

    /// - Parameter count: How many, at least 1.
    /// - Returns: Fewer only at the end of the file.
    mutating func next(_ count: Int) throws(KeychainError) -> Data {
        var (bytes, filled) = (Data(count: count), 0)
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + filled }, count - filled, offset)
            }
            if got == 0 { break }
            guard got > 0 || errno == EINTR else { throw .archiveFile("read", path) }
            filled += max(0, got)
            offset += off_t(max(0, got))
        }
        if filled < count { bytes.removeLast(count - filled) }
        return bytes
    }

    mutating func skip(_ count: Int) { offset += off_t(count) }
}

/// Gives the next chunk of clear text; `nil` at the end.
protocol ChunkSource {
    mutating func next() throws(KeychainError) -> Data?
}

/// Opens the chunks of an age file's payload.
struct SealedSource: ChunkSource {
    private static let length = AgeStream.chunkLength + AgeStream.tagLength

    private var bytes: FileBytes
    private var stream: AgeStream
    /// The chunk after the next one: if it is empty, the next one is the last.
    private var ahead: Data

    /// - Parameter bytes: Those after the header.
    init(_ bytes: FileBytes, fileKey: SymmetricKey) throws(KeychainError) {
        self.bytes = bytes
        let nonce = try self.bytes.next(AgeStream.nonceLength)
        guard nonce.count == AgeStream.nonceLength else { throw .damagedArchive("it is cut") }
        stream = AgeStream(fileKey: fileKey, nonce: nonce)
        ahead = try self.bytes.next(Self.length)
        guard !ahead.isEmpty else { throw .damagedArchive("it is cut") }
    }

    mutating func next() throws(KeychainError) -> Data? {
        guard !ahead.isEmpty else { return nil }
        let sealed = ahead
        ahead = try bytes.next(Self.length)
        return try stream.open(sealed, isLast: ahead.isEmpty)
    }
}

/// Reads clear text.
struct ClearSource: ChunkSource {
    private var bytes: FileBytes

    init(_ bytes: FileBytes) { self.bytes = bytes }

    mutating func next() throws(KeychainError) -> Data? {
        let chunk = try bytes.next(AgeStream.chunkLength)
        return chunk.isEmpty ? nil : chunk
    }
}

/// Cuts chunks into lines.
struct LineSource {
    /// The longest line: a value of 512 MiB as base64, and attributes of 16 MiB of which each byte is escaped.
    private static let longest = 900 << 20

    private var chunks: any ChunkSource
    private var chunk = Data()
    private var position = 0

    init(_ chunks: any ChunkSource) { self.chunks = chunks }

    /// The next line, without its line feed; `nil` at the end.
    ///
    /// - Throws: `corrupt` for a last line without its end, `tooLarge` for a line that no item can have.
    mutating func next() throws(KeychainError) -> Data? {
        var line = Data()
        while true {
            let rest = chunk[position...]
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                line.append(rest[..<end])
                position = end + 1
                return line
            }
            line.append(rest)
            guard line.count <= Self.longest else {
                throw KeychainError(.tooLarge, "A line of the file is longer than any item. Nothing more was read.")
            }
            chunk.wipe()
            guard let next = try chunks.next() else {
                (chunk, position) = (Data(), 0)
                guard line.isEmpty else { throw .damagedArchive("its last line is cut") }
                return nil
            }
            (chunk, position) = (next, next.startIndex)
        }
    }
}
