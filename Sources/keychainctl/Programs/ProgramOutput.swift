// SPDX-License-Identifier: Apache-2.0
// What another program writes to its standard output. The secrets in it pass through a pipe, and are never arguments.

import Foundation
import KeychainKit

struct ProgramOutput {
    var bytes: Data
    /// The exit code, or 128 plus the number of a signal.
    let code: Int32

    /// Runs a program to its end. What it complains about goes to standard error.
    ///
    /// - Parameters:
    ///   - input: A descriptor that becomes its standard input; `nil`: nothing.
    ///   - limit: The most bytes that it may write. A program that writes more is ended.
    /// - Throws: `unavailable` if it cannot be started; `tooLarge`.
    init(_ program: String, _ arguments: [String], input: Int32? = nil, limit: Int) throws(KeychainError) {
        let pipe = try ProgramPipe()
        let child = try ChildProgram(
            program, arguments,
            .init(
                input: input.map { .descriptor($0) } ?? .nothing, output: .descriptor(pipe.writing), errors: .inherited)
        )
        pipe.closeWriting()
        let read = Self.read(pipe.reading, limit: limit)
        // It would wait for a reader otherwise.
        if read == nil { kill(child.identifier, SIGKILL) }
        code = child.exitCode()
        guard let read else {
            throw KeychainError(.tooLarge, "The output of '\(program)' is longer than \(limit >> 20) MiB.")
        }
        bytes = read
    }

    /// - Returns: `nil` if it is more than the limit, or cannot be read.
    private static func read(_ descriptor: Int32, limit: Int) -> Data? {
        var (bytes, count) = (Data(count: limit + 1), 0)
        defer { bytes.wipe() }
        while count <= limit {
            let got = bytes.withUnsafeMutableBytes { buffer in
                Foundation.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            if got == 0 { return Data(Array(bytes.prefix(count))) }
            if got > 0 { count += got } else if errno != EINTR { return nil }
        }
        return nil
    }
}
