// SPDX-License-Identifier: Apache-2.0
// Writing to standard output and standard error. Every failure is reported.

import Foundation
import KeychainAuthenticators
import KeychainKit
import SecretMemory

enum Output {
    static func write(_ text: String) throws(KeychainError) {
        try write(Data(text.utf8))
    }

    /// - Parameter done: What was done and remains done, even if it cannot be printed.
    static func write(_ text: String, after done: String) throws(KeychainError) {
        do throws(KeychainError) {
            try write(text)
        } catch {
            throw KeychainError(error.reason, "\(done) \(error.message)")
        }
    }

    /// Writes bytes unchanged.
    ///
    /// - Parameter ifClosed: By default the program ends silently if the reader has closed the pipe.
    /// - Throws: `inputOutput`, also for a full disk, because it is not the vault's disk.
    static func write(_ bytes: Data, ifClosed: ClosedPipe = .endsProgram) throws(KeychainError) {
        try check(bytes.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }, ifClosed: ifClosed)
    }

    /// What becomes of the program if the reader has closed the pipe.
    enum ClosedPipe {
        case endsProgram
        /// For a caller that takes something back then.
        case isError
    }

    private static func check(_ failure: Int32, ifClosed: ClosedPipe = .endsProgram) throws(KeychainError) {
        guard failure != 0 else { return }
        if failure == EPIPE, ifClosed == .endsProgram { exit(128 + SIGPIPE) }
        let reason = String(cString: strerror(failure))
        throw KeychainError(.inputOutput, "Could not write to standard output: \(reason).")
    }

    /// Writes a secret without copying it to other memory.
    static func write(_ secret: SecretBytes, ifClosed: ClosedPipe = .endsProgram) throws(KeychainError) {
        try check(secret.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }, ifClosed: ifClosed)
    }

    /// Information for the user, on standard error.
    static func note(_ message: String) { complain(message) }

    /// A message on standard error. If writing it fails, only the exit code remains.
    static func complain(_ message: String) {
        write("keychainctl: \(message.escapingControls(keeping: "\n"))\n", to: STDERR_FILENO)
    }

    /// The columns of the terminal; `nil` if standard output is not a terminal, because programs need complete names.
    static var columns: Int? {
        guard Terminal.isTerminal(STDOUT_FILENO) else { return nil }
        var size = winsize()
        return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// A question on standard error; the answer is typed after it.
    static func prompt(_ question: String) { write(question.escapingControls(), to: STDERR_FILENO) }

    /// A line that the next one overwrites, if standard error is a terminal.
    static func showProgress(_ text: String) {
        guard Terminal.isTerminal(STDERR_FILENO) else { return }
        write("\r" + text, to: STDERR_FILENO)
    }

    /// Bytes on standard error, unchanged. If writing them fails, only the exit code remains.
    static func writeToErrors(_ bytes: Data) {
        _ = bytes.withUnsafeBytes { writeAll($0, to: STDERR_FILENO) }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        _ = Data(text.utf8).withUnsafeBytes { writeAll($0, to: descriptor) }
    }

    /// - Returns: 0, or the error if not everything could be written.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                wait(for: descriptor, POLLOUT)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    /// For a descriptor that another program has made non-blocking.
    static func wait(for descriptor: Int32, _ events: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        poll(&request, 1, -1)
    }
}
