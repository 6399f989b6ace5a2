// SPDX-License-Identifier: Apache-2.0
// Verbs with a known value under strace: where the value was written, and to which programs it was given.

import Foundation
import Testing

struct NeedleScript {
    /// Where the value may be, other than on standard output, which is /dev/null.
    enum Place {
        /// Another program gets it through a pipe.
        case pipe
        /// Another program gets it through a socket.
        case socket
        /// A file in memory, while an editor runs.
        case fileInMemory
        /// A file in this folder, in clear text.
        case clear(String)
        /// A file in this folder, encrypted: it is written from secret memory, and does not have the value.
        case sealed(String)
        /// The environment of this program.
        case environment(String)

        /// What strace shows of it.
        var trace: String {
            switch self {
            case .pipe: Self.write + "<pipe:"
            case .socket: Self.write + "<(UNIX|socket:)"
            case .fileInMemory: Self.write + "</dev/shm/"
            case .clear(let folder): Self.write + "<[^>]*/\(folder)/"
            case .sealed(let folder): Self.write + "<[^>]*/\(folder)/[^,]*, 0x"
            case .environment(let program): #" execve\("\#(program)","#
            }
        }

        static let write = #" (write|writev|send(to|msg))\([0-9]+"#
    }

    /// The value. Keys contain it several times, as text.
    static let needle = "needle7fQ2xW"

    /// Runs first, and not under strace: makes the files in the folder `in`.
    var before = ":"
    /// Only what these verbs need.
    var allowed: [Place] = []
    /// Ends at the first command that fails. `fails WORDS` ends it if that command succeeds. Some command has to show the
    /// value itself on standard output, from memory that strace shows.
    let verbs: String

    /// The output is `seen` if the value was given out and is in no other place than the allowed ones.
    func run(_ tool: Tool) throws -> Tool.Run {
        try tool.write(Data(Self.functions.utf8) + Data("\n\(verbs)\n".utf8), to: "verbs")
        return try tool.shell(
            """
            set -e; umask 077; mkdir bin clear in sealed temporary; export PATH="$PWD/bin:$PATH" TMPDIR="$PWD/temporary"
            \(before)
            set +e
            \(geteuid() == 0 ? traced : untraced)
            grep -rlE '\(Self.forms)' . /dev/shm 2> /dev/null | grep -vE '^\\./(\(folders))/'
            """)
    }

    private var traced: String {
        """
        strace -f --seccomp-bpf -y -v -s 200000 -o trace \\
            -e trace=execve,write,writev,pwrite64,pwritev,sendto,sendmsg \\
            sh -e verbs > /dev/null 2> log || { echo "failed: $?"; tail -n 3 log; }
        grep -E '\(Self.traces)' trace | grep -vE '\(permitted)'
        grep -cE ' write\\([0-9]+</dev/null>.*(\(Self.forms))' trace | sed 's/^[1-9].*/seen/'
        rm trace
        """
    }

    /// Without strace: what is shown is read here, and no file has it. A failure is the first line of the output.
    private var untraced: String {
        """
        { sh -e verbs 2> log || { echo "failed: $?"; tail -n 3 log; } > failure; } | grep -caE '\(Self.forms)' | \\
            sed 's/^[1-9].*/seen/' > shown
        cat failure 2> /dev/null; cat shown
        """
    }

    private static let functions = """
        fails() { if "$@"; then echo "succeeded: $*" >&2; exit 90; fi; }
        """

    /// As text, and as Base64 after any number of other bytes.
    private static var forms: String {
        let coded = (0..<3).map { Data((needle + needle).utf8.dropFirst($0).prefix(9)).base64EncodedString() }
        return ([needle] + coded).joined(separator: "|")
    }

    /// Of what the tool writes from secret memory, strace shows the address only. That may be the value, and never proves
    /// that the value was shown.
    private static var traces: String { forms + "|write[^,]*, 0x[0-9a-f]+, " }

    private var permitted: String { ([Place.write + "</dev/null"] + allowed.map(\.trace)).joined(separator: "|") }

    /// The folders whose files may have the value.
    private var folders: String {
        let clear = allowed.compactMap { place in
            if case .clear(let folder) = place { folder } else { nil }
        }
        return (["in"] + clear).joined(separator: "|")
    }
}
