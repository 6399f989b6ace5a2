// SPDX-License-Identifier: Apache-2.0
// helper install and remove ssh: whose lines of the environment file are changed.

import Foundation
import Testing

extension HelperTests {
    @Test func ssh_remove_removesWhatInstallMade() throws {
        try install("ssh")
        #expect(try text(".config/environment.d/60-keychain-askpass.conf").contains("SSH_ASKPASS=\(tool.home.path)/"))
        try remove("ssh")
        for folder in [".config/environment.d", ".local/bin"] {
            #expect(try FileManager.default.contentsOfDirectory(atPath: file(folder).path).isEmpty)
        }
    }

    @Test func ssh_withAFileOfTheUser_leavesIt() throws {
        try FileManager.default.createDirectory(at: file(".config/environment.d"), withIntermediateDirectories: true)
        try Data("A=b\n".utf8).write(to: file(".config/environment.d/60-keychain-askpass.conf"))
        #expect(try install("ssh").status == 4)
        #expect(try remove("ssh").status == 4)
        #expect(try text(".config/environment.d/60-keychain-askpass.conf") == "A=b\n")
    }

    private static let variables = ".config/environment.d/60-keychain-askpass.conf"

    private func edit(_ change: (String) -> String) throws {
        try Data(change(try text(Self.variables)).utf8).write(to: file(Self.variables))
    }

    @Test(arguments: [
        ("", "MINE=1\n", "MINE=1\n"), ("MINE=1\n", "", "MINE=1\n"), ("", "MINE=1", "MINE=1\n"),
        ("# mine\n", "\nSSH_ASKPASS_REQUIRE=prefer\n", "# mine\n\nSSH_ASKPASS_REQUIRE=prefer\n"),
        ("", "SSH_ASKPASS=/mine/askpass\n", "SSH_ASKPASS=/mine/askpass\n"),
    ])
    func ssh_remove_keepsLinesOfTheUser(before: String, after: String, left: String) throws {
        try install("ssh")
        try edit { before + $0 + after }
        let run = try remove("ssh")
        #expect(run.status == 0 && run.errors.contains("The file stays"), "\(run.errors)")
        #expect(try text(Self.variables) == left)
        #expect(try FileManager.default.contentsOfDirectory(atPath: file(".local/bin").path).isEmpty)
    }

    @Test func ssh_remove_ofAFileWithEmptyLinesOnly_removesIt() throws {
        try install("ssh")
        try edit { "\n" + $0 + " \n" }
        try remove("ssh")
        #expect(!FileManager.default.fileExists(atPath: file(Self.variables).path))
    }

    @Test func ssh_install_overAnOutdatedFile_keepsLinesOfTheUser() throws {
        try install("ssh")
        let current = try text(Self.variables)
        let outdated = current.replacingOccurrences(of: tool.home.path, with: "/former/home")
        try Data("A=1\n\(outdated)B=2\n".utf8).write(to: file(Self.variables))
        #expect(try install("ssh").status == 0)
        #expect(try text(Self.variables) == "A=1\n\(current)B=2\n")
        #expect(try install("ssh").errors.contains("nothing was changed"))
    }
}
