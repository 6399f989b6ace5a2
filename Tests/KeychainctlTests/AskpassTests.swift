// SPDX-License-Identifier: Apache-2.0
// askpass: which questions the vault answers, what goes to the terminal, and ssh and sudo themselves.

import Foundation
import KeychainTestSupport
import Testing

@Suite("askpass")
struct AskpassTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Without a terminal.
    private func ask(_ prompt: String) throws -> Tool.Run {
        try Data(prompt.utf8).write(to: tool.home.appendingPathComponent("prompt"))
        return try tool.shell("setsid -w \"$CTL\" askpass -- \"$(cat prompt)\"")
    }

    private func storeAll() throws {
        let items = [
            ["-s", "OpenSSH", "-a", "/k e'y"], ["-s", "OpenSSH", "-a", "/key"], ["-s", "sudo", "-a", "alice"],
            ["--server", "ssh://h", "-a", "alice"], ["--server", "https://h", "-a", "alice"],
            ["--server", "https://h:8443/team", "-a", "al@ice"],
        ]
        for item in items {
            let run = try tool.shell(
                "printf hunter2 | \"$CTL\" set "
                    + item.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " "))
            try #require(run.status == 0, "\(run.errors)")
        }
    }

    // MARK: - Questions

    private static let answered: [(String, String)] = [
        ("Enter passphrase for key '/key': ", "hunter2"), ("Enter passphrase for key '/k e'y': ", "hunter2"),
        ("Enter passphrase for /key: ", "hunter2"), ("alice@h's password: ", "hunter2"),
        ("(alice@h) Password: ", "hunter2"), ("Enter passphrase for /key (will confirm each use): ", "hunter2"),
        ("[sudo] password for alice: ", "hunter2"), ("Username for 'https://h': ", "alice"),
        ("Password for 'https://alice@h': ", "hunter2"), ("Password for 'https://al@ice@h:8443': ", "hunter2"),
        ("Password for 'https://al%40ice@h:8443/team': ", "hunter2"),
    ]

    @Test func question_ofAProgram_isAnsweredFromTheVault() throws {
        try storeAll()
        for (prompt, answer) in Self.answered {
            let run = try ask(prompt)
            #expect(run.status == 0 && run.text == answer + "\n", "\(prompt): \(run.errors)")
        }
    }

    @Test(arguments: [("--version", "0."), ("--help", "OVERVIEW: ")])
    func link_askedForItself_tells(_ option: String, _ beginning: String) throws {
        let run = try tool.shell("ln -s \"$CTL\" keychain-askpass && ./keychain-askpass \(option)")
        #expect(run.status == 0 && run.text.hasPrefix(beginning), "\(run.errors)")
    }

    private static let unanswered: [(String, Int32)] = [
        ("Enter passphrase for key '/other': ", 3), ("Bad passphrase, try again for /key: ", 5),
        ("bob@h's password: ", 3),
        ("alice@other's password: ", 3), ("(bob@evil) alice@h's password: ", 5), ("(bob@evil) (alice@h) Password: ", 5),
        ("(alice@h) Code: ", 5), ("[sudo] password for bob: ", 3), ("Password for 'http://alice@h': ", 3),
        ("Password for 'https://alice@h:1': ", 3), ("Password for 'https://h': ", 5),
        ("Password for 'https://alice@h/@evil': ", 5), ("Password for 'https://alice@h?@evil': ", 5),
        ("Password for 'https://alice@h\\@evil': ", 5), ("Password for 'https://alice@h@evil': ", 3),
        ("Username for 'https://other': ", 3),
        ("The authenticity of host 'h' can't be established.\nAre you sure (yes/no)? ", 5),
        ("hunter2?", 5), ("", 5), ("'s password: ", 5),
    ]

    /// Another server, user or file; a question that a server made up; and what is no question for a secret.
    @Test func question_withoutAnItem_failsWithoutATerminal() throws {
        try storeAll()
        for (prompt, status) in Self.unanswered {
            let run = try ask(prompt)
            #expect(run.status == status && run.output.isEmpty, "\(prompt): \(run.everything)")
        }
    }

    /// Such as the `HostKeyAlias` of ssh.
    @Test func hostWithCapitals_isAskedForAsGivenAndThenInLowerCase() throws {
        try tool.run("set", "--server", "ssh://Alias", "-a", "alice", input: Data("lower".utf8))
        #expect(try ask("alice@Alias's password: ").text == "lower\n")
        try tool.run("security", "add-internet-password", "-s", "Alias", "-r", "ssh ", "-a", "alice", "-w", "as given")
        #expect(try ask("alice@Alias's password: ").text == "as given\n")
        #expect(try ask("alice@alias's password: ").text == "lower\n")
    }

    @Test func username_ofSeveralAccounts_isNotGuessed() throws {
        try storeAll()
        try tool.run("set", "--server", "https://h", "-a", "bob", input: secret)
        #expect(try ask("Username for 'https://h': ").status == 3)
    }

    /// A composed "é" and a decomposed one.
    @Test func username_ofAccountsThatOnlyLookTheSame_isNotGuessed() throws {
        for account in ["caf\u{E9}", "cafe\u{301}"] {
            try tool.run("set", "--server", "https://h", "-a", account, input: secret)
        }
        #expect(try ask("Username for 'https://h': ").status == 3)
    }

    @Test func valueWithLines_answersOnlyGit() throws {
        let lines = Data("t0ken\npassword_expiry_utc=99999999999".utf8)
        try tool.run("set", "--server", "https://h", "-a", "alice", input: lines)
        try tool.run("set", "-s", "sudo", "-a", "alice", input: lines)
        #expect(try ask("Password for 'https://alice@h': ").text == "t0ken\n")
        #expect(try ask("[sudo] password for alice: ").status == 1)
    }

    @Test func finalNewline_ofAValue_isNotDoubled() throws {
        try tool.run("set", "-s", "sudo", "-a", "alice", input: Data("hunter2\n".utf8))
        #expect(try ask("[sudo] password for alice: ").text == "hunter2\n")
    }

    @Test func lockedVault_withoutATerminal_fails() throws {
        let vault = try LockableTool()
        try vault.withKey("set -s sudo -a alice", input: secret)
        let run = try vault.tool.shell("setsid -w \"$CTL\" askpass '[sudo] password for alice: '")
        #expect(run.status == 5 && run.output.isEmpty)
    }

    @Test(arguments: ["", "one two"])
    func arguments_thatAreNotOne_areUsage(_ words: String) throws {
        #expect(try tool.shell("\"$CTL\" askpass \(words)").status == 64)
    }

    // MARK: - The terminal

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func secretWithoutAnItem_isAskedForUnseen() throws {
        let script = "'\(Tool.executable)' askpass '[sudo] password for alice: ' > answer"
        let dialogue = try tool.dialogue(
            program: ["sh", "-c", script], steps: [("password for alice", .type("hunter2\n"))])
        #expect(dialogue.status == 0 && !dialogue.screen.contains("hunter2"))
        #expect(try Data(contentsOf: tool.home.appendingPathComponent("answer")) == Data("hunter2\n".utf8))
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func hostKey_isConfirmedByTheUser() throws {
        let script = "'\(Tool.executable)' askpass 'New host.\nAre you sure (yes/no/[fingerprint])? ' > answer"
        let dialogue = try tool.dialogue(program: ["sh", "-c", script], steps: [("fingerprint", .type("yes\n"))])
        #expect(dialogue.status == 0)
        #expect(try Data(contentsOf: tool.home.appendingPathComponent("answer")) == Data("yes\n".utf8))
    }

    @Test(
        .enabled(if: Tool.hasPython, "python3 is not installed"),
        arguments: [("y\n", Int32(0)), ("\n", 1), ("no\n", 1)])
    func confirmation_ofAKey_isTheExitCode(_ answer: String, status: Int32) throws {
        let script = "SSH_ASKPASS_PROMPT=confirm '\(Tool.executable)' askpass 'Allow use of key?'"
        #expect(try tool.dialogue(program: ["sh", "-c", script], steps: [("Allow", .type(answer))]).status == status)
    }

    @Test func confirmation_withoutATerminal_isNo() throws {
        let run = try tool.shell("SSH_ASKPASS_PROMPT=confirm setsid -w \"$CTL\" askpass 'Allow use of key?'")
        #expect(run.status != 0 && run.output.isEmpty)
    }

    // MARK: - ssh and sudo

    /// ssh refuses a user without a name.
    private static let hasSSH =
        Programs.installed("ssh-agent") != nil && Programs.installed("ssh-keygen") != nil && getpwuid(getuid()) != nil

    @Test(.enabled(if: hasSSH, "ssh-agent or ssh-keygen is not installed, or this user has no name"))
    func sshAdd_ofAKeyWhosePassphraseIsStored_works() throws {
        let run = try tool.shell(
            """
            ssh-keygen -q -t ed25519 -N 'open sesame' -f key; printf 'open sesame' | "$CTL" set -s OpenSSH -a "$HOME/key"
            "$CTL" helper install ssh --yes 2> install.log; . .config/environment.d/60-keychain-askpass.conf
            export SSH_ASKPASS SSH_ASKPASS_REQUIRE
            ssh-agent sh -c 'setsid -w ssh-add "$HOME/key" && ssh-add -l'
            """)
        #expect(run.status == 0 && run.text.contains("ED25519"), "\(run.everything)")
    }

    private static let hasServer =
        hasSSH && Programs.installed("sshd") != nil
        && (geteuid() != 0 || FileManager.default.fileExists(atPath: "/run/sshd"))

    /// The server is the client's own child, and needs no port.
    @Test(.enabled(if: hasServer, "sshd is not installed, its folder /run/sshd is missing, or this user has no name"))
    func ssh_withAKeyWhosePassphraseIsStored_logsIn() throws {
        let run = try tool.shell(
            """
            ssh-keygen -q -t ed25519 -N 'open sesame' -f key; ssh-keygen -q -t ed25519 -N '' -f hostkey
            printf 'open sesame' | "$CTL" set -s OpenSSH -a "$HOME/key"; ln -s "$CTL" keychain-askpass
            printf '%s\\n' "HostKey $HOME/hostkey" "AuthorizedKeysFile $HOME/key.pub" 'StrictModes no' 'UsePAM no' \
              'PidFile none' 'PermitRootLogin yes' > sshd.conf
            echo "there $(cat hostkey.pub)" > known
            SSH_ASKPASS="$HOME/keychain-askpass" SSH_ASKPASS_REQUIRE=force setsid -w ssh -F none \
              -o UserKnownHostsFile="$HOME/known" -o IdentitiesOnly=yes -i "$HOME/key" \
              -o ProxyCommand="$(command -v sshd || echo /usr/sbin/sshd) -i -f $HOME/sshd.conf" "$(id -un)@there" echo hello
            """)
        #expect(run.status == 0 && run.text.contains("hello"), "\(run.everything)")
    }

    private static let hasSudo =
        geteuid() == 0 && Programs.installed("sudo") != nil && Programs.installed("openssl") != nil
        && Tool.hasMounts

    /// The user exists only for this script: its files are mounted over those in /etc.
    @Test(.enabled(if: hasSudo, "sudo or openssl is not installed, or these tests do not run as root"))
    func sudo_withAStoredPassword_runs() throws {
        let run = try tool.shell(
            """
            exec unshare -m sh -ec '
            mkdir etc own; cp /etc/passwd /etc/shadow /etc/group /etc/sudoers etc; chmod 755 "$HOME"; chown 23456:23456 own
            cp "$CTL" own/keychain-askpass; chmod 755 own/keychain-askpass
            echo "cred:x:23456:23456::$HOME/own:/bin/sh" >> etc/passwd; echo "cred:x:23456:" >> etc/group
            echo "cred:$(openssl passwd -6 "open sesame"):19000:0:99999:7:::" >> etc/shadow
            chmod 640 etc/sudoers; echo "cred ALL=(ALL) ALL" >> etc/sudoers; chmod 440 etc/sudoers
            for file in passwd shadow group sudoers; do mount --bind etc/$file /etc/$file; done
            as() { setpriv --reuid 23456 --regid 23456 --clear-groups env HOME="$HOME/own" "$@"; }
            ln -s keychain-askpass own/keychainctl; printf "open sesame" | as own/keychainctl set -s sudo -a cred
            SUDO_ASKPASS="$HOME/own/keychain-askpass" as setsid -w sudo -A id -u'
            """)
        #expect(run.status == 0 && run.text == "0\n", "\(run.everything)")
    }
}
