// SPDX-License-Identifier: Apache-2.0
// The built tool, run as a process in a home folder of its own.

import Foundation
import KeychainTestSupport
import Testing

/// One home folder, and runs of the tool in it. The folder is removed with this object.
final class Tool {
    private let folder: TemporaryFolder
    private let program: String

    /// What a run left behind.
    struct Run {
        let status: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
        /// Everything that a person or a log would see.
        var everything: String { text + errors }
    }

    /// `KEYCHAIN_TEST_TOOL` names an optimized one: it needs a fifth of the time, and is what people install.
    static let executable = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_TOOL"] ?? withAllTraits

    /// Built with the tests, with their traits.
    static let withAllTraits = Programs.built("keychainctl")

    /// - Parameter program: The tool to run.
    init(_ program: String = Tool.executable) throws {
        (folder, self.program) = (try TemporaryFolder("keychainctl"), program)
    }

    var home: URL { folder.url }
    var vaultFolder: URL { home.appendingPathComponent(".local/share/swift-keychain") }
    var database: URL { vaultFolder.appendingPathComponent("vault.db") }
    var deviceKey: URL { home.appendingPathComponent(".config/swift-keychain/device.key") }

    /// Only this: no XDG folders, and no KEYCHAIN_… variables of the user who runs the tests.
    var environment: [String: String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return ["HOME": home.path, "PATH": path, "CTL": program, "KEYCHAIN_ANCHORS": "file"]
    }

    // MARK: - Running

    @discardableResult
    func run(
        _ arguments: String..., input: Data = Data(), environment: [String: String]? = nil
    ) throws -> Run {
        try start(program, arguments, input, environment ?? self.environment)
    }

    /// Runs a script, in which `"$CTL"` is the tool.
    func shell(_ script: String, input: Data = Data()) throws -> Run {
        try start("/bin/sh", ["-c", script], input, environment)
    }

    /// Runs the tool as a program starts it that lets the kernel forget its children. Shells do not pass that on.
    func shellIgnoringSIGCHLD(_ arguments: String, before: String = ":") throws -> Run {
        try shell("\(before); \(Self.ignoringSIGCHLD(arguments))")
    }

    /// The same as a command of a script.
    static func ignoringSIGCHLD(_ arguments: String) -> String {
        """
        python3 -c 'import os, signal, sys
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.execv(sys.argv[1], sys.argv[1:])' "$CTL" \(arguments)
        """
    }

    /// Runs a script with a mount table of its own, where it may mount what it likes.
    func shellWithOwnMounts(_ script: String) throws -> Run {
        try start("/usr/bin/env", ["unshare", "-Urm", "/bin/sh", "-ec", script], Data(), environment)
    }

    /// Runs Python with the database's path as its first argument.
    @discardableResult
    func python(_ program: String, _ arguments: String...) throws -> Run {
        let run = try start("/usr/bin/env", ["python3", "-c", program, database.path] + arguments, Data(), environment)
        try #require(run.status == 0, "\(run.errors)")
        return run
    }

    static let hasPython = canRun("python3", "-c", "import sqlite3, pty")
    static let hasStrace = Programs.strace != nil
    static let hasReadelf = canRun("readelf", "--version")
    static let hasMounts = canRun("unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/tmp")

    private static func canRun(_ command: String...) -> Bool {
        do {
            let tool = try Tool()
            return try tool.start("/usr/bin/env", command, Data(), tool.environment).status == 0
        } catch {
            return false
        }
    }

    /// Files instead of pipes: they take any amount without anyone reading along.
    private func start(
        _ path: String, _ arguments: [String], _ input: Data, _ environment: [String: String]
    ) throws -> Run {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = home
        let folder = home.appendingPathComponent("run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { do { try FileManager.default.removeItem(at: folder) } catch { print("left behind: \(folder.path)") } }
        let files = ["input", "output", "errors"].map { folder.appendingPathComponent($0) }
        for (file, bytes) in zip(files, [input, Data(), Data()]) { try bytes.write(to: file) }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run(limitedTo: .testLimit)
        try process.waitForEnd()
        // As a shell counts: 128 and the signal.
        let signal = process.terminationReason == .uncaughtSignal ? Int32(128) : 0
        return Run(
            status: process.terminationStatus + signal, output: try Data(contentsOf: files[1]),
            errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }
}

// MARK: - Short spellings

let secret = Data("correct horse".utf8)
let otherSecret = Data("battery staple".utf8)

extension Tool {
    /// Stores a generic password, which has to work.
    func store(
        _ value: Data = secret, service: String = "example.com", account: String = "alice", _ others: String...
    ) throws {
        let arguments = ["set", "-s", service, "-a", account] + others
        let run = try start(program, arguments, value, environment)
        try #require(run.status == 0, "\(run.errors)")
    }

    func get(service: String = "example.com", account: String = "alice") throws -> Data {
        let run = try run("get", "-s", service, "-a", account)
        try #require(run.status == 0, "\(run.errors)")
        return run.output
    }

    /// The items that `list --json` shows.
    func listed(_ arguments: String...) throws -> [[String: Any]] {
        let run = try start(program, ["list", "--json"] + arguments, Data(), environment)
        try #require(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
    }

    func status() throws -> [String: Any] {
        let run = try run("status", "--json")
        try #require(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: Any])
    }

    /// Spoils the metadata of every stored item.
    func damageItems() throws {
        try python(
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.execute("UPDATE item SET metadata = zeroblob(length(metadata))")
            database.commit()
            """)
    }
}
