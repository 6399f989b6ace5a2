// SPDX-License-Identifier: Apache-2.0
// Asking for a value on the terminal. The rules:
//
// 1. The question goes to /dev/tty, not to standard output, which may be a file.
// 2. Nothing typed is shown. What was typed before the question, and the rest of a paste after it, is thrown away: it
//    must neither become the value unseen nor reach the shell.
// 3. However the question ends, the terminal is left as it was found. The signals that would end or stop the program
//    are held back while echo is off, and are let in only where waiting for a line can be broken off.
// 4. ^C, ^D on an empty line, ^\, SIGTERM and a hang-up mean "cancelled"; ^Z stops the program after the question.
// 5. A line is read by the terminal's own line editor, so erasing works as the person is used to. That editor takes at
//    most 4095 bytes and drops the rest, so a line of that length is refused rather than cut.

import Foundation
import KeychainEngine

struct Terminal {
    private static let path = "/dev/tty"
    private static let longestLine = 4095

    private let descriptor: Int32
    /// What may interrupt the wait for a line.
    private let signals: HeldSignals

    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Runs a dialogue with echo off.
    static func ask<Answer>(
        _ dialogue: (Terminal) throws(KeychainFailure) -> Answer
    ) throws(KeychainFailure) -> Answer {
        let descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unusable }
        defer { close(descriptor) }
        return try HeldSignals.during { signals throws(KeychainFailure) in
            let terminal = Terminal(descriptor: descriptor, signals: signals)
            return try terminal.withoutEcho { () throws(KeychainFailure) in try dialogue(terminal) }
        }
    }

    /// Shows `question` and reads one line, without its end.
    ///
    /// - Throws: `cancelled` for ^C, ^D and the signals, `tooLarge` for a line that the terminal cuts.
    func line(_ question: String) throws(KeychainFailure) -> Data {
        say(question.escapingControls())
        defer { say("\n") }
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            guard signals.waitForInput(descriptor), try read(into: &line) else {
                line.wipe()
                throw KeychainFailure(.cancelled, "Cancelled; nothing was stored.")
            }
        }
        line.removeLast()
        guard line.count < Self.longestLine else {
            line.wipe()
            throw KeychainFailure(
                .tooLarge, "A terminal takes lines of up to 4094 bytes. Give a longer value on standard input.")
        }
        return line
    }

    func say(_ text: String) {
        // A terminal that cannot be written to cannot be read from either: that is noticed there.
        _ = Data(text.utf8).withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
    }

    /// - Returns: `false` at the end of input or if the terminal is gone.
    private func read(into line: inout Data) throws(KeychainFailure) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Self.longestLine + 1, alignment: 1) { buffer in
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 { line.append(contentsOf: buffer.prefix(count)) }
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            return count > 0 || (count < 0 && errno == EINTR)
        }
    }

    private func withoutEcho<Answer>(
        _ body: () throws(KeychainFailure) -> Answer
    ) throws(KeychainFailure) -> Answer {
        var found = termios()
        guard tcgetattr(descriptor, &found) == 0 else { throw Self.unusable }
        var quiet = found
        quiet.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        quiet.c_lflag |= tcflag_t(ICANON | ISIG)
        guard tcsetattr(descriptor, TCSAFLUSH, &quiet) == 0 else { throw Self.unusable }
        defer { tcsetattr(descriptor, TCSAFLUSH, &found) }
        return try body()
    }

    private static let unusable = KeychainFailure(
        .unavailable, "There is no usable terminal to ask on. Give the value on standard input, or with --from-fd.")
}
