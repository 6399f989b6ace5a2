// SPDX-License-Identifier: Apache-2.0
// The document that says what was tried and what came of it. It is written only when everything has been tried.

import Foundation

/// All results of one full run.
struct Evidence {
    var faults = Tally()
    var cuts = Tally()
    var schedules = Tally()
    var differentSchedules = 0
    /// What the fault suites of the tests printed.
    let suites: SuiteLog
    let command: String
    /// 1: everything was tried.
    let stride: Int

    var violations: [String] { faults.violations + cuts.violations + schedules.violations }

    func text(_ date: String, _ revision: String) -> String {
        let failures = violations.count + suites.failures.count
        return """
            # Evidence

            Written by `\(command)` on \(date), of revision \(revision). Do not edit: run it again.
            \(stride == 1 ? "" : "\n**This is a sample: every \(stride)th point. `make faults` tries all.**\n")
            **\(faults.points) faults, \(cuts.points) power cuts and \(schedules.points) interleavings were tried; violations: \
            \(violations.count). Failed checks of the suites below: \(suites.failures.count).**
            \(failures == 0 ? "" : "\n" + list(violations + suites.failures) + "\n")
            ## Faults

            A process does an operation on a copy of a prepared vault. At the n-th of its system calls one thing goes wrong, \
            for every n (for some faults every second to sixth n). Then another process looks at the vault: it opens with the \
            old secret or the new one; what was acknowledged is there, and at most the next step besides; nothing is damaged \
            or in quarantine; the examination finds no problem; a rotation can be finished; the vault can be written. A restoration leaves the old \
            vault or the restored one; what it replaced is kept, and whole. If it was ended before it accepted the restored \
            vault, changes are refused until `accept`. A backup is the old one or the new one, and can be restored.

            Each cell holds the points that were tried, and in brackets the violations if there are any.

            \(table(faults, "Operation"))

            - *full disk*: calls that take space fail with ENOSPC or EDQUOT, once or from then on. From then on the vault can \
            still be read.
            - *failing medium*: EIO, once or from then on, of writing, syncing, renaming, removing, opening and reading. \
            *no descriptor*: EMFILE. *interrupted*: EINTR. *short write*: half of the bytes are taken.
            - *stopped beside a writer*: the process stops (SIGSTOP); another one that has the vault open writes, or is told \
            within three seconds that it cannot; the first one goes on and succeeds.
            - *clock jumps*: 13 years forward, 51 years back. The operation succeeds.
            - The other columns: somebody removes or replaces that file, or moves the folder. Without the WAL the vault may \
            lack items or refuse to be used; what it shows is true. A database, device key, folder or backup that is put \
            back afterwards is whole. The operation does not notice that the anchors are gone.

            The calls are failed by a shim (`Tests/FaultShim`) that the process links in place of the C library's functions. \
            Locks of ranges (`fcntl`) are not failed: on a local file system unlocking does not fail.
            To try one point again: `fault-harness point 'OPERATION/FAULT/CALL'`, by the names in `Tests/FaultHarness`.

            ## Power cuts

            An operation is recorded call by call. The power is cut at a random moment: of the writes that were not synced \
            each sector of 512 bytes is kept or lost, in any combination; of the names that were made, moved or removed \
            since the last sync of their folder all, none, the first few or any are kept. The vault that is left has to hold \
            what had been acknowledged before the cut, as above.

            \(table(cuts, "Operation"))

            This is a model of files, not of a file system: it keeps no promise that POSIX does not make. dm-log-writes, which \
            would record blocks: \(Self.hasBlockRecorder ? "this kernel has it; it was not used" : "this kernel does not have it").
            To try one again: `fault-harness cut 'OPERATION/SEED'`.

            ## Interleavings

            Two or three processes use one vault. At named points of the vault's code (debug builds only) a process waits \
            until it is let go; one runs at a time. Beginning with each of the processes, all schedules with one switch are tried, \
            and of those with two up to \(FullRun.scheduleLimit) for each row; \(differentSchedules) of the schedules passed the points in different orders. What the processes were told \
            must have an order in which it is true, and end in what the vault then holds. A call that timed out may have \
            changed something before it was answered, and nothing later. Where the kernel's keyring can be used, some rows \
            share an unlocking by it: after a lock no process reads or writes.

            \(table(schedules, "Processes"))

            To try one again: `fault-harness schedule 'PROCESSES/FIRST/SWITCHES'`.

            ## Suites with faults

            These tests make their faults with `strace`, at the system calls themselves, or with many processes at once. \
            `make test` runs a sample of each.

            \(suites.table)

            """
    }

