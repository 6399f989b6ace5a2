// SPDX-License-Identifier: Apache-2.0
// How long after another process has saved something this one knows of it.

import Foundation
import KeychainKit

/// In nanoseconds.
var monotonicTime: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

struct Latency {
    let store: SecretStore
    let account: String
    /// Of the other process, which saves at each line that it gets and then prints the time.
    let writer: [String]

    /// Prints microseconds, a line for each change.
    func report(count: Int) async throws {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = writer
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        defer {
            input.fileHandleForWriting.closeFile()
            process.waitUntilExit()
        }
        var changes = try await store.changes(for: account).makeAsyncIterator()
        for number in 0..<count {
            try input.fileHandleForWriting.write(contentsOf: Data("value-\(number)\n".utf8))
            guard await changes.next() != nil else { return }
            let seen = monotonicTime
            print((seen - Self.timeOfSaving(output.fileHandleForReading)) / 1000)
        }
    }

    private static func timeOfSaving(_ output: FileHandle) -> Int {
        var text = ""
        while text.split(separator: "\n").count < 2 || !text.hasSuffix("\n") {
            let more = output.availableData
            guard !more.isEmpty else { return 0 }
            text += String(decoding: more, as: UTF8.self)
        }
        return text.split(separator: "\n").last.flatMap { Int($0) } ?? 0
    }
}
