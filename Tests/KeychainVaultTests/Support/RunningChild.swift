// SPDX-License-Identifier: Apache-2.0
// An exerciser that is talked to while it runs.

import Foundation

/// A process whose input stays open until it is ended; each of its lines is waited for.
final class RunningChild {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var unread = Data()
    private var isInputEnded = false

    init(_ test: TestVault, _ command: String..., under wrapper: [String] = []) throws {
        let words = wrapper + [ChildProcess.built("vault-exerciser")] + test.exerciserArguments(command)
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
    }

    /// The next line; `nil` if the process has ended.
    func line() -> String? {
        while !unread.contains(UInt8(ascii: "\n")) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return nil }
            unread += more
        }
        let line = unread.prefix { $0 != UInt8(ascii: "\n") }
        unread = Data(unread.dropFirst(line.count + 1))
        return String(decoding: line, as: UTF8.self)
    }

    func endInput() {
        guard !isInputEnded else { return }
        isInputEnded = true
        input.fileHandleForWriting.closeFile()
    }

    /// Ends the input and returns the last line.
    func finish() -> String? {
        endInput()
        var last: String?
        while let line = line() { last = line }
        process.waitUntilExit()
        return last
    }

    var number: Int32 { process.processIdentifier }

    func stop() { Foundation.kill(process.processIdentifier, SIGSTOP) }

    func resume() { Foundation.kill(process.processIdentifier, SIGCONT) }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
