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

    private static let unit = ".config/systemd/user/swift-keychain-sync.service"

    /// `systemctl --user mask` makes such a link, so that the unit never runs.
    @Test func unit_thatIsMasked_staysMasked() throws {
        let run = try tool.shell(
            """
            mkdir -p .config/systemd/user; ln -s /dev/null \(Self.unit)
            "$CTL" sync install-unit; echo $?; readlink \(Self.unit)
            """)
        #expect(run.text == "15\n/dev/null\n" && run.errors.contains("systemctl --user unmask"), "\(run.everything)")
    }

    @Test func unit_thatIsALink_isWrittenWhereItLeads() throws {
        let run = try tool.shell(
            """
            mkdir -p .config/systemd/user units; touch units/own; ln -s "$HOME/units/own" \(Self.unit)
            "$CTL" sync install-unit 2> log || exit; readlink \(Self.unit); grep -c ExecStart units/own
            """)
        #expect(run.text == "\(tool.home.path)/units/own\n1\n", "\(run.everything)")
    }

    /// For its folder, which takes an inode, and for its text.
    @Test(
        .enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"),
        arguments: [
            ("nr_inodes=20", "for i in $(seq 30); do mkdir $i || true; done"),
            ("size=64k", "mkdir -p .config/systemd/user; cat /dev/zero > fill || true"),
        ])
    func unit_withoutSpaceForIt_saysThatTheDiskIsFull(limit: String, filling: String) throws {
        let run = try tool.shellWithOwnMounts(
            "mount -t tmpfs -o \(limit),mode=700 none \"$HOME\"; cd \"$HOME\"; \(filling); \"$CTL\" sync install-unit")
        #expect(run.status == 9, "\(run.everything)")
    }
}
