// SPDX-License-Identifier: Apache-2.0
// The terminal that a program was started from, whatever its standard input and output are.

import Foundation
import KeychainEngine

/// An open `/dev/tty`.
final class ControllingTerminal {
    static let path = "/dev/tty"

    let descriptor: Int32

    /// - Throws: `interactionNotAllowed` if the process has no terminal.
    init() throws(KeychainError) {
        // Never blocks: what is to be read may be taken by somebody else between the wait and the read.
        descriptor = open(Self.path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw KeychainError(
                .interactionNotAllowed, "There is no terminal to ask on (\(String(cString: strerror(errno)))).")
        }
    }

    deinit { close(descriptor) }

    static var exists: Bool {
        let descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// Whether this process is the one that the person at the terminal is dealing with.
    var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    func checkForeground() throws(KeychainError) {
        guard isForeground else {
            throw KeychainError(
                .interactionNotAllowed, "A program in the background of its terminal cannot ask. Bring it to the front."
            )
        }
    }

    /// Leaves the terminal as it was found, and what was typed meanwhile unread.
    func restoring<Result>(
        change: (inout termios) -> Void = { _ in }, _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        var found = termios()
        guard tcgetattr(descriptor, &found) == 0 else { throw Self.unusable }
        var changed = found
        change(&changed)
        guard tcsetattr(descriptor, TCSAFLUSH, &changed) == 0 else { throw Self.unusable }
        defer { tcsetattr(descriptor, TCSAFLUSH, &found) }
        return try body()
    }

    private static var unusable: KeychainError {
        KeychainError(.interactionNotAllowed, "The terminal cannot be used: \(String(cString: strerror(errno))).")
    }
}
