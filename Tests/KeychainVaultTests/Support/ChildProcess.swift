// SPDX-License-Identifier: Apache-2.0
// Other programs, run to their end.

import Foundation

@testable import KeychainVault

/// What a finished process left behind.
struct ChildResult {
    let output: String
    let errors: String
    let status: Int32
    let wasSignalled: Bool

    var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// A program to run.
struct ChildProcess {
    private let process = Process()
    private let output = Pipe()
    private let errorFile: URL

    /// - Parameters:
    ///   - environment: Added to that of the tests.
    ///   - input: At most what a pipe holds.
    init(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], input: Data? = nil
    ) throws {
        errorFile = URL(fileURLWithPath: NSTemporaryDirectory() + "child-\(UUID().uuidString).err")
        try Data().write(to: errorFile)
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errorFile)
        process.standardInput = try input.map(Self.pipe) ?? FileHandle.nullDevice
    }

    private static func pipe(holding input: Data) throws -> Any {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: input)
        try pipe.fileHandleForWriting.close()
        return pipe
    }

    func start() throws -> ChildProcess {
        try process.run()
        return self
    }

    func finish() throws -> ChildResult {
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let errors = try Data(contentsOf: errorFile)
        try FileManager.default.removeItem(at: errorFile)
        return ChildResult(
            output: String(decoding: text, as: UTF8.self), errors: String(decoding: errors, as: UTF8.self),
            status: process.terminationStatus, wasSignalled: process.terminationReason == .uncaughtSignal)
    }

    static func run(_ executable: String, _ arguments: [String], input: Data? = nil) throws -> ChildResult {
        try ChildProcess(executable, arguments, input: input).start().finish()
    }

    /// The path of a program that the build put beside the tests.
    static func built(_ name: String) -> String {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(name).path
    }

    /// The path of an installed program; `nil` if there is none.
    static func installed(_ name: String) -> String? {
        let folders = ["/usr/bin", "/bin", "/usr/local/bin", "/sbin", "/usr/sbin"]
        return folders.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

extension TestVault {
    /// The arguments that point an exerciser at this vault.
    func exerciserArguments(_ command: [String]) -> [String] {
        [location.folder, location.deviceKeyFile] + command
    }

    func exercise(_ command: String...) throws -> ChildResult {
        try ChildProcess.run(ChildProcess.built("vault-exerciser"), exerciserArguments(command))
    }

    /// The same under `strace`, which kills or fails it at a chosen system call.
    func exercise(_ command: [String], injecting injection: String, strace: String) throws -> ChildResult {
        try ChildProcess.run(
            strace,
            [
                "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(injection.prefix { $0 != ":" })", "-e",
                "inject=\(injection)",
            ]
                + [ChildProcess.built("vault-exerciser")] + exerciserArguments(command))
    }
}
