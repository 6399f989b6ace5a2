// SPDX-License-Identifier: Apache-2.0
// What git or docker writes to standard input: bounded, and checked before it is used.

import Foundation
import KeychainAuthenticators
import KeychainKit

enum ProtocolInput {
    /// Tokens have a few kilobytes at most.
    private static let limit = 1 << 20

    /// - Parameter endsAtEmptyLine: Whether an empty line ends the input too. Without it, a program that keeps its end of
    ///   the pipe open would be waited for.
    /// - Returns: UTF-8 without zeros; wipe it.
    static func read(endsAtEmptyLine: Bool) throws(KeychainError) -> Data {
        var buffer = Data(count: limit + 1)
        defer { buffer.wipe() }
        var count = 0
        while count < buffer.count {
            let got = buffer.withUnsafeMutableBytes { bytes in
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
                return Descriptors.read(STDIN_FILENO, into: rest)
            }
            guard got >= 0 else { throw Descriptors.failure(Int32(-got), STDIN_FILENO) }
            if got == 0 { break }
            count += got
            if endsAtEmptyLine, hasEmptyLine(buffer[max(0, count - got - 1)..<count], isStart: count == got) { break }
        }
        guard count <= limit else {
            throw KeychainError(.tooLarge, "The input is longer than \(limit >> 20) MiB; nothing was done.")
        }
        try check(buffer[..<count])
        return Data(buffer[..<count])
    }

    /// - Parameter part: The new bytes, after the last one of before.
    private static func hasEmptyLine(_ part: Data, isStart: Bool) -> Bool {
        var previous = isStart ? UInt8(ascii: "\n") : nil
        for byte in part {
            if byte == UInt8(ascii: "\n"), previous == byte { return true }
            previous = byte
        }
        return false
    }

    private static func check(_ bytes: Data) throws(KeychainError) {
        guard !bytes.contains(0) else {
            throw KeychainError(.invalidParameter, "The input contains a zero byte; nothing was done.")
        }
        // A String for validation would be a copy that cannot be wiped.
        var (parser, iterator) = (Unicode.UTF8.ForwardParser(), bytes.makeIterator())
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid: continue
            case .emptyInput: return
            case .error: throw KeychainError(.invalidParameter, "The input is not valid UTF-8; nothing was done.")
            }
        }
    }
}
