// SPDX-License-Identifier: Apache-2.0
// The document that records what was tried and the results. It is written only after everything has been tried.

import Foundation

/// All results of one full run.
struct Evidence {
    var faults = Tally()
    var cuts = Tally()
    var schedules = Tally()
    var differentSchedules = 0
    /// The output of the fault suites of the tests.
    let suites: SuiteLog
    let command: String
    /// Every n-th point is tried; 1 means all points.
    let stride: Int

    var violations: [String] { faults.violations + cuts.violations + schedules.violations }

    func text(_ date: String, _ revision: String) -> String {
        let failures = violations.count + suites.failures.count
        return """
            # Evidence

            Written by `\(command)` on \(date), of revision \(revision). Do not edit it; run the command again.
            \(stride == 1 ? "" : "\n**This is a sample: every \(stride)th point. `make faults` tries all points.**\n")
            **Tried: \(faults.points) faults, \(cuts.points) power cuts and \(schedules.points) interleavings. Violations: \
            \(violations.count). Failed checks of the suites below: \(suites.failures.count).**
            \(failures == 0 ? "" : "\n" + list(violations + suites.failures) + "\n")
            ## Faults

            A process performs an operation on a copy of a prepared vault. One fault is injected at its n-th system \
            call, for every n (for some faults every second to sixth n, and in a ring fewer, except for kills). Then \
            another process examines the vault. \
            The vault must open with the old secret or the new one. Acknowledged changes must be there, and at most \
            the next step in addition. Nothing may be damaged or in quarantine, the examination must find no \
            problem, an interrupted rotation must be able to finish, and the vault must be writable. A restore must \
            leave the old vault or the restored one, and keep a complete copy of what it replaced. If the process \
            ended before it accepted the restored vault, changes are refused until `accept`. A backup must be the \
            old one or the new one, and restorable. In a ring, every acknowledged change of a shared item must wait to \
            be sent, or have been sent, and no other; another machine of the ring must then get the same items, and the \
            head must fit.

            Each cell holds the number of points that were tried. Violations, if there are any, follow in \
            parentheses.

            \(table(faults, "Operation"))

            - *full disk*: calls that need space fail with ENOSPC or EDQUOT, once or from then on. If they keep \
            failing, the vault must still be readable.
            - *failing medium*: writing, syncing, renaming, removing, opening and reading fail with EIO, once or \
            from then on. *no descriptor*: EMFILE. *interrupted*: EINTR. *short write*: only half of the bytes are \
            written.
            - *stopped beside a writer*: the process is stopped (SIGSTOP). Another process that has the vault open \
            writes, or gets an error within three seconds. Then the first process continues and must succeed.
            - *clock jumps*: the clock jumps 13 years forward or 51 years back. The operation must succeed.
            - The other columns: another process removes or replaces that file, or moves the folder. Without the WAL \
            the vault may lack items or refuse to open, but must not return wrong data. A database, device key, \
            folder or backup that is put back afterwards must be intact. Missing anchors must not affect the \
            operation.

            The shim `Tests/FaultShim` makes the calls fail. It is linked into the process and replaces functions of \
            the C library. Range locks (`fcntl`) are not made to fail, because unlocking does not fail on a local \
            file system.
            To repeat one point: `fault-harness point 'OPERATION/FAULT/CALL'`, with the names from \
            `Tests/FaultHarness`.

            ## Power cuts

            The calls of an operation are recorded, and the power is cut at a random moment. Each 512-byte sector of \
            writes that were not synced is kept or lost, in any combination. Of the names that were created, moved \
            or removed since the last sync of their folder, all, none, the first few or any are kept. The resulting \
            vault must contain what had been acknowledged before the cut, as above.

            \(table(cuts, "Operation"))

            This models files, not a file system: it assumes only what POSIX guarantees. dm-log-writes, which would record \
            blocks, \(Self.hasBlockRecorder ? "is available in this kernel but was not used" : "is not available in this kernel").
            To repeat one power cut: `fault-harness cut 'OPERATION/SEED'`.

            ## Interleavings

            Two or three processes use one vault. In debug builds the vault's code has named pause points, at which a process \
            waits until the harness lets it continue; only one process runs at a time. For each process that can begin, all schedules are \
            tried in which a process makes room for another one once, then those with two and three such switches, up to \
            \(FullRun.scheduleLimit) per row. \(differentSchedules) of the schedules passed the points in different orders. The results \
            that the processes got must be consistent with some sequential order that ends in the vault's content. A call that timed out may have \
            changed something before it returned, but nothing later. Where the kernel keyring is available, processes of some rows share \
            an unlock through it: after a lock no process may read or write.

            \(table(schedules, "Processes"))

            To repeat one schedule: `fault-harness schedule 'PROCESSES/FIRST/SWITCHES'`.

            ## Suites with faults

            These tests inject faults with `strace`, at real system calls, or with many concurrent processes. \
            `make test` runs a sample of each.

            \(suites.table)

            """
    }

