// SPDX-License-Identifier: Apache-2.0
// Other programs, run to their end.

import Foundation
import KeychainTestSupport

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
    private let limit: Duration

    /// - Parameters:
    ///   - environment: Added to that of the tests.
    ///   - input: At most what a pipe holds.
    ///   - folder: In which it runs; else that of the tests.
    ///   - limit: When it is killed.
    init(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], input: Data? = nil,
        folder: String? = nil, limit: Duration = .testLimit
    ) throws {
        self.limit = limit
        errorFile = URL(fileURLWithPath: NSTemporaryDirectory() + "child-\(UUID().uuidString).err")
        try Data().write(to: errorFile)
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
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
        try process.run(limitedTo: limit)
        return self
    }

    func finish() throws -> ChildResult {
        let text = try output.fileHandleForReading.readAll(limitedTo: limit + .seconds(60))
        try process.waitForEnd()
        let errors = try Data(contentsOf: errorFile)
        try FileManager.default.removeItem(at: errorFile)
        return ChildResult(
            output: String(decoding: text, as: UTF8.self), errors: String(decoding: errors, as: UTF8.self),
            status: process.terminationStatus, wasSignalled: process.terminationReason == .uncaughtSignal)
    }

    static func run(
        _ executable: String, _ arguments: [String], input: Data? = nil, folder: String? = nil,
        limit: Duration = .testLimit
    ) throws -> ChildResult {
        try ChildProcess(executable, arguments, input: input, folder: folder, limit: limit).start().finish()
    }

    /// Runs a built program as a user who owns a test's vault, and as whom nothing is left of root's rights: as the one who runs
    /// the tests, or in root's place as `nobody`. That one may not be able to enter the folder in which the program was built, nor
    /// that of the checkout, so it is copied and runs in another one.
    ///
    /// - Parameter words: What is run in place of the program, which becomes `$0` of a shell script, with its arguments.
    static func runAsOwner(
        of test: TestVault, script: String = #"exec "$0" "$@""#, _ command: [String]
    ) throws -> ChildResult {
        let shell = ["sh", "-c", script]
        guard geteuid() == 0 else {
            let words = shell + [Exerciser.path] + test.exerciserArguments(command)
            return try run("/usr/bin/env", words)
        }
        let folder = OtherUsers.temporaryFolder + "exerciser-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(folder)") } }
        try OtherUsers.install(Exerciser.path, into: folder)
        chmod(folder, 0o755)
        let program = shell + [folder + "/" + Exerciser.name]
        let words = ["setpriv", "--reuid=65534", "--clear-groups"] + program + test.exerciserArguments(command)
        return try run("/usr/bin/env", words, folder: folder)
    }

    /// Whether ``runAsOwner(of:script:_:)`` works: whether the other user can run programs that lie in the folder for temporary
    /// files, and need the libraries of the toolchain.
    static let canRunAsOwner: Bool = {
        do {
            let test = try TestVault()
            try test.giveAway()
            let child = try runAsOwner(of: test, ["state"])
            if child.output == "" { print("Another user cannot run what was built: \(child.errors)") }
            return child.output != ""
        } catch {
            print("Another user cannot run what was built: \(error)")
            return false
        }
    }()
}

extension TestVault {
    /// Gives everything to the user of ``ChildProcess/runAsOwner(of:script:_:)``.
    func giveAway() throws {
        guard geteuid() == 0 else { return }
        for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: root)) {
            guard chown(root + "/" + name, 65534, 65534) == 0 else { throw CocoaError(.fileWriteNoPermission) }
        }
    }

    /// The arguments that point an exerciser at this vault.
    func exerciserArguments(_ command: [String]) -> [String] {
        Exerciser.words(command, on: location)
    }

    /// An exerciser that is talked to while it runs.
    func running(_ command: String..., under wrapper: [String] = []) throws -> RunningExerciser {
        try RunningExerciser(exerciserArguments(command), under: wrapper)
    }

    func exercise(_ command: String...) throws -> ChildResult {
        try ChildProcess.run(Exerciser.path, exerciserArguments(command))
    }

    /// The same under `strace`, which kills or fails it at a chosen system call.
    func exercise(_ command: [String], injecting injection: String, strace: String) throws -> ChildResult {
        try ChildProcess.run(
            strace,
            [
                "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(injection.prefix { $0 != ":" })", "-e",
                "inject=\(injection)",
            ]
                + [Exerciser.path] + exerciserArguments(command))
    }
}
