// SPDX-License-Identifier: Apache-2.0
// `sudo -E keychainctl`: no files of root in the folders of the user.

import Foundation
import KeychainTestSupport
import Testing

@testable import keychainctl

@Suite("sudo -E")
struct SudoTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test(arguments: ["/a/b/vault", "", "/file/vault"])
    func folderThatWouldBeMade_isThatOfTheOwnerOfTheOneAbove(path: String) throws {
        try Data().write(to: tool.home.appendingPathComponent("file"))
        let folders = ["/proc/none", tool.home.path + path]
        let found = SudoCaller.existing(folders, of: getuid())
        #expect(found == (path.hasPrefix("/file") ? tool.home.path + "/file" : tool.home.path) || getuid() == 0)
        #expect(SudoCaller.existing(folders, of: getuid() + 1) == nil)
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can give a folder to another user"),
        arguments: ["set -s s -a a", "security add-generic-password -a a -s s", "security default-keychain -s x"])
    func command_ofRootInTheHomeOfTheCaller_makesNothing(line: String) throws {
        let script = """
            mkdir -p home/.config; chown -R 64201 home; export HOME="$PWD/home" SUDO_UID=$CALLER
            printf v | "$CTL" \(line); echo $?; find home ! -uid 64201 | wc -l
            """
        let refused = try tool.shell("CALLER=64201; " + script)
        #expect(refused.text == (line.hasPrefix("set") ? "15\n0\n" : "\(refused.text.prefix { $0 != "\n" })\n0\n"))
        #expect(!refused.text.hasPrefix("0\n") && refused.errors.contains("sudo -H"), "\(refused.errors)")
        #expect(try tool.shell("CALLER=64202; " + script).text.hasPrefix("0\n"))
    }
}