    private func list(_ lines: [String]) -> String {
        let shown = lines.prefix(100).map { "- `" + $0.replacing("`", with: "'").prefix(400) + "`" }
        return (shown + (lines.count > 100 ? ["- and \(lines.count - 100) more"] : [])).joined(separator: "\n")
    }

    private func table(_ tally: Tally, _ title: String) -> String {
        // In the order in which the faults are described, not in the order in which a sample ran them.
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

/// The output of the fault suites: the result of each test, and the numbers that the tests printed.
struct SuiteLog {
    private struct Line {
        let fault: String
        let holds: String
        let test: String
        /// The text that the test prints before its number of points.
        var prints: String?
    }

    private let text: String?

    /// - Parameter file: The log of the suites; `nil` if they were not run.
    init(_ file: String?) throws {
        text = try file.map { try String(contentsOfFile: $0, encoding: .utf8) }
    }

    /// The tests that did not pass; all tests if they were not run.
    var failures: [String] {
        guard let text else { return Self.lines.map { "\($0.test): not run" } }
        return Self.lines.filter { !text.contains(" \($0.test)") || !Self.hasPassed($0.test, text) }
            .map { "\($0.test): did not pass" }
    }

    var table: String {
        let rows = Self.lines.map { "| \($0.fault) | \($0.holds) | `\($0.test)` | \(outcome($0)) |" }
        return (["| Fault | What must hold | Test | This run |", "|---|---|---|---|"] + rows).joined(separator: "\n")
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
            holds: "acknowledged changes are there, and at most one more step",
            test: "writer_killedAtAnyWriteCall_keepsWhatWasAcknowledged", prints: "killed at"),
        Line(
            fault: "kill -9 while a passphrase, protectors or class keys change",
            holds: "the vault opens with the old secret or the new one, with every item; a rotation resumes",
            test: "change_killedAtAnyWriteCall_leavesTheOldSecretOrTheNewAndEveryItem"),
        Line(
            fault: "kill -9 in a transaction of 50 items", holds: "all of it is there, or nothing",
            test: "transactionOfFiftyItems_killedAtAnyWriteCall_isWholeOrNothing"),
        Line(
            fault: "ENOSPC, EDQUOT and EIO from the n-th call on", holds: "the outcome names the cause",
            test: "writer_onFailingMedium_reportsItAndKeepsWhatWasAcknowledged"),
        Line(
            fault: "each byte of a closed vault's database flipped in turn",
            holds: "no other value is returned; there is always an explicit outcome",
            test: "databaseFile_withAnyByteFlipped_neverShowsAnotherValue"),
        Line(
            fault: "8 processes with 250 changes each", holds: "nothing is lost, nothing is duplicated",
            test: "eightProcesses_addingUpdatingAndDeleting_loseAndDoubleNothing"),
        Line(
            fault: "8 processes increment a counter 500 times each", holds: "the count is 4,000",
            test: "counter_incrementedByEightProcesses_countsEveryStep"),
        Line(
            fault: "10,000 writers are killed at a random moment",
            holds: "no vault is taken for an older one, or for one that somebody else changed",
            test: "writer_killedAtAnyMoment_isNeverTakenForAnOlderVault", prints: "crash runs:"),
        Line(
            fault: "8 processes with 250 changes each, all with timeouts of 0.5 to 20 ms",
            holds: "no change that was refused happens later",
            test: "eightProcesses_whoseCallsTimeOut_seeNoRefusedChangeLater"),
        Line(
            fault: "the same with 6 threads in each of two processes, whose changes are made together",
            holds: "the same", test: "threadsOfTwoProcesses_whoseCallsTimeOut_seeNoRefusedChangeLater"),
        Line(
            fault: "the same in 6 processes, through the functions of Keychain Services", holds: "the same",
            test: "sixProcesses_whoseItemFunctionsTimeOut_seeNoRefusedChangeLater"),
        Line(
            fault: "the lock file is removed again and again while three processes write and one rotates",
            holds: "nothing is lost", test: "processes_whoseLockFileIsRemovedWhileAnotherRotates_loseNothing"),
        Line(
            fault: "a file system without a free byte, 8 deletions", holds: "all of them work",
            test: "deletions_oneAfterTheOtherOnAFullDisk_allWork"),
        Line(
            fault: "a file system without a free byte, deletion of items of any size, one after the other",
            holds: "all of them work", test: "itemOfAnySize_onAFullDisk_isDeleted"),
        Line(
            fault: "a file system without a free byte, deletion of 10,000 items at once", holds: "it works",
            test: "manyItems_onAFullDisk_areDeleted"),
        Line(
            fault: "a file system without a free byte, a change of the keybag", holds: "it works",
            test: "keybag_onAFullDisk_isChanged"),
        Line(
            fault: "1,000 reads of a store that never answers", holds: "all time out; nothing leaks",
            test: "thousandReads_ofAStoreThatNeverAnswers_timeOutAndLeakNothing"),
    ]
}
