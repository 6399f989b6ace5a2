// SPDX-License-Identifier: Apache-2.0
// Writing to standard output and standard error, with every failure noticed.

import Foundation
import KeychainAuthenticators
import KeychainKit
import SecretMemory

enum Output {
    static func write(_ text: String) throws(KeychainError) {
        try write(Data(text.utf8))
    }

    /// - Parameter done: What is done, and stays if it cannot be told.
    static func write(_ text: String, after done: String) throws(KeychainError) {
        do throws(KeychainError) {
            try write(text)
        } catch {
            throw KeychainError(error.reason, "\(done) \(error.message)")
        }
    }

    /// Writes bytes unchanged. Ends the program silently if the reader has closed the pipe.
    ///
    /// - Throws: `inputOutput`, also for a full disk: it is not the vault's disk that is full.
    static func write(_ bytes: Data) throws(KeychainError) {
        try check(bytes.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) })
    }

    private static func check(_ failure: Int32) throws(KeychainError) {
        guard failure != 0 else { return }
        if failure == EPIPE { exit(128 + SIGPIPE) }
        let reason = String(cString: strerror(failure))
        throw KeychainError(.inputOutput, "Could not write to standard output: \(reason).")
    }

    /// Writes a secret, which passes through no other memory.
    static func write(_ secret: SecretBytes) throws(KeychainError) {
        try check(secret.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) })
    }

    /// Something worth knowing, on standard error.
    static func note(_ message: String) { complain(message) }

    /// One message on standard error. If that fails too, the exit code has to do.
    static func complain(_ message: String) {
        write("keychainctl: \(message.escapingControls(keeping: "\n"))\n", to: STDERR_FILENO)
    }

    /// How many columns a table may take; `nil` if standard output is no terminal: programs need whole names.
    static var columns: Int? {
        guard Terminal.isTerminal(STDOUT_FILENO) else { return nil }
        var size = winsize()
        return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// A question on standard error; the answer is typed after it.
    static func prompt(_ question: String) { write(question.escapingControls(), to: STDERR_FILENO) }

    /// A line that the next one replaces, if standard error is a terminal.
    static func showProgress(_ text: String) {
        guard Terminal.isTerminal(STDERR_FILENO) else { return }
        write("\r" + text, to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        _ = Data(text.utf8).withUnsafeBytes { writeAll($0, to: descriptor) }
    }

    /// - Returns: 0, or why not all could be written.
    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
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

    /// For a descriptor that another program has set not to block.
    static func wait(for descriptor: Int32, _ events: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        poll(&request, 1, -1)
    }
}
