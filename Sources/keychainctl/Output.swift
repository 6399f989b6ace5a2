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

    /// Writes bytes as they are. Ends the program quietly if nobody reads them.
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

    /// A question, on standard error, whose answer is typed behind it.
    static func prompt(_ question: String) { write(question.escapingControls(), to: STDERR_FILENO) }

    /// A line that the next one replaces, if somebody sees it.
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
