// SPDX-License-Identifier: Apache-2.0
// Another process, which tests talk to in lines.

import Foundation

/// A running `memory-exerciser`, by itself or under another program.
struct Exerciser {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ command: [String], under wrapper: [String] = []) throws {
        let words = wrapper + [Exerciser.path] + command
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Runs it to its end without input.
    static func run(_ command: String..., under wrapper: [String] = []) throws -> [String] {
        try Exerciser(command, under: wrapper).finish()
    }

    /// The next line, without its end; empty at the end of output.
    func line() -> String {
        var text = Data()
        while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != UInt8(ascii: "\n") {
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    func send(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    /// Ends the input, and gives the rest of the output; a process that did not end well adds a line that says so.
    func finish() throws -> [String] {
        try input.fileHandleForWriting.close()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        let isGood = process.terminationReason == .exit && process.terminationStatus == 0
        return isGood ? lines : lines + ["ended with \(process.terminationStatus)"]
    }

    var processIdentifier: Int32 { process.processIdentifier }

    /// The build puts it beside the tests.
    private static var path: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("memory-exerciser").path
    }

    /// The path of an installed program; `nil` if there is none.
    static func installed(_ name: String) -> String? {
        ["/usr/bin", "/bin", "/usr/local/bin"].map { $0 + "/" + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
