// SPDX-License-Identifier: Apache-2.0
// Reading open descriptors: pipes, files and terminals, also those that another program has made non-blocking.

import Foundation
import KeychainKit

extension Descriptors {
    private static let chunkSize = 1 << 16

    /// Reads once, when something is there. Interruptions are repeated.
    ///
    /// - Returns: How many bytes, 0 at the end, or the negative number of an error.
    static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            let code = errno
            if code == EAGAIN { Output.wait(for: descriptor, POLLIN) } else if code != EINTR { return -Int(code) }
        }
    }

    /// Reads until the buffer is full, or to the end.
    ///
    /// - Returns: How many bytes, or the negative number of an error.
    static func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Int {
        var count = 0
        while count < buffer.count {
            let got = read(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            guard got > 0 else { return got < 0 ? got : count }
            count += got
        }
        return count
    }

    /// All bytes to the end.
    ///
    /// - Parameters:
    ///   - tooLarge: The error for more than the limit, of which no more is kept.
    ///   - failure: Makes the error of a number.
    static func readAll(
        _ descriptor: Int32, limit: Int, tooLarge: KeychainError, failure: (Int32) -> KeychainError
    ) throws(KeychainError) -> Data {
        var chunks: [Data] = []
        defer { for index in chunks.indices { chunks[index].wipe() } }
        var count = 0
        while true {
            var chunk = Data(count: chunkSize)
            let got = chunk.withUnsafeMutableBytes { read(descriptor, into: $0) }
            guard got >= 0 else { throw failure(Int32(-got)) }
            if got == 0 { break }
            chunk.removeLast(chunkSize - got)
            chunks.append(chunk)
            count += got
            guard count <= limit else { throw tooLarge }
        }
        // One buffer of the right size: a growing one would leave copies behind.
        var bytes = Data(capacity: count)
        for chunk in chunks { bytes.append(chunk) }
        return bytes
    }

    /// - Parameter code: Of an error while a descriptor was read that the caller has named.
    static func failure(_ code: Int32, _ descriptor: Int32) -> KeychainError {
        let name = descriptor == STDIN_FILENO ? "standard input" : "descriptor \(descriptor)"
        return code == EBADF
            ? KeychainError(.invalidParameter, "Could not read \(name): it is not open for reading.")
            : KeychainError(.inputOutput, "Could not read \(name): \(String(cString: strerror(code))).")
    }
}
