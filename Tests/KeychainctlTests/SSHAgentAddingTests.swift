// SPDX-License-Identifier: Apache-2.0
// Keys that ssh-add gives to `ssh-agent`: their use, their constraints and their end.

import Foundation
import KeychainTestSupport
import Testing

@Suite("ssh-agent with keys of ssh-add", .enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
struct SSHAgentAddingTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test(arguments: ["-t ed25519", "-t ecdsa -b 256", "-t ecdsa -b 384", "-t ecdsa -b 521", "-t rsa -b 2048"])
    func keyAdded_isListedAndSignsAndIsInNoVault(options: String) throws {
        // `ssh-add -T` asks RSA keys for SHA-1, which is refused.
        let check = options.contains("rsa") ? "fails ssh-add -T pub" : "ssh-add -T pub"
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make(options)); ssh-add -q key; rm key; ssh-add -l | grep -c ' mine '; \(check)
            \(AgentScript.sign); ssh-keygen -q -Y check-novalidate -n test -s file.sig < file
            "$CTL" key list
            """)
        #expect(run.status == 0 && run.text == "1\n", "\(run.everything)")
    }

    @Test func keyAddedAgain_isOneKeyWithTheNewComment() throws {
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make()); ssh-add -q key; ssh-keygen -q -c -C other -f key > /dev/null; ssh-add -q key; ssh-add -l
            """)
        #expect(run.status == 0 && run.text.split(separator: "\n").count == 1, "\(run.everything)")
        #expect(run.text.contains(" other "), "\(run.text)")
    }

    @Test func keyAdded_thatTheVaultHasAsWell_isListedOnce() throws {
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make()); "$CTL" key import key --tag t > /dev/null; ssh-add -q key; ssh-add -l
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
            \(AgentScript.make()); "$CTL" lock; ssh-add -q key; ssh-add -l; rm key; \(AgentScript.sign); cat log
            """, options: "--tag t")
        #expect(run.status == 0 && run.text.contains(" mine ") && run.text.contains("locked"), "\(run.everything)")
    }

    @Test func keysOfALockedAgent_areNeitherAddedNorRemoved() throws {
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make()); ssh-keygen -q -t ed25519 -N '' -f other; ssh-add -q key
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
            \(AgentScript.make()); ssh-keygen -q -t ed25519 -N '' -C stays -f stays; ssh-add -q -t 1h stays
            ssh-add -q -t 1 key; \(AgentScript.limited("while ssh-add -T pub 2> /dev/null; do sleep 0.05; done"))
            ssh-add -l | cut -d ' ' -f 3
            """)
        #expect(run.status == 0 && run.text == "stays\n", "\(run.everything)")
    }

    // MARK: - Asking

    @Test(arguments: [
        ("exit 0", "SSH_ASKPASS", true), ("echo; exit 0", "SSH_ASKPASS", true), ("echo yes", "KEYCHAIN_ASKPASS", true),
        ("exit 1", "SSH_ASKPASS", false), ("echo no", "SSH_ASKPASS", false), ("echo yes; exit 1", "SSH_ASKPASS", false),
        ("kill -9 $$", "KEYCHAIN_ASKPASS", false),
    ])
    func keyThatAsks_signsOnlyIfTheUserAllowsIt(answer: String, variable: String, isAllowed: Bool) throws {
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make()); ssh-add -q -c key; rm key; ssh-add -l | grep -c mine; \(AgentScript.sign) 2> /dev/null || echo refused
            test ! -e file.sig || ssh-keygen -q -Y check-novalidate -n test -s file.sig < file
            cat asked; cat log >&2
            """, before: AgentScript.asking(answer, variable: variable))
        let start = isAllowed ? "1\nconfirm" : "1\nrefused\nconfirm"
        #expect(run.status == 0 && run.text.hasPrefix(start), "\(run.everything)")
        #expect(run.text.contains("confirm: Allow use of key 'mine'?\nKey fingerprint: SHA256:"), "\(run.text)")
        #expect(run.errors.contains("did not allow") == !isAllowed, "\(run.errors)")
    }

    @Test(arguments: [
        (
            ":",
            "A key that asks before each use was not used: there is no way to ask. Start the agent with "
                + "KEYCHAIN_AUTHENTICATOR=pinentry, or with SSH_ASKPASS or KEYCHAIN_ASKPASS set to the full path of a program "
                + "that asks."
        ),
        (
            "export KEYCHAIN_AUTHENTICATOR=none SSH_ASKPASS=/bin/true",
            "A key that asks before each use was not used: KEYCHAIN_AUTHENTICATOR is none. Start the agent with another "
                + "value, such as pinentry."
        ),
        (
            "export SSH_ASKPASS=/nowhere/ask",
            "/nowhere/ask cannot ask for the secret: No such file or directory."
        ),
    ])
    func keyThatAsks_whereNobodyCanBeAsked_isNotUsed(before: String, complaint: String) throws {
        let script = Tool.scriptWithAgent(
            "\(AgentScript.make()); ssh-add -q -c key; rm key; \(AgentScript.sign) 2> /dev/null || echo refused; cat log",
            before: before)
        try tool.write(Data(script.utf8), to: "script")
        let run = try tool.shell("exec setsid -w sh script")
        #expect(run.status == 0 && run.text.hasPrefix("refused\n"), "\(run.everything)")
        #expect(run.text.hasSuffix("\nkeychainctl: \(complaint)\n"), "\(run.text)")
    }

    @Test(
        .enabled(if: Tool.hasPython, "python3 is not installed"),
        arguments: [("yes\n", true), ("Y\n", true), ("no\n", false), ("\n", false)])
    func keyThatAsks_onTheTerminal_isUsedAfterYes(answer: String, isAllowed: Bool) throws {
        let script = Tool.scriptWithAgent(
            "\(AgentScript.make()); ssh-add -q -c key 2> /dev/null; rm key; \(AgentScript.sign) 2> /dev/null < /dev/null"
        )
        let dialogue = try tool.dialogue(
            program: ["/bin/sh", "-c", script], steps: [("To allow it, type yes: ", .type(answer))])
        #expect((dialogue.status == 0) == isAllowed && dialogue.hasEcho, "\(dialogue.screen)")
        #expect(dialogue.screen.contains("Allow use of key 'mine'?"), "\(dialogue.screen)")
    }

    /// The program that signs is in another session, and gets no signal.
    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func questionOnTheTerminal_withControlC_isRefusedAndTheAgentContinues() throws {
        let script = Tool.scriptWithAgent(
            """
            \(AgentScript.make()); ssh-add -q -c key 2> /dev/null; rm key; trap : INT
            fails setsid -w \(AgentScript.sign) < /dev/null; test ! -e file.sig; ssh-add -l; cat log
            """)
        let dialogue = try tool.dialogue(
            program: ["/bin/sh", "-c", script], steps: [("To allow it, type yes: ", .type("\u{3}"))])
        #expect(dialogue.status == 0 && dialogue.hasEcho, "\(dialogue.screen)")
        #expect(dialogue.screen.contains("mine (ED25519)\r\nkeychainctl: Cancelled.\r\n"), "\(dialogue.screen)")
    }

    /// The user may be away.
    @Test func agentWithAnOpenQuestion_endsAtOnceByASignal() throws {
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make()); ssh-add -q -c key; rm key; mkfifo begun
            \(AgentScript.sign) > /dev/null 2>&1 & client=$!
            asker=$(\(AgentScript.limited("cat begun"))); kill $agent; wait $agent || echo $?; test ! -e s
            fails wait $client; fails kill -0 $asker
            """, before: AgentScript.asking(#"echo $$ > begun; exec sleep 1000"#))
        #expect(run.status == 0 && run.text == "143\n", "\(run.everything)")
    }

    /// The client that waits for the answer is killed. The next client is served, which waits for the end of the question.
    @Test func question_whoseClientHasEnded_endsAndItsProgramToo() throws {
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make()); ssh-add -q -c key; rm key; mkfifo begun
            \(AgentScript.sign) > /dev/null 2>&1 & client=$!
            asker=$(\(AgentScript.limited("cat begun"))); kill -9 $client; fails wait $client; ssh-add -l | grep -c mine
            fails kill -0 $asker; cat log
            """, before: AgentScript.asking(#"echo $$ > begun; exec sleep 1000"#))
        #expect(run.status == 0 && run.text.hasPrefix("1\nkeychainctl: "), "\(run.everything)")
        #expect(
            run.text.hasSuffix("the program that wanted it, or the agent, ended before the answer.\n"), "\(run.text)")
    }

    /// Sends a request to sign and does not wait for the answer.
    private static let impatient = """
        import base64, os, socket, struct
        string = lambda bytes: struct.pack(">I", len(bytes)) + bytes
        key = base64.b64decode(open("pub").read().split()[1])
        client = socket.socket(socket.AF_UNIX); client.connect(os.environ["SSH_AUTH_SOCK"])
        client.sendall(string(b"\\x0d" + string(key) + string(b"data") + struct.pack(">I", 0)))
        """

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func request_whoseClientHasEndedWhileItWaited_asksNobody() throws {
        try tool.write(Data(Self.impatient.utf8), to: "impatient.py")
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make()); ssh-add -q -c key; rm key; mkfifo begun go
            \(AgentScript.sign) > /dev/null 2>&1 & client=$!
            \(AgentScript.limited("cat begun")); python3 impatient.py; \(AgentScript.limited("echo > go")); wait $client
            ssh-add -l | grep -c mine; grep -c "Allow use" asked
            """, before: AgentScript.asking("echo > begun; read -r word < go; exit 0"))
        #expect(run.status == 0 && run.text == "\n1\n1\n", "\(run.everything)")
    }
}
