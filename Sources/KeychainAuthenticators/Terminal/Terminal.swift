// SPDX-License-Identifier: Apache-2.0
// Asking for a secret on the terminal. The rules:
//
// 1. The question goes to /dev/tty, not to standard output, which may be a file.
// 2. Input is not shown. Input before the question, and the rest of a paste after it, is discarded: it must neither
//    become the answer unseen nor reach the shell.
// 3. However the question ends, the terminal is restored: the signals that would end or stop the program
//    are caught while echo is off. After SIGKILL, and while stopped by SIGSTOP, echo stays off until the shell restores
//    it.
// 4. ^C, ^D on an empty line, ^\, SIGTERM and a hang-up mean "cancelled". ^Z restores the terminal and stops the
//    program at once. When it continues, the question is shown again; input from before and meanwhile is discarded.
// 5. A line is read by the terminal's own line editor, so erasing works as usual. That editor takes at most 4095 bytes
//    and drops the rest, so a line of that length is refused rather than cut.
// 6. There is no prompt from the background: the program would be stopped, or read input that is meant for another
//    program.

import Foundation
package import KeychainEngine
package import SecretMemory

package struct Terminal {
    private static let longestLine = 4095

    private let device: ControllingTerminal
    private let signals: HeldSignals
    private let waiting: Waiting

    /// The signal that cancelled the last question; `nil` if none did. A program without other work ends by this
    /// signal, as its shell expects.
    package static var cancellingSignal: Int32? { HeldSignals.cancelling }

    /// Whether a question would be shown: the program has a terminal, and is in its foreground. Standard input does not
    /// matter.
    package static var canAsk: Bool {
        do throws(KeychainError) {
            return try ControllingTerminal().isForeground
        } catch {
            return false
        }
    }

    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Runs a dialogue with echo off.
    ///
    /// - Parameters:
    ///   - timeout: For the whole dialogue.
    ///   - isPassingOn: Whether SIGTERM and SIGHUP are passed to the program after they have cancelled the dialogue.
    /// - Throws: The errors of `dialogue`, `interactionNotAllowed` without a terminal or in its background.
    package static func ask<Answer>(
        cancellation: AuthenticationCancellation = AuthenticationCancellation(), timeout: Duration? = nil,
        isPassingOn: Bool = false, _ dialogue: (Terminal) throws(KeychainError) -> Answer
    ) throws(KeychainError) -> Answer {
        let waiting = try Waiting(cancellation, timeout: timeout)
        return try Turn.taken(waiting) { () throws(KeychainError) in
            let device = try ControllingTerminal()
            try device.checkForeground()
            return try HeldSignals.during(isPassingOn: isPassingOn) { (signals) throws(KeychainError) in
                let terminal = Terminal(device: device, signals: signals, waiting: waiting.breaking(for: signals))
                return try device.restoring(change: silence) { () throws(KeychainError) in try dialogue(terminal) }
            }
        }
    }

    private static func silence(_ settings: inout termios) {
        settings.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        settings.c_lflag |= tcflag_t(ICANON | ISIG)
    }

    /// Shows `question` and reads one line, without its line end.
    ///
    /// - Returns: `nil` for an empty line.
    /// - Throws: `cancelled` for ^C, ^D and the signals, `tooLarge` for a line that the terminal cuts, `timedOut`.
    package func line(_ question: String) throws(KeychainError) -> SecretBytes? {
        say(question.escapingControls())
        defer { say("\n") }
        let line = SecretBuffer(capacity: Self.longestLine + 1)
        // What was entered may be there from a register that was saved.
        defer { scrubStack() }
        while line.count == 0 || line[line.count - 1] != UInt8(ascii: "\n") {
            guard line.count < line.capacity else { throw Self.tooLong }
            switch try waiting.next(device.descriptor, POLLIN) {
            case .stop: try device.lending { signals.stop() }
            case .goOn: try device.takeAgain()
            case .ready, .late:
                try read(into: line)
                continue
            }
            line.removeFirst(line.count)
            say(question.escapingControls())
        }
        guard line.count <= Self.longestLine else { throw Self.tooLong }
        return line.secret(in: 0..<line.count - 1)
    }

    /// Shows text unchanged: escape untrusted text first.
    package func say(_ text: String) {
        var rest = Data(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(device.descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if !canGoOn() { return }
        }
    }

    /// A terminal that cannot be written to cannot be read either; reading reports the error.
    private func canGoOn() -> Bool {
        guard errno == EAGAIN || errno == EINTR else { return false }
        do throws(KeychainError) {
            switch try waiting.next(device.descriptor, POLLOUT) {
            case .stop: try device.lending { signals.stop() }
            case .goOn: try device.takeAgain()
            case .ready, .late: break
            }
            return true
        } catch {
            return false
        }
    }

    private func read(into line: SecretBuffer) throws(KeychainError) {
        let count = line.read(from: device.descriptor)
        if count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR) { return }
        // The end of input, or the terminal is gone or in use by another process.
        try device.checkForeground()
        throw .cancelledQuestion
    }

    private static let tooLong = KeychainError(
        .tooLarge, "The input is too long. A terminal accepts lines of up to 4094 bytes.")
}
