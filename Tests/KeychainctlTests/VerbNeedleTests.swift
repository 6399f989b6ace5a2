// SPDX-License-Identifier: Apache-2.0
// A known value through the commands that take or give values: it is in no argument, no environment and no file.

import Foundation
import Testing

/// Once the tool has closed itself to the user's other programs, only root's strace sees what it writes.
@Suite("needle", .enabled(if: Tool.hasStrace && geteuid() == 0, "strace is not installed, or this is not root"))
struct VerbNeedleTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let needle = "needle7fQ2xW"

    /// What the value comes from: files that the commands read.
    private static let sources = [
        "value": needle, "git": "protocol=https\nhost=g\nusername=a\npassword=\(needle)\n",
        "docker": #"{"ServerURL":"https://d","Username":"a","Secret":"\#(needle)"}"#,
        "netrc": "machine n login a password \(needle)\n", "variables": "A='\(needle)'\n",
        "commands": "add-generic-password -a i -s i -w \(needle)\nfind-generic-password -s i -w\n",
        "code": "otpauth://totp/\(needle)?secret=JBSWY3DPEHPK3PXP",
    ]

    private static let verbs = """
        "$CTL" set -s s -a a < in/value; "$CTL" set -s sudo -a u < in/value; "$CTL" set -s otp -a a < in/code
        "$CTL" get -s s; "$CTL" list --json; "$CTL" search s; "$CTL" set -s s -a a --keep-value --label l
        "$CTL" expire 90d -s s -a a; "$CTL" generate -s g -a a; "$CTL" otp -s otp -a a; "$CTL" move -s s --to-account b
        VISUAL="sed -i s/needle/neeedle/" "$CTL" edit -s s -a b; "$CTL" history -s s; "$CTL" get -s s -a b --history 1; "$CTL" undo -s s -a b
        DISPLAY=:0 "$CTL" copy -s s --clear-after 0; "$CTL" askpass '[sudo] password for u: '
        echo 'x = {{ keychain://sudo/u }}' | "$CTL" inject; "$CTL" run --env X=keychain://g/a -- true
        for verb in store get erase store; do "$CTL" git-credential $verb < in/git; done
        "$CTL" docker-credential store < in/docker; echo https://d | "$CTL" docker-credential get
        "$CTL" docker-credential list; "$CTL" import netrc in/netrc; "$CTL" import env in/variables --service env
        "$CTL" security -i < in/commands; "$CTL" security find-generic-password -s i -g 2> /dev/null; "$CTL" security dump-keychain
        "$CTL" export all.age --file-passphrase-fd 3 3< pass
        "$CTL" import-archive all.age --replace --yes --file-passphrase-fd 3 3< pass
        "$CTL" backup copy; "$CTL" restore copy --yes; "$CTL" status; "$CTL" doctor; "$CTL" delete -s s -a b
        """

    /// Standard output and pipes may have it, and a file in memory while an editor runs.
    @Test func value_throughEveryVerb_isOnlyWhereItBelongs() throws {
        try FileManager.default.createDirectory(
            at: tool.home.appendingPathComponent("in"), withIntermediateDirectories: false)
        for (name, text) in Self.sources { try tool.write(Data(text.utf8), to: "in/\(name)") }
        try tool.write(Data("set -e\n\(Self.verbs)\n".utf8), to: "verbs")
        let run = try tool.shell(
            """
            echo several long words > pass; mkdir bin temporary; printf '#!/bin/sh\\ncat > /dev/null\\n' > bin/xclip
            chmod +x bin/xclip; export PATH="$PWD/bin:$PATH" TMPDIR="$PWD/temporary"
            strace -f --seccomp-bpf -y -v -s 200000 -e trace=execve,write,writev,pwrite64,pwritev,sendto,sendmsg -o trace \
                sh verbs > /dev/null 2> log || { echo "failed: $?"; tail -n 3 log; }
            grep \(Self.needle) trace | grep -vE ' (write|writev|send(to|msg))\\([0-9]+<(/dev/null|/dev/shm/|pipe:|UNIX|socket:)'
            grep -c '</dev/null>.*\(Self.needle)' trace | sed 's/^[1-9].*/seen/'
            rm trace; grep -rl \(Self.needle) . /dev/shm | grep -v '^./in/'
            """)
        #expect(run.text == "seen\n", "\(run.everything)")
    }
}
