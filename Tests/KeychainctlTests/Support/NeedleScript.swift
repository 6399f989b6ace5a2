// SPDX-License-Identifier: Apache-2.0
// Verbs with a known value under strace: where the value was written, and to which programs it was given.

import Foundation
import Testing

struct NeedleScript {
    /// The value. Keys contain it several times, as text.
    static let needle = "needle7fQ2xW"

    /// Runs first, and not under strace: makes the files in the folder `in`.
    var before = ":"
    /// Ends at the first command that fails. `fails WORDS` ends it if that command succeeds.
    let verbs: String

    /// The output is `seen` if the value was given out and is nowhere else.
    ///
    /// Standard output and pipes may have it, a file in memory while an editor runs, the files of the folder `clear`, and the
    /// environment of the programs `in/child` and `in/swift`. What the files of the folder `sealed` are written from may be secret
    /// memory, which strace does not show.
    func run(_ tool: Tool) throws -> Tool.Run {
        try tool.write(Data(Self.functions.utf8) + Data("\n\(verbs)\n".utf8), to: "verbs")
        return try tool.shell(
            """
            set -e; umask 077; mkdir bin clear in sealed temporary; export PATH="$PWD/bin:$PATH" TMPDIR="$PWD/temporary"
            \(before)
            set +e; strace -f --seccomp-bpf -y -v -s 200000 -o trace \\
                -e trace=execve,write,writev,pwrite64,pwritev,sendto,sendmsg \\
                sh -e verbs > /dev/null 2> log || { echo "failed: $?"; tail -n 3 log; }
            grep -E '\(Self.traces)' trace > traces
            grep -vE '\(Self.allowed)' traces
            grep -c ' write([0-9]*</dev/null>' traces | sed 's/^[1-9].*/seen/'
            rm trace traces; grep -rlE '\(Self.forms)' . /dev/shm | grep -vE '^./(in|clear|verbs)(/|$)'
            """)
    }

    private static let functions = """
        fails() { if "$@"; then echo "succeeded: $*" >&2; exit 90; fi; }
        """

    /// As text, and as Base64 after any number of other bytes.
    private static var forms: String {
        let coded = (0..<3).map { Data((needle + needle).utf8.dropFirst($0).prefix(9)).base64EncodedString() }
        return ([needle] + coded).joined(separator: "|")
    }

    /// Of what the tool writes from secret memory, strace shows the address only.
    private static var traces: String { forms + "|write[^,]*, 0x[0-9a-f]+, " }

    private static let allowed =
        #" (write|writev|send(to|msg))\([0-9]+<(/dev/null|/dev/shm/|pipe:|UNIX|socket:|[^>]*/(clear|sealed)/)"#
        + #"| execve\("in/(child|swift)","#
}
