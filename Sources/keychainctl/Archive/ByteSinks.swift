// SPDX-License-Identifier: Apache-2.0
// Where the bytes of an export go: into an age file, or into a file in clear text.

import Crypto
import Foundation
import KeychainKit
import SecretMemory

/// Takes the bytes of an export in their order.
protocol ByteSink: AnyObject {
    func write(_ bytes: UnsafeRawBufferPointer) throws(KeychainError)
    /// Writes what is left. Nothing may follow.
    func finish() throws(KeychainError)
}

extension ByteSink {
    func write(_ bytes: Data) throws(KeychainError) {
        var failure: KeychainError?
        bytes.withUnsafeBytes { bytes in
            do throws(KeychainError) { try write(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

/// Collects chunks of the payload's size, whether they are encrypted or not.
private struct ChunkBuffer {
    private(set) var bytes = Data(capacity: AgeStream.chunkLength)

    var isFull: Bool { bytes.count == AgeStream.chunkLength }

    /// - Returns: What did not fit.
    mutating func append(_ given: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        let part = given.prefix(AgeStream.chunkLength - bytes.count)
        bytes.append(contentsOf: part)
        return given.dropFirst(part.count)
    }

    mutating func clear() {
        bytes.wipe()
        bytes.removeAll(keepingCapacity: true)
    }
}

/// Encrypts. The last chunk is marked, so a full one waits until more follows.
final class SealedSink: ByteSink {
    private let file: NewFile
    private var stream: AgeStream
    private var buffer = ChunkBuffer()

    init(_ file: NewFile, header: AgeHeader, fileKey: SymmetricKey) throws(KeychainError) {
        self.file = file
        var nonce = Data(count: AgeStream.nonceLength)
        nonce.withUnsafeMutableBytes(fillWithRandomBytes)
        stream = AgeStream(fileKey: fileKey, nonce: nonce)
        try file.write(header.bytes)
        try file.write(nonce)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if buffer.isFull { try seal(isLast: false) }
            rest = buffer.append(rest)
        }
    }

    func finish() throws(KeychainError) { try seal(isLast: true) }

    private func seal(isLast: Bool) throws(KeychainError) {
        defer { buffer.clear() }
        try file.write(try stream.seal(buffer.bytes, isLast: isLast))
    }
}

/// Writes clear text.
final class ClearSink: ByteSink {
    private let file: NewFile
    private var buffer = ChunkBuffer()
    private var digest = SHA256()

    init(_ file: NewFile) { self.file = file }

    /// Of all bytes so far.
    var sum: Data { Data(digest.finalize()) }

    func write(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        digest.update(bufferPointer: bytes)
        var rest = bytes[...]
        while !rest.isEmpty {
            if buffer.isFull { try finish() }
            rest = buffer.append(rest)
        }
    }

    func finish() throws(KeychainError) {
        defer { buffer.clear() }
        try file.write(buffer.bytes)
    }
}
