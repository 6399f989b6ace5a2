// SPDX-License-Identifier: Apache-2.0
// Writing to standard output and standard error, with every failure noticed.

import Foundation
import KeychainAuthenticators
import KeychainEngine

enum Output {
    static func write(_ text: String) throws(KeychainFailure) {
        try write(Data(text.utf8))
    }

    /// Writes bytes as they are. Ends the program quietly if nobody reads them.
    ///
    /// - Throws: `inputOutput`, also for a full disk: it is not the vault's disk that is full.
    static func write(_ bytes: Data) throws(KeychainFailure) {
        let failure = writeAll(bytes, to: STDOUT_FILENO)
        guard failure != 0 else { return }
        if failure == EPIPE { exit(128 + SIGPIPE) }
        let reason = String(cString: strerror(failure))
        throw KeychainFailure(.inputOutput, "Could not write to standard output: \(reason).")
    }

    /// One message on standard error. If that fails too, the exit code has to do.
    static func complain(_ message: String) {
        _ = writeAll(Data("keychainctl: \(message.escapingControls(keeping: "\n"))\n".utf8), to: STDERR_FILENO)
    }

    /// - Returns: 0, or why not all could be written.
    private static func writeAll(_ bytes: Data, to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    Self.wait(for: descriptor, POLLOUT)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// For a descriptor that another program has set not to block.
    static func wait(for descriptor: Int32, _ events: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        poll(&request, 1, -1)
    }
}