    private func list(_ lines: [String]) -> String {
        let shown = lines.prefix(100).map { "- `" + $0.replacing("`", with: "'").prefix(400) + "`" }
        return (shown + (lines.count > 100 ? ["- and \(lines.count - 100) more"] : [])).joined(separator: "\n")
    }

    private func table(_ tally: Tally, _ title: String) -> String {
        // In the order in which the faults are described, not in that in which a sample met them.
        let known = Fault.all.map(\.group)
        let columns = tally.columns.enumerated().sorted {
            (known.firstIndex(of: $0.element) ?? known.count + $0.offset)
                < (known.firstIndex(of: $1.element) ?? known.count + $1.offset)
        }.map(\.element)
        var lines = ["| \(title) | " + columns.joined(separator: " | ") + " |"]
        lines.append("|---|" + columns.map { _ in "---:|" }.joined())
        for row in tally.rows {
            let cells = columns.map { tally.cells[row]?[$0]?.text ?? "–" }
            lines.append("| \(row) | " + cells.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n")
    }

    private static var hasBlockRecorder: Bool {
        ["/sys/module/dm_log_writes", "/sys/module/dm-log-writes"].contains {
            FileManager.default.fileExists(atPath: $0)
        }
    }
}

extension Tally.Cell {
    fileprivate var text: String { violations == 0 ? "\(points)" : "\(points) (**\(violations)**)" }
}

/// The output of the fault suites: which tests ended how, and the numbers that they printed.
struct SuiteLog {
    private struct Line {
        let fault: String
        let holds: String
        let test: String
        /// What the test prints before its number of points.
        var prints: String?
    }

    private let text: String?

    /// - Parameter file: `nil`: the suites were not run.
    init(_ file: String?) throws {
        text = try file.map { try String(contentsOfFile: $0, encoding: .utf8) }
    }

    /// Tests that did not pass; all if they were not run.
    var failures: [String] {
        guard let text else { return Self.lines.map { "\($0.test): not run" } }
        return Self.lines.filter { !text.contains(" \($0.test)") || !Self.hasPassed($0.test, text) }
            .map { "\($0.test): did not pass" }
    }

    var table: String {
        let rows = Self.lines.map { "| \($0.fault) | \($0.holds) | `\($0.test)` | \(outcome($0)) |" }
        return (["| Fault | Must hold | Test | This run |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }

    private func outcome(_ line: Line) -> String {
        guard let text else { return "**not run**" }
        guard Self.hasPassed(line.test, text) else { return "**did not pass**" }
        guard let prints = line.prints else { return "passed" }
        let points = text.split(separator: "\n").filter { $0.hasPrefix(prints) }.map(String.init)
        return points.isEmpty ? "passed" : "passed: " + points.joined(separator: "; ")
    }

    private static func hasPassed(_ test: String, _ text: String) -> Bool {
        text.split(separator: "\n").contains { $0.contains(" \(test)(") && $0.contains("passed after") }
    }

    private static let lines = [
        Line(
            fault: "kill -9 at the n-th of each kind of call, for every n, while items are added, updated and deleted",
            holds: "what was acknowledged is there, at most one step more",
            test: "writer_killedAtAnyWriteCall_keepsWhatWasAcknowledged", prints: "killed at"),
        Line(
            fault: "kill -9 while a passphrase, protectors or class keys change",
            holds: "the vault opens with the old secret or the new one, with every item; a rotation goes on",
            test: "change_killedAtAnyWriteCall_leavesTheOldSecretOrTheNewAndEveryItem"),
        Line(
            fault: "kill -9 in a transaction of 50 items", holds: "all of it is there or nothing",
            test: "transactionOfFiftyItems_killedAtAnyWriteCall_isWholeOrNothing"),
        Line(
            fault: "ENOSPC, EDQUOT and EIO from the n-th call on", holds: "the outcome names the cause",
            test: "writer_onFailingMedium_reportsItAndKeepsWhatWasAcknowledged"),
        Line(
            fault: "each byte of a closed vault's database flipped in turn",
            holds: "never another value, always an explicit outcome",
            test: "databaseFile_withAnyByteFlipped_neverShowsAnotherValue"),
        Line(
            fault: "8 processes with 250 changes each", holds: "nothing lost, nothing doubled",
            test: "eightProcesses_addingUpdatingAndDeleting_loseAndDoubleNothing"),
        Line(
            fault: "8 processes count 500 times each", holds: "the count is 4,000",
            test: "counter_incrementedByEightProcesses_countsEveryStep"),
        Line(
            fault: "1,000 reads of a store that never answers", holds: "all time out; nothing is left behind",
            test: "thousandReads_ofAStoreThatNeverAnswers_timeOutInTimeAndLeakNothing"),
    ]
}
