// SPDX-License-Identifier: Apache-2.0
// A vault in a temporary folder, and other processes that use it.

import Foundation
import KeychainKit

@testable import KeychainVault

/// A vault that lives as long as one test.
final class SharedVault: Sendable {
    private let root: String
    let location: VaultLocation
    let vault: Vault

    init(_ settings: VaultSettings = VaultSettings()) throws {
        root = NSTemporaryDirectory() + "keychain-kit-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        location = try VaultLocation(folder: root + "/vault", deviceKeyFile: root + "/config/device.key")
        vault = Vault(location, settings)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: root) } catch { print("left behind: \(root)") }
    }

    /// The items of the exerciser.
    var store: SecretStore { SecretStore(service: "kit-exerciser", store: vault) }

    /// The same as another process would see it: nothing cached, opened anew.
    func reopened() -> SecretStore { SecretStore(service: "kit-exerciser", store: Vault(location)) }

    // MARK: - Other processes

    /// A running exerciser.
    func start(_ command: [String]) throws -> RunningProgram {
        try RunningProgram(RunningProgram.built("kit-exerciser"), exerciserArguments(command))
    }

    func run(_ command: String...) throws -> RunningProgram.Result { try start(command).finish() }

    /// An exerciser under `strace`, which kills it at a chosen system call.
    func run(_ command: [String], injecting injection: String, strace: String) throws -> RunningProgram.Result {
        let call = String(injection.prefix { $0 != ":" })
        let options = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(injection)"]
        return try RunningProgram(
            strace, options + [RunningProgram.built("kit-exerciser")] + exerciserArguments(command)
        ).finish()
    }

    private func exerciserArguments(_ command: [String]) -> [String] {
        [location.folder, location.deviceKeyFile] + command
    }
}

/// Another program, from its start to its end.
struct RunningProgram {
    struct Result {
        let lines: [String]
        let hasEndedWell: Bool
    }

    private let process = Process()
    private let output = Pipe()

    init(_ executable: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    func finish() -> Result {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Result(
            lines: text.split(separator: "\n").map(String.init),
            hasEndedWell: process.terminationReason == .exit && process.terminationStatus == 0)
    }

    /// The path of a program that the build put beside the tests.
    static func built(_ name: String) -> String {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(name).path
    }

    /// The path of an installed program; `nil` if there is none.
    static func installed(_ name: String) -> String? {
        ["/usr/bin", "/bin", "/usr/local/bin"].map { $0 + "/" + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
