// SPDX-License-Identifier: Apache-2.0
// `sync install-unit`: the unit of systemd that exchanges changes.

import Foundation
import Testing

@Suite("sync unit")
struct SyncUnitTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func unit_isWrittenOrPrinted_andStartsThisProgram() throws {
        let printed = try tool.run("sync", "install-unit", "--print")
        #expect(printed.status == 0 && printed.text.contains("ExecStart=\""))
        #expect(printed.text.contains("keychainctl\" sync watch\n"))
        #expect(try tool.run("sync", "install-unit").status == 0)
        let path = try tool.shell(
            "cat \"${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/swift-keychain-sync.service\"")
        #expect(path.text == printed.text)
    }

    /// systemd would otherwise start it with another vault.
    @Test(arguments: ["KEYCHAIN_VAULT", "KEYCHAIN_DEVICE_KEY", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"])
    func unit_hasTheVariableThatPlacesTheVault(name: String) throws {
        let run = try tool.shell("\(name)=\"$HOME/other\" \"$CTL\" sync install-unit --print")
        #expect(run.text.contains("Environment=\"\(name)=\(tool.home.path)/other\"\n"), "\(run.everything)")
    }

    @Test(arguments: ["KEYCHAIN_VAULT", "KEYCHAIN_DEVICE_KEY"])
    func unit_ofAVaultWhosePathIsRelative_isRefused(name: String) throws {
        let run = try tool.shell("\(name)=other \"$CTL\" sync install-unit --print")
        #expect(
            run.status != 0 && run.text.isEmpty && run.errors.contains("'other' is not usable"), "\(run.everything)")
    }

    @Test func unit_whateverTheUmask_isChangedByNobodyElse() throws {
        let run = try tool.shell(
            "umask 0; \"$CTL\" sync install-unit 2> log; cd .config; stat -c %a . systemd systemd/user systemd/user/*")
        #expect(run.everything == "700\n700\n700\n644\n")
    }
}
