// SPDX-License-Identifier: Apache-2.0
// `sync install-unit --timer`, and what systemd says of the units.

import Foundation
import KeychainTestSupport
import Testing

@Suite("sync timer")
struct SyncTimerTests {
    /// Everything that units treat specially, and a path may have.
    private static let folder = "sha red%h\"\\$HOME"
    private static let name = "swift-keychain-sync-now"

    private let tool: Tool

    init() throws { tool = try Tool() }

    private func found() throws {
        let run = try tool.shell("mkdir '\(Self.folder)' && \"$CTL\" sync init --folder '\(Self.folder)' --name laptop")
        try #require(run.status == 0, "\(run.errors)")
    }

    private func unit(_ kind: String) throws -> String {
        let path = ".config/systemd/user/\(Self.name).\(kind)"
        return try String(contentsOf: tool.home.appendingPathComponent(path), encoding: .utf8)
    }

    /// The folders of the path unit, below the shared folder.
    private func watched() throws -> [String] {
        let shared = tool.home.path + "/" + Self.folder.replacing("%", with: "%%") + "/skc1/"
        let paths = try unit("path").split(separator: "\n").filter { $0.hasPrefix("PathChanged=") }
            .map { String($0.dropFirst("PathChanged=".count)) }
        #expect(paths.allSatisfy { $0.hasPrefix(shared) }, "\(paths)")
        return paths.map { $0.dropFirst(shared.count).split(separator: "/").dropFirst().joined(separator: "/") }
    }

    @Test func timer_ofARingInAFolder_exchangesOnceWhenItsFoldersChangeAndFromTimeToTime() throws {
        try found()
        try tool.run("set", "--synchronizable", "-s", "s", "-a", "alice", input: secret)
        try #require(try tool.run("sync", "now").status == 0)
        let run = try tool.run("sync", "install-unit", "--timer")
        #expect(
            run.status == 0 && run.errors.contains("enable --now \(Self.name).timer \(Self.name).path"), "\(run.errors)"
        )
        #expect(try unit("service").contains("keychainctl\" sync now\n") && unit("service").contains("Type=oneshot"))
        #expect(try unit("timer").contains("OnUnitInactiveSec=5min"))
        let writers = try tool.shell("cd '\(Self.folder)'/skc1/*/l && ls -d *").text.split(separator: "\n")
        #expect(writers.count == 1)
        #expect(try watched() == ["g", "j", "k", "l", "s"] + writers.map { "l/" + $0 })
    }

    @Test func timer_printed_showsAllUnitsAndWritesNone() throws {
        try found()
        let run = try tool.run("sync", "install-unit", "--timer", "--print")
        for kind in ["service", "timer", "path"] { #expect(run.text.contains("# \(Self.name).\(kind)\n[Unit]\n")) }
        #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent(".config/systemd").path))
    }

    @Test func timer_withoutARing_isNotWritten() throws {
        #expect(try tool.run("sync", "install-unit", "--timer").status == 13)
        #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent(".config/systemd").path))
    }

    @Test func timer_ofAFolderWithALineBreak_isRefused() throws {
        let run = try tool.shell(
            "mkdir 'a\nb' && \"$CTL\" sync init --folder 'a\nb' && \"$CTL\" sync install-unit --timer")
        #expect(run.status == 14 && run.errors.contains("line break"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent(".config/systemd").path))
    }

    // MARK: - systemd

    private static let hasAnalyzer = Programs.installed("systemd-analyze") != nil

    /// Copies the tool into a folder with a strange name, and lets systemd look at the units that it writes there.
    @Test(.enabled(if: hasAnalyzer, "needs systemd-analyze"), arguments: ["", "--timer"])
    func units_ofAStrangePath_areAcceptedBySystemd(option: String) throws {
        try found()
        let run = try tool.shell(
            """
            mkdir 'b in%h$HOME' run && cp "$CTL" 'b in%h$HOME/keychainctl' || exit
            export KEYCHAIN_DEVICE_KEY="$HOME/.config/swift-keychain/device.key"
            'b in%h$HOME/keychainctl' sync install-unit \(option) 2> log || exit
            XDG_RUNTIME_DIR="$HOME/run" systemd-analyze --user --man=no verify .config/systemd/user/swift-keychain-*
            """)
        #expect(run.status == 0 && run.everything.isEmpty, "\(run.everything)")
    }

    /// It has no variables there.
    @Test func environment_withADollarSign_isLeftAsItIs() throws {
        let run = try tool.shell("KEYCHAIN_VAULT='/a$b' \"$CTL\" sync install-unit --print")
        #expect(run.text.contains("Environment=\"KEYCHAIN_VAULT=/a$b\"\n"), "\(run.everything)")
    }
}
