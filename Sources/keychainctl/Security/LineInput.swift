// SPDX-License-Identifier: Apache-2.0
// Standard input line by line, for commands and for secrets that follow each other.

import Foundation
import KeychainKit

/// One reader for a whole run: the value that a command asks for follows the line of the command.
final class LineInput {
    private static let chunkSize = 4096

    private var buffer = Data()
    private var isAtEnd = false

    deinit { buffer.wipe() }

    /// The next line without its line end; `nil` at the end of input.
    ///
    /// - Parameter limit: A longer line is read to its end and rejected.
    /// - Throws: `tooLarge`, and errors of reading.
    func line(limit: Int) throws(KeychainError) -> Data? {
        var isTooLong = false
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) { return try take(end, 1, limit, isTooLong) }
            if isAtEnd { return buffer.isEmpty && !isTooLong ? nil : try take(buffer.endIndex, 0, limit, isTooLong) }
            if buffer.count > limit {
                isTooLong = true
                drop(buffer.count)
            }
            try readMore()
        }
    }

    private func take(_ end: Int, _ separator: Int, _ limit: Int, _ isTooLong: Bool) throws(KeychainError) -> Data {
        let line = Data(buffer[buffer.startIndex..<end])
        drop(line.count + separator)
        guard !isTooLong, line.count <= limit else {
            throw KeychainError(.tooLarge, "A line on standard input is longer than \(limit) bytes.")
        }
        return line
    }

    private func drop(_ count: Int) {
        let rest = Data(buffer.dropFirst(count))
        buffer.wipe()
        buffer = rest
    }

    private func readMore() throws(KeychainError) {
        var chunk = Data(count: Self.chunkSize)
        defer { chunk.wipe() }
        let count = chunk.withUnsafeMutableBytes { Descriptors.read(STDIN_FILENO, into: $0) }
        switch count {
        case 0: isAtEnd = true
        case 1...:
            var joined = Data(capacity: buffer.count + count)
            joined.append(buffer)
            joined.append(chunk.prefix(count))
            buffer.wipe()
            buffer = joined
        default: throw Descriptors.failure(Int32(-count), STDIN_FILENO)
        }
    }
}
