// SPDX-License-Identifier: Apache-2.0
// Where output goes, and what happens if it cannot; what a run leaves in memory dumps and on closed descriptors.

import Foundation
import Testing

@Suite("output")
struct OutputTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store()
    }

    @Test(arguments: ["get -s example.com", "list", "list --json", "status", "--help", "--version"])
    func output_toAFullDevice_isAnError(line: String) throws {
        let run = try tool.shell("\"$CTL\" \(line) > /dev/full")
        #expect(run.status == 17)
        #expect(run.errors.contains("standard output"))
    }

    @Test func backup_whoseOutputGoesToAFullDevice_saysThatItWasMade() throws {
        let run = try tool.shell("\"$CTL\" backup copy --json > /dev/full")
        #expect(run.status == 17)
        #expect(run.errors.contains("The backup was written to"), "\(run.errors)")
        #expect(try tool.run("restore", "copy", "--yes").status == 0)
    }

    @Test func restore_whoseOutputGoesToAFullDevice_saysThatItWasDone() throws {
        try tool.run("backup", "copy")
        try tool.store(otherSecret)
        let run = try tool.shell("\"$CTL\" restore copy --yes --json > /dev/full")
        #expect(run.status == 17)
        #expect(run.errors.contains("The backup was restored. Could not write"), "\(run.errors)")
        #expect(try tool.get() == secret)
    }

    @Test func output_toAPipeThatNobodyReads_endsQuietly() throws {
        let run = try tool.shell(
            "mkfifo p; exec 3<>p 4>p; exec 3<&-; \"$CTL\" list >&4; r=$?; rm p; exit $r")
        #expect(run.status == 141)
        #expect(run.errors.isEmpty)
    }

    @Test func output_toAPipeThatNobodyReadsWithTheSignalIgnored_endsQuietly() throws {
        let run = try tool.shell(
            "trap '' PIPE; mkfifo p; exec 3<>p 4>p; exec 3<&-; \"$CTL\" list >&4; r=$?; rm p; exit $r")
        #expect(run.status == 141)
        #expect(run.errors.isEmpty)
    }

    @Test(arguments: ["get -s example.com -a alice", "list", "status"])
    func output_thatIsClosed_isAnErrorAndHarmsNothing(line: String) throws {
        #expect(try tool.shell("\"$CTL\" \(line) >&-").status == 17)
        #expect(try tool.get() == secret)
    }

    @Test func set_withEveryDescriptorClosed_harmsNothing() throws {
        #expect(try tool.shell("\"$CTL\" set -s s -a a <&- >&- 2>&-").status == 64)
        #expect(try tool.get() == secret)
    }

    @Test func set_withOutputClosed_works() throws {
        #expect(try tool.shell("echo x | \"$CTL\" set -s s -a a >&- 2>&-").status == 0)
        #expect(try tool.get() == secret)
    }

    @Test func failure_withErrorsClosed_harmsNothing() throws {
        #expect(try tool.shell("\"$CTL\" get -s none 2>&-").status == 3)
        #expect(try tool.get() == secret)
    }

    @Test func input_thatIsClosed_isNamed() throws {
        #expect(try tool.shell("\"$CTL\" set -s s -a a <&-").errors.contains("standard input"))
    }

    @Test func input_thatIsAFolder_isAnInputError() throws {
        #expect(try tool.shell("\"$CTL\" set -s s -a a < /").status == 17)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits"), "there is no /proc here"))
    func coreDumps_whileTheToolRuns_areOff() throws {
        // The tool waits for its input; meanwhile its limits are read, and then the input ends.
        let run = try tool.shell(
            """
            mkfifo p; "$CTL" set -s s -a a < p & exec 3> p
            until grep 'Max core file size *0 *0' /proc/$!/limits; do kill -0 $! || exit 1; done
            echo x >&3; exec 3>&-; wait $!; rm p
            """)
        #expect(run.text.contains("Max core file size"))
    }
}
