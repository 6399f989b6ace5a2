// SPDX-License-Identifier: Apache-2.0
// The example's programs, installed in a folder with a keychain of its own.

import Foundation
import WrapperStores

/// A folder with a vault and programs.
final class InstallationFolder: Sendable {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("lgtv-programs", isForPrograms: true) }

    var path: String { folder.path }

    /// Puts a built program there, with the example's entitlements beside it.
    ///
    /// - Parameter change: What is to be different in them; `nil` leaves them out.
    func install(
        _ name: String, as copy: String? = nil, entitlements change: ((String) -> String)? = { $0 }
    ) throws -> InstalledProgram {
        let built = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent(name).path
        let program = path + "/" + (copy ?? name)
        // A second name for the file is enough, where it can have one, and is its path to the system.
        if link(built, program) != 0 { try FileManager.default.copyItem(atPath: built, toPath: program) }
        if let change {
            let list = change(try String(contentsOf: Sources.entitlements, encoding: .utf8))
            try list.write(toFile: program + ".entitlements", atomically: false, encoding: .utf8)
        }
        return InstalledProgram(path: program, home: path)
    }
}

struct InstalledProgram: Sendable {
    struct Result: Sendable {
        let status: Int32
        let output: String
        let complaint: String
    }

    let path: String
    let home: String

    /// Of its own, since tests may block all threads of the shared queues.
    private static let limits = DispatchQueue(label: "lgtv-programs.limits")

    /// Runs it to its end, without blocking a thread meanwhile.
    func run(_ arguments: String..., team: String? = "A1B2C3D4E5") async throws -> Result {
        try await run(arguments, team: team)
    }

    func run(_ arguments: [String], team: String? = "A1B2C3D4E5") async throws -> Result {
        let files = [UUID(), UUID()].map { URL(fileURLWithPath: home + "/" + $0.uuidString) }
        for file in files { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = environment(team)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
            let hasEnded = DispatchSemaphore(value: 0)
            process.terminationHandler = { _ in
                hasEnded.signal()
                ended.resume()
            }
            do { try process.run() } catch { return ended.resume(throwing: error) }
            let number = process.processIdentifier
            Self.limits.asyncAfter(deadline: .now() + 600) {
                // A program that does not end by itself must not keep the tests.
                if hasEnded.wait(timeout: .now()) != .success { kill(number, SIGKILL) }
            }
        }
        let texts = try files.map { try String(contentsOf: $0, encoding: .utf8) }
        let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return Result(status: status, output: texts[0], complaint: texts[1])
    }

    private func environment(_ team: String?) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("KEYCHAIN_") }
        environment["KEYCHAIN_VAULT"] = home + "/vault"
        environment["KEYCHAIN_DEVICE_KEY"] = home + "/device.key"
        environment["KEYCHAIN_TEAM_ID"] = team
        environment["KEYCHAIN_ANCHORS"] = "file"
        environment["XDG_STATE_HOME"] = home + "/state"
        // Where the defaults of the app group lie.
        environment["XDG_CONFIG_HOME"] = home + "/config"
        return environment
    }
}
