// SPDX-License-Identifier: Apache-2.0
// An exerciser that is talked to while it runs.

import Foundation

/// A process whose input stays open until it is ended; each of its lines is waited for.
package final class RunningExerciser {
    /// What it left behind.
    package struct Result: Sendable {
        /// The lines that no test has taken.
        package let lines: [String]
        package let status: Int32
        package let hasEndedWell: Bool
        package let wasKilled: Bool
    }

    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var unread = Data()
    private var isInputEnded = false

    /// - Parameters:
    ///   - command: The verb and its arguments.
    ///   - wrapper: The words of another program that starts it.
    package init(_ command: [String], under wrapper: [String] = []) throws {
        let words = wrapper + [Exerciser.path] + command
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run(limitedTo: .testLimit)
    }

    package var number: Int32 { process.processIdentifier }

    // MARK: - Lines

    /// The next line; `nil` if the process has ended.
    package func line() -> String? {
        while !unread.contains(UInt8(ascii: "\n")) {
            // It ends when the process is killed, which happens in the end.
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return nil }
            unread += more
        }
        let line = unread.prefix { $0 != UInt8(ascii: "\n") }
        unread = Data(unread.dropFirst(line.count + 1))
        return String(decoding: line, as: UTF8.self)
    }

    package func send(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    // MARK: - Its end

    package func endInput() {
        guard !isInputEnded else { return }
        isInputEnded = true
        input.fileHandleForWriting.closeFile()
    }

    /// Ends the input, and waits for the rest of the output and for the end.
    package func finish() throws -> Result {
        endInput()
        let rest = try unread + output.fileHandleForReading.readAll()
        unread = Data()
        try process.waitForEnd()
        return Result(
            lines: String(decoding: rest, as: UTF8.self).split(separator: "\n").map(String.init),
            status: process.terminationStatus,
            hasEndedWell: process.terminationReason == .exit && process.terminationStatus == 0,
            wasKilled: process.terminationReason == .uncaughtSignal)
    }

    package func stop() { Foundation.kill(process.processIdentifier, SIGSTOP) }

    package func resume() { Foundation.kill(process.processIdentifier, SIGCONT) }

    package func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
