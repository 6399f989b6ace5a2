// SPDX-License-Identifier: Apache-2.0
// Keys that ssh-add gives to `ssh-agent`: their use, their constraints and their end.

import Foundation
import KeychainTestSupport
import Testing

@Suite("ssh-agent with keys of ssh-add", .enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
struct SSHAgentAddingTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Makes the key `key`, whose public half is `pub`, so that only an agent signs with it.
    private static func make(_ options: String = "-t ed25519") -> String {
        "ssh-keygen -q \(options) -N '' -C mine -f key; mv key.pub pub; echo message > file"
    }

    private static let sign = "ssh-keygen -q -Y sign -n test -f pub file"

    @Test(arguments: ["-t ed25519", "-t ecdsa -b 256", "-t ecdsa -b 384", "-t ecdsa -b 521", "-t rsa -b 2048"])
    func keyAdded_isListedAndSignsAndIsInNoVault(options: String) throws {
        // `ssh-add -T` asks RSA keys for SHA-1, which is refused.
        let check = options.contains("rsa") ? "fails ssh-add -T pub" : "ssh-add -T pub"
        let run = try tool.shellWithAgent(
            """
            \(Self.make(options)); ssh-add -q key; rm key; ssh-add -l | grep -c ' mine '; \(check)
            \(Self.sign); ssh-keygen -q -Y check-novalidate -n test -s file.sig < file
            "$CTL" key list
            """)
        #expect(run.status == 0 && run.text == "1\n", "\(run.everything)")
    }

    @Test func keyAddedAgain_isOneKeyWithTheNewComment() throws {
        let run = try tool.shellWithAgent(
            """
            \(Self.make()); ssh-add -q key; ssh-keygen -q -c -C other -f key > /dev/null; ssh-add -q key; ssh-add -l
            """)
        #expect(run.status == 0 && run.text.split(separator: "\n").count == 1, "\(run.everything)")
        #expect(run.text.contains(" other "), "\(run.text)")
    }

    @Test func keyAdded_thatTheVaultHasAsWell_isListedOnce() throws {
        let run = try tool.shellWithAgent(
            """
            \(Self.make()); "$CTL" key import key --tag t > /dev/null; ssh-add -q key; ssh-add -l
            ssh-add -q -d pub; ssh-add -l
            """)
        let lines = run.text.split(separator: "\n")
        #expect(run.status == 0 && lines.count == 2, "\(run.everything)")
        #expect(lines.first?.contains(" mine ") == true && lines.last?.contains(" t ") == true, "\(run.text)")
    }

    @Test func keysRemoved_oneOrAll_areGoneAndOthersStay() throws {
        let run = try tool.shellWithAgent(
            """
            for name in a b c; do ssh-keygen -q -t ed25519 -N '' -C $name -f $name; ssh-add -q $name; done
            ssh-add -q -d b.pub; ssh-add -l | cut -d ' ' -f 3 | tr '\\n' ' '; fails ssh-add -q -d b.pub
            ssh-add -q -D; ssh-add -l || :; rm a; echo message > file; fails ssh-keygen -q -Y sign -n test -f a.pub file < /dev/null
            """)
        #expect(run.status == 0 && run.text.hasPrefix("a c The agent has no identities"), "\(run.everything)")
    }

    @Test func keyAdded_isOfferedWithTagsAndOverALockedVault() throws {
        let vault = try LockableTool()
        try vault.withKey("key generate ed25519 --tag t")
        let run = try vault.tool.shellWithAgent(
            """
            \(Self.make()); "$CTL" lock; ssh-add -q key; ssh-add -l; rm key; \(Self.sign); cat log
            """, options: "--tag t")
        #expect(run.status == 0 && run.text.contains(" mine ") && run.text.contains("locked"), "\(run.everything)")
    }

    @Test func keysOfALockedAgent_areNeitherAddedNorRemoved() throws {
        let run = try tool.shellWithAgent(
            """
            \(Self.make()); ssh-keygen -q -t ed25519 -N '' -f other; ssh-add -q key
            printf '#!/bin/sh\\necho "correct horse"\\n' > ask; chmod +x ask
            export SSH_ASKPASS="$PWD/ask" SSH_ASKPASS_REQUIRE=force DISPLAY=none
            ssh-add -x > /dev/null 2>&1 < /dev/null
            fails ssh-add -q other; fails ssh-add -q -d pub; fails ssh-add -q -D; ssh-add -l || :
            ssh-add -X > /dev/null 2>&1 < /dev/null; ssh-add -l
            """)
        #expect(run.status == 0, "\(run.everything)")
        let lines = run.text.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains("no identities") && lines[1].contains(" mine "), "\(run.text)")
    }

    @Test func keyWithALifetime_isGoneAfterIt() throws {
        let run = try tool.shellWithAgent(
            """
            \(Self.make()); ssh-keygen -q -t ed25519 -N '' -C stays -f stays; ssh-add -q -t 1h stays
            ssh-add -q -t 1 key; while ssh-add -T pub 2> /dev/null; do sleep 0.05; done
            ssh-add -l | cut -d ' ' -f 3
            """)
        #expect(run.status == 0 && run.text == "stays\n", "\(run.everything)")
    }

    // MARK: - Asking

    /// An askpass program that notes what it is asked, and then does `body`.
    private static func asking(_ body: String, variable: String = "SSH_ASKPASS") -> String {
        """
        printf '#!/bin/sh\\necho "$SSH_ASKPASS_PROMPT: $1" >> "%s/asked"\\n%s\\n' "$PWD" '\(body)' > ask
        chmod +x ask; export \(variable)="$PWD/ask"
        """
    }

    @Test(arguments: [
        ("exit 0", "SSH_ASKPASS", true), ("echo; exit 0", "SSH_ASKPASS", true), ("echo yes", "KEYCHAIN_ASKPASS", true),
        ("exit 1", "SSH_ASKPASS", false), ("echo no", "SSH_ASKPASS", false), ("echo yes; exit 1", "SSH_ASKPASS", false),
        ("kill -9 $$", "KEYCHAIN_ASKPASS", false),
    ])
    func keyThatAsks_signsOnlyIfTheUserAllowsIt(answer: String, variable: String, isAllowed: Bool) throws {
        let run = try tool.shellWithAgent(
            """
            \(Self.make()); ssh-add -q -c key; rm key; ssh-add -l | grep -c mine; \(Self.sign) 2> /dev/null || echo refused
            test ! -e file.sig || ssh-keygen -q -Y check-novalidate -n test -s file.sig < file
            cat asked; cat log >&2
            """, before: Self.asking(answer, variable: variable))
        let start = isAllowed ? "1\nconfirm" : "1\nrefused\nconfirm"
        #expect(run.status == 0 && run.text.hasPrefix(start), "\(run.everything)")
        #expect(run.text.contains("confirm: Allow use of key 'mine'?\nKey fingerprint: SHA256:"), "\(run.text)")
        #expect(run.errors.contains("did not allow") == !isAllowed, "\(run.errors)")
    }

    @Test(arguments: [
        ":", "export KEYCHAIN_AUTHENTICATOR=none SSH_ASKPASS=/bin/true", "export SSH_ASKPASS=/nowhere/ask",
    ])
    func keyThatAsks_whereNobodyCanBeAsked_isNotUsed(before: String) throws {
        let script = Tool.scriptWithAgent(
            "\(Self.make()); ssh-add -q -c key; rm key; \(Self.sign) 2> /dev/null || echo refused; cat log",
            before: before)
        try tool.write(Data(script.utf8), to: "script")
        let run = try tool.shell("exec setsid -w sh script")
        #expect(run.status == 0 && run.text.hasPrefix("refused\n"), "\(run.everything)")
        #expect(run.text.contains("ask"), "\(run.text)")
    }

    @Test(
        .enabled(if: Tool.hasPython, "python3 is not installed"),
        arguments: [("yes\n", true), ("Y\n", true), ("no\n", false), ("\n", false)])
    func keyThatAsks_onTheTerminal_isUsedAfterYes(answer: String, isAllowed: Bool) throws {
        let script = Tool.scriptWithAgent(
            "\(Self.make()); ssh-add -q -c key 2> /dev/null; rm key; \(Self.sign) 2> /dev/null < /dev/null")
        let dialogue = try tool.dialogue(
            program: ["/bin/sh", "-c", script], steps: [("To allow it, type yes: ", .type(answer))])
        #expect((dialogue.status == 0) == isAllowed && dialogue.hasEcho, "\(dialogue.screen)")
        #expect(dialogue.screen.contains("Allow use of key 'mine'?"), "\(dialogue.screen)")
    }

    /// The user may be away.
    @Test func agentWithAnOpenQuestion_endsAtOnceByASignal() throws {
        let run = try tool.shellWithAgent(
            """
            \(Self.make()); ssh-add -q -c key; rm key; mkfifo begun
            \(Self.sign) > /dev/null 2>&1 & client=$!
            read -r asker < begun; kill $agent; wait $agent || echo $?; test ! -e s
            fails wait $client; fails kill -0 $asker
            """, before: Self.asking(#"echo $$ > begun; exec sleep 1000"#))
        #expect(run.status == 0 && run.text == "143\n", "\(run.everything)")
    }

    // MARK: - Memory

    /// Looks for both halves of an ed25519 key in the memory of a process, which root may read.
    private static let search = """
        import base64, sys
        key = base64.b64decode(open("kept").read().split("-----")[2])
        public = base64.b64decode(open("pub").read().split()[1])[-32:]
        private = key[key.rindex(public) - 32:key.rindex(public)]
        found = [0, 0]
        with open("/proc/%s/maps" % sys.argv[1]) as maps, open("/proc/%s/mem" % sys.argv[1], "rb", 0) as memory:
            for line in maps:
                first, last = (int(word, 16) for word in line.split()[0].split("-"))
                try:
                    memory.seek(first)
                    content = memory.read(last - first)
                except (OSError, OverflowError):
                    continue
                found = [found[0] + content.count(public), found[1] + content.count(private)]
        print("public" if found[0] else "nothing", found[1])
        """

    /// The public half shows that the search finds something. The private half may be found while the key is there, where
    /// the system has no secret memory.
    @Test(.enabled(if: geteuid() == 0 && Tool.hasPython, "not root, or python3 is not installed"))
    func keyRemoved_isInTheMemoryOfTheAgentNoMore() throws {
        try tool.write(Data(Self.search.utf8), to: "search.py")
        let run = try tool.shellWithAgent(
            """
            \(Self.make()); ssh-add -q key; mv key kept; \(Self.sign); python3 search.py $agent | cut -d ' ' -f 1
            ssh-add -q -D; ssh-add -l || :; python3 search.py $agent | cut -d ' ' -f 2
            """)
        #expect(run.status == 0 && run.text.hasPrefix("public\n") && run.text.hasSuffix("\n0\n"), "\(run.everything)")
    }
}
