// SPDX-License-Identifier: Apache-2.0
// The man pages, which `make install` makes from what the tool says of its commands.

import Foundation
import Testing

@Suite("man pages", .enabled(if: Tool.hasPython, "python3 is not installed"))
struct ManPageTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Scripts/man-pages.py").path

    /// `security` is the command that takes `--help` for a mistake, as macOS does.
    @Test func pages_ofAllCommands_areWritten() throws {
        let tool = try Tool()
        let run = try tool.shell("python3 '\(Self.script)' \"$CTL\" pages")
        #expect(run.status == 0, "\(run.everything)")
        for name in [
            "keychainctl", "keychainctl-import", "keychainctl-key-sign", "keychainctl-security",
            "git-credential-keychain",
        ] {
            let page = tool.home.appendingPathComponent("pages/\(name).1").path
            #expect(FileManager.default.fileExists(atPath: page), "\(name)")
        }
    }
}
