// SPDX-License-Identifier: Apache-2.0
// A vault that nothing opens by itself, and a simulated user with its recovery key.

import Foundation
import Testing

/// A tool with a vault that opens with a recovery key alone, which takes no time to derive. What the kernel keeps of it
/// goes away with this object.
final class LockableTool {
    let tool: Tool
    /// With the newline that it was printed with.
    let recoveryKey: Data

    init() throws {
        tool = try Tool()
        let made = try tool.run("init", "--recovery-key", "--no-device-key")
        try #require(made.status == 0, "\(made.errors)")
        recoveryKey = made.output
        try recoveryKey.write(to: keyOnPaper)
    }

    deinit {
        do { _ = try tool.run("lock", "--all") } catch { print("left unlocked: \(tool.home.path)") }
    }

    /// Stands for the sheet of paper.
    var keyOnPaper: URL { tool.home.appendingPathComponent("paper") }

    /// Runs a verb with the recovery key.
    @discardableResult
    func withKey(_ line: String, input: Data = Data(), environment: [String: String]? = nil) throws -> Tool.Run {
        try tool.shell("\"$CTL\" \(line) --recovery-key-fd 3 3< paper", input: input)
    }

    /// Runs a verb with the recovery key of another vault.
    func withOtherKey(_ line: String) throws -> Tool.Run {
        let other = try LockableTool()
        return try tool.shell("\"$CTL\" \(line) --recovery-key-fd 3 3< '\(other.keyOnPaper.path)'")
    }

    func unlock() throws {
        let run = try withKey("unlock")
        try #require(run.status == 0, "\(run.errors)")
    }

    /// Stores an item, whether the vault is locked or not.
    func store(_ others: String = "") throws {
        let run = try withKey("set -s example.com -a alice \(others)", input: secret)
        try #require(run.status == 0, "\(run.errors)")
    }

    func get() throws -> Tool.Run { try tool.run("get", "-s", "example.com", "-a", "alice") }

    var lockState: String? { get throws { try tool.status()["lockState"] as? String } }
}

extension Tool {
    /// The protectors as `protect list --json` shows them.
    func protectors() throws -> [[String: Any]] {
        let run = try run("protect", "list", "--json")
        try #require(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
    }

    func words() throws -> [String] { try protectors().compactMap { $0["word"] as? String } }

    /// Whether the kernel keeps keys for processes; containers often forbid it.
    static let hasKeyring: Bool = {
        do {
            return try Tool().status()["unlockCache"] as? String == "kernel"
        } catch {
            return false
        }
    }()
}
