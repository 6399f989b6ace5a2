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

    /// Runs a built program as a user who owns a test's vault, and as whom nothing is left of root's rights: as the one who runs
    /// the tests, or in root's place as `nobody`. That one may not be able to enter the folder in which the program was built, so
    /// it is copied.
    ///
    /// - Parameter words: What is run in place of the program, which becomes `$0` of a shell script, with its arguments.
    static func runAsOwner(
        of test: TestVault, script: String = #"exec "$0" "$@""#, _ command: [String]
    ) throws -> ChildResult {
        let shell = ["sh", "-c", script]
        guard geteuid() == 0 else {
            let words = shell + [built("vault-exerciser")] + test.exerciserArguments(command)
            return try run("/usr/bin/env", words)
        }
        let folder = NSTemporaryDirectory() + "exerciser-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(folder)") } }
        let copy = folder + "/vault-exerciser"
        try FileManager.default.copyItem(atPath: built("vault-exerciser"), toPath: copy)
        for path in [folder, copy] { chmod(path, 0o755) }
        let words = ["setpriv", "--reuid=65534", "--clear-groups"] + shell + [copy] + test.exerciserArguments(command)
        return try run("/usr/bin/env", words)
    }

    /// Whether ``runAsOwner(of:script:_:)`` works: whether the other user can run programs that lie in the folder for temporary
    /// files, and need the libraries of the toolchain.
    static let canRunAsOwner: Bool = {
        do {
            let test = try TestVault()
            try test.giveAway()
            return try runAsOwner(of: test, ["state"]).output != ""
        } catch {
            return false
        }
    }()

    /// The path of an installed program; `nil` if there is none.
    static func installed(_ name: String) -> String? {
        let folders = ["/usr/bin", "/bin", "/usr/local/bin", "/sbin", "/usr/sbin"]
        return folders.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
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
