// SPDX-License-Identifier: Apache-2.0
// `ssh-agent`, with ssh-add and ssh-keygen as its clients.

import Foundation
import KeychainTestSupport
import Testing

@Suite("ssh-agent", .enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
struct SSHAgentTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func withAgent(_ script: String, options: String = "") throws -> Tool.Run {
        try tool.shellWithAgent(script, options: options)
    }

    private func generate(_ types: String...) throws {
        for type in types {
            let run = try tool.run("key", "generate", type, "--tag", type)
            try #require(run.status == 0, "\(run.errors)")
        }
    }

    @Test func keys_ofTheVault_areListedWithTagsAndFingerprints() throws {
        try generate("ed25519", "p256", "x25519")
        let run = try withAgent("ssh-add -l")
        #expect(run.status == 0, "\(run.everything)")
        let lines = run.text.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(Set(lines.map { $0[2] }) == ["ed25519", "p256"])
        let list = try tool.run("key", "list").text
        #expect(lines.allSatisfy { list.contains($0[1]) }, "\(list)")
    }

    /// Attack: who follows the advice to use that agent gives it their keys.
    @Test(.enabled(if: geteuid() == 0 && Tool.hasPython, "not root, or python3 is not installed"))
    func socket_onWhichAnotherUserListens_isNotAnAgentToUse() throws {
        let listener = """
            import os, signal, socket
            s = socket.socket(socket.AF_UNIX)
            s.bind("s")
            os.seteuid(65534)
            s.listen()
            print("listens", flush=True)
            signal.pause()
            """
        let run = try tool.shell(
            """
            mkfifo told; python3 -c '\(listener)' > told & read -r word < told
            "$CTL" ssh-agent --socket "$HOME/s"; echo "exit $?"; kill $!
            """)
        #expect(run.text.hasSuffix("exit 15\n") && run.errors.contains("another user"), "\(run.everything)")
        #expect(!run.errors.contains("Use it"))
    }

    @Test func keys_notNamedByATag_areNotOffered() throws {
        try generate("ed25519", "p256")
        let run = try withAgent(
            "ssh-add -l; \"$CTL\" key public --tag ed25519 --openssh > pub; fails ssh-keygen -q -Y sign -n n -f pub pub",
            options: "--tag p256")
        #expect(run.status == 0 && run.text.contains("p256") && !run.text.contains("ED25519"), "\(run.everything)")
    }

    /// A composed "é" and a decomposed one.
    @Test func key_whoseTagOnlyLooksTheSame_isNotOffered() throws {
        for tag in ["caf\u{E9}", "cafe\u{301}"] {
            let run = try tool.run("key", "generate", "ed25519", "--tag", tag)
            try #require(run.status == 0, "\(run.errors)")
        }
        let run = try withAgent("ssh-add -l", options: "--tag caf\u{E9}")
        #expect(run.text.split(separator: "\n").count == 1, "\(run.everything)")
    }

    @Test(arguments: ["ed25519", "p256", "p384", "p521", "rsa-2048"])
    func signature_throughTheAgent_isVerifiedBySSHKeygen(type: String) throws {
        try generate(type)
        let run = try withAgent(
            """
            "$CTL" key public --tag \(type) --openssh > pub; echo message > file; echo other > other
            ssh-keygen -q -Y sign -n test -f pub file; ssh-keygen -q -Y check-novalidate -n test -s file.sig < file
            fails ssh-keygen -q -Y check-novalidate -n test -s file.sig < other
            """)
        #expect(run.status == 0, "\(run.everything)")
    }

    /// The smallest size that OpenSSH accepts by default.
    @Test func signature_withRSAOf1024Bits_isVerifiedBySSHKeygen() throws {
        let run = try withAgent(
            """
            \(AgentScript.make("-t rsa -b 1024")); "$CTL" key import key --tag t 2> /dev/null; rm key; ssh-add -l
            \(AgentScript.sign); ssh-keygen -q -Y check-novalidate -n test -s file.sig < file
            """)
        #expect(run.status == 0 && run.text.hasPrefix("1024 "), "\(run.everything)")
    }

    @Test(.enabled(if: Programs.installed("git") != nil, "git is not installed"))
    func commit_signedThroughTheAgent_isVerifiedByGit() throws {
        try generate("ed25519")
        let run = try withAgent(
            """
            key=$("$CTL" key public --tag ed25519 --openssh); echo "alice@example.com $key" > signers
            git() { command git -C repository -c user.name=Alice -c user.email=alice@example.com -c gpg.format=ssh \\
              -c user.signingkey="key::$key" -c gpg.ssh.allowedSignersFile="$PWD/signers" "$@"; }
            mkdir repository; git init -q; git commit -q -S --allow-empty -m signed; git verify-commit HEAD 2>&1
            """)
        #expect(run.status == 0, "\(run.everything)")
        #expect(run.text.contains("Good \"git\" signature for alice@example.com"), "\(run.text)")
    }

    private static let server = Programs.installed("sshd")

    /// The key is in no file of the client, and the server accepts no other way in.
    @Test(.enabled(if: server != nil && geteuid() == 0, "not root, or openssh-server is not installed"))
    func ssh_throughTheAgent_logsInToAServer() throws {
        try generate("ed25519", "p256", "rsa-2048")
        let server = try #require(Self.server)
        let run = try withAgent(
            """
            mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N '' -f host
            for type in ed25519 p256 rsa-2048; do
              "$CTL" key public --tag $type --openssh > $type.pub; cp $type.pub keys; chmod 600 keys
              proxy="\(server) -i -e -f /dev/null -o HostKey=$PWD/host -o AuthorizedKeysFile=$PWD/keys -o StrictModes=no"
              proxy="$proxy -o PermitRootLogin=yes -o UsePAM=no -o PasswordAuthentication=no -o KbdInteractiveAuthentication=no"
              ssh -F none -o ProxyCommand="$proxy" -o StrictHostKeyChecking=no -o UserKnownHostsFile=known \\
                -o BatchMode=yes -o PreferredAuthentications=publickey -o IdentitiesOnly=yes -i $type.pub root@keychain echo in 2> err \\
                || { cat err >&2; exit 1; }
            done
            """)
        #expect(run.status == 0 && run.text == "in\nin\nin\n", "\(run.everything)")
    }

    @Test func agent_thatAClientHasLocked_hasNoKeysUntilTheSamePassphrase() throws {
        try generate("ed25519")
        let run = try withAgent(
            """
            ask() { printf '#!/bin/sh\\necho "%s"\\n' "$1" > ask; chmod +x ask; }
            export SSH_ASKPASS="$PWD/ask" SSH_ASKPASS_REQUIRE=force DISPLAY=none
            ask 'correct horse'; ssh-add -x > /dev/null 2>&1 < /dev/null; ssh-add -l || :
            ask wrong; fails ssh-add -X < /dev/null; ssh-add -l || :
            ask 'correct horse'; ssh-add -X > /dev/null 2>&1 < /dev/null; ssh-add -l
            """)
        #expect(run.status == 0, "\(run.everything)")
        let lines = run.text.split(separator: "\n")
        #expect(lines.count == 3 && lines.prefix(2).allSatisfy { $0.contains("no identities") }, "\(run.text)")
        #expect(lines.last?.contains("ED25519") == true)
    }

    /// Only `keychainctl key` removes them.
    @Test func keys_ofTheVault_areNotRemovedByAClient() throws {
        try generate("ed25519")
        let run = try withAgent(
            """
            "$CTL" key public --tag ed25519 --openssh > key.pub; fails ssh-add -q -d key.pub
            ssh-add -q -D; ssh-add -l | wc -l; cat log
            """)
        #expect(run.status == 0 && run.text.hasPrefix("1\n"), "\(run.everything)")
        #expect(run.text.contains("keychainctl key delete"), "\(run.everything)")
        #expect(try tool.run("key", "list").text.split(separator: "\n").count == 2)
    }

    @Test func agent_overALockedVault_hasNoKeysAndSaysWhy() throws {
        let vault = try LockableTool()
        #expect(try vault.withKey("key generate ed25519 --tag t").status == 0)
        let run = try vault.tool.shell(
            """
            "$CTL" lock; mkfifo out; "$CTL" ssh-agent --socket "$PWD/s" > out 2> log & agent=$!
            read -r line < out; eval "$line"; ssh-add -l 2>&1; ssh-add -l 2>&1; kill $agent; wait $agent; cat log
            """)
        #expect(run.text.components(separatedBy: "locked").count == 2, "\(run.everything)")
        #expect(!run.text.contains("SHA256:"))
    }

    /// Lengths that lie, unknown messages, and clients that hang up in the middle.
    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func messages_thatAreMalformed_endNothingButTheirConnection() throws {
        try generate("ed25519")
        let client = """
            import os, socket, struct, sys
            def ask(*parts):
                s = socket.socket(socket.AF_UNIX); s.connect(os.environ["SSH_AUTH_SOCK"]); s.settimeout(600)
                for part in parts: s.sendall(part)
                s.shutdown(socket.SHUT_WR)
                answer = b""
                while True:
                    try: more = s.recv(65536)
                    except ConnectionResetError: break
                    if not more: break
                    answer += more
                return answer
            failure = struct.pack(">IB", 1, 5)
            message = lambda body: struct.pack(">I", len(body)) + body
            for body in [b"\\0", b"\\xff", b"\\x0d", b"\\x0d\\xff\\xff\\xff\\xff", b"\\x0d" + struct.pack(">I", 9) + b"x", b"\\x16",
                         b"\\x17" + struct.pack(">I", 0), b"\\x11" + b"x" * 1000, b"\\x0d" + struct.pack(">III", 0, 0, 0)]:
                assert ask(message(body)) == failure, body
            for raw in [b"\\0\\0\\0\\0", b"\\xff\\xff\\xff\\xff", b"\\0\\4\\0\\1", b"\\0\\0", b"", b"\\0\\0\\0\\5\\x0b"]:
                assert ask(raw) == b"", raw
            # Two in one piece, and one in two pieces.
            assert ask(message(b"\\xff") + message(b"\\xff")) == failure * 2
            assert ask(b"\\0\\0", b"\\0\\1\\xff") == failure
            """
        try Data(client.utf8).write(to: tool.home.appendingPathComponent("client.py"))
        let run = try withAgent("python3 client.py; ssh-add -l")
        #expect(run.status == 0 && run.text.contains("ED25519"), "\(run.everything)")
    }

    // MARK: - The socket

    @Test func socket_isClosedToOthersAndRemovedAtTheEnd() throws {
        let run = try withAgent("stat -c %a s; kill $agent; wait $agent || echo $?; test ! -e s")
        #expect(run.status == 0 && run.text == "600\n143\n", "\(run.everything)")
    }

    /// The listener, and the connection of the client that looks.
    @Test(.enabled(if: geteuid() == 0 && Tool.hasPython, "not root, or python3 is not installed"))
    func sockets_ofTheAgent_areInheritedByNoProgram() throws {
        let client = """
            import glob, os, socket, struct, sys
            s = socket.socket(socket.AF_UNIX); s.connect(os.environ["SSH_AUTH_SOCK"]); s.settimeout(600)
            s.sendall(struct.pack(">IB", 1, 255)); assert s.recv(64) == struct.pack(">IB", 1, 5)
            own = {line.split()[6] for line in open("/proc/net/unix") if os.environ["SSH_AUTH_SOCK"] in line}
            for path in glob.glob("/proc/%s/fd/*" % sys.argv[1]):
                if os.readlink(path)[len("socket:["):-1] in own:
                    words = open(path.replace("/fd/", "/fdinfo/")).read().split()
                    print(bool(int(words[words.index("flags:") + 1], 8) & os.O_CLOEXEC))
            """
        try tool.write(Data(client.utf8), to: "client.py")
        let run = try withAgent("python3 client.py $agent")
        #expect(run.status == 0 && run.text == "True\nTrue\n", "\(run.everything)")
    }

    @Test func socket_ofAnAgentThatRuns_isLeftAndThatOfAKilledOneIsReplaced() throws {
        try generate("ed25519")
        let run = try withAgent(
            """
            "$CTL" ssh-agent --socket "$PWD/s" 2> /dev/null || echo $?; ssh-add -l > /dev/null
            kill -9 $agent; wait $agent || :; test -S s
            "$CTL" ssh-agent --socket "$PWD/s" > out & agent=$!
            read -r line < out; ssh-add -l
            """)
        #expect(run.status == 0 && run.text.hasPrefix("11\n") && run.text.contains("ED25519"), "\(run.everything)")
    }

    @Test func agent_whoseSocketIsGone_endsAndSaysSo() throws {
        let run = try withAgent("rm s; wait $agent || echo $?; grep -c 'removed or replaced' log")
        #expect(run.text == "13\n1\n", "\(run.everything)")
    }

    @Test func agent_whoseSocketAnotherOneHas_leavesItThere() throws {
        let run = try withAgent("mv s t; : > s; wait $agent || echo $?; test -f s && echo left")
        #expect(run.text == "13\nleft\n", "\(run.everything)")
    }

    @Test func agents_startedAtOnce_areOneInTheEnd() throws {
        try generate("ed25519")
        let script = """
            trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT
            for i in 1 2 3 4 5 6; do "$CTL" ssh-agent --socket "$PWD/s" > /dev/null 2>> log & done
            for i in 1 2 3 4 5; do wait -n; done
            SSH_AUTH_SOCK="$PWD/s" ssh-add -l
            """
        let run = try tool.shell("bash", input: Data(script.utf8))
        #expect(run.status == 0 && run.text.contains("ED25519"), "\(run.everything)")
    }

    @Test(arguments: [
        ("relative", 64), ("/nowhere/s", 17), ("\"$PWD/open/s\"", 15), ("\"$PWD/file\"", 15),
        ("/\(String(repeating: "x", count: 200))", 64),
    ])
    func socket_whereItMustNotBe_isRefused(path: String, status: Int) throws {
        let run = try tool.shell(
            "mkdir -m 777 open; chmod 777 open; : > file; \"$CTL\" ssh-agent --socket \(path); test -f file || echo gone"
        )
        #expect(run.errors.hasPrefix("keychainctl: ") && run.text.isEmpty, "\(run.everything)")
        #expect(try tool.shell("\"$CTL\" ssh-agent --socket \(path)").status == Int32(status))
    }
}
