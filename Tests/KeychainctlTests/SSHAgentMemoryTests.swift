// SPDX-License-Identifier: Apache-2.0
// What `ssh-agent` keeps in its memory of keys and answers that it needs no more.

import Foundation
import KeychainTestSupport
import Testing

@Suite(
    "memory of ssh-agent",
    .enabled(
        if: geteuid() == 0 && Tool.hasKeyPrograms && Tool.hasPython,
        "not root, or openssl, ssh-keygen or python3 is not installed"))
struct SSHAgentMemoryTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.write(Data(Self.search.utf8), to: "search.py")
    }

    /// Looks in the memory of a process, which root may read, for something that is there and for a secret: both halves of
    /// an ed25519 key, or the name of a variable and the line in a file.
    private static let search = """
        import base64, sys
        if sys.argv[2:]:
            public, private = b"SSH_ASKPASS", open(sys.argv[2], "rb").read().strip()
        else:
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
    @Test func keyRemoved_isInTheMemoryOfTheAgentNoMore() throws {
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make()); ssh-add -q key; mv key kept; \(AgentScript.sign); python3 search.py $agent | cut -d ' ' -f 1
            ssh-add -q -D; ssh-add -l || :; python3 search.py $agent | cut -d ' ' -f 2
            """)
        #expect(run.status == 0 && run.text.hasPrefix("public\n") && run.text.hasSuffix("\n0\n"), "\(run.everything)")
    }

    /// No client asks the agent meanwhile.
    @Test func keyWhoseLifetimeIsOver_isInTheMemoryOfTheAgentNoMore() throws {
        let waiting = AgentScript.limited("until python3 search.py $0 | grep -q \" 0$\"; do sleep 0.05; done")
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make()); ssh-add -q -t 1 key; mv key kept; \(waiting) $agent
            \(AgentScript.limited("while ssh-add -T pub 2> /dev/null; do sleep 0.05; done"))
            python3 search.py $agent | cut -d ' ' -f 2
            """)
        #expect(run.status == 0 && run.text == "0\n", "\(run.everything)")
    }

    /// The user may type a passphrase instead.
    @Test func answerToAQuestion_isInTheMemoryOfTheAgentNoMore() throws {
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make()); ssh-add -q -c key; rm key; fails \(AgentScript.sign); test -s typed; python3 search.py $agent typed
            """, before: AgentScript.asking("head -c 24 /dev/urandom | base64 > typed; cat typed"))
        #expect(run.status == 0 && run.text == "public 0\n", "\(run.everything)")
    }
}
