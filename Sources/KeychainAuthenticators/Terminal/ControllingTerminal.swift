// SPDX-License-Identifier: Apache-2.0
// The terminal that a program was started from, regardless of its standard input and output.

import CKeychainShims
import Foundation
import KeychainEngine

/// An open `/dev/tty`.
final class ControllingTerminal {
    static let path = "/dev/tty"

    let descriptor: Int32
    /// The original settings, and those during a question; `nil` while the original ones are in effect.
    private var settings: (found: termios, changed: termios)?

    /// - Throws: `interactionNotAllowed` if the process has no terminal.
    init() throws(KeychainError) {
        // Never blocks: another process may take the input between the wait and the read.
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

    /// Whether this process is in the terminal's foreground.
    var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    func checkForeground() throws(KeychainError) {
        guard isForeground else {
            throw KeychainError(
                .interactionNotAllowed,
                "A program in the background of its terminal cannot ask. Bring it to the foreground."
            )
        }
    }

    /// Restores the terminal's settings and discards unread input, also if a signal ends the process.
    func restoring<Result>(
        change: (inout termios) -> Void = { _ in }, _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        var found = termios()
        guard tcgetattr(descriptor, &found) == 0 else { throw Self.unusable }
        var changed = found
        change(&changed)
        keychain_terminal_guard(descriptor, &found)
        defer { keychain_terminal_unguard() }
        guard tcsetattr(descriptor, TCSAFLUSH, &changed) == 0 else { throw Self.unusable }
        settings = (found, changed)
        defer { giveBack() }
        return try body()
    }

    /// Restores the terminal while `body` runs, in which the process is stopped, and then takes it again.
    ///
    /// - Throws: `interactionNotAllowed` if the process continues in the background.
    func lending(_ body: () -> Void) throws(KeychainError) {
        guard let settings else { return body() }
        giveBack()
        body()
        try takeAgain(settings)
    }

    /// Takes the terminal again after the process was stopped, and discards the input typed in the meantime: it was
    /// meant for another program.
    ///
    /// - Throws: `interactionNotAllowed` if the process continues in the background.
    func takeAgain() throws(KeychainError) {
        if let settings { try takeAgain(settings) }
    }

    private func takeAgain(_ settings: (found: termios, changed: termios)) throws(KeychainError) {
        self.settings = nil
        try checkForeground()
        var changed = settings.changed
        guard tcsetattr(descriptor, TCSAFLUSH, &changed) == 0 else { throw Self.unusable }
        self.settings = settings
    }

    /// The foreground process has its own settings, which are not changed.
    private func giveBack() {
        if isForeground, var found = settings?.found { tcsetattr(descriptor, TCSAFLUSH, &found) }
        settings = nil
    }

    private static var unusable: KeychainError {
        KeychainError(.interactionNotAllowed, "The terminal cannot be used: \(String(cString: strerror(errno))).")
    }
}
