// SPDX-License-Identifier: Apache-2.0
// All faults at all calls of all operations, or every so many of them.

import FaultShim
import Foundation
import KeychainVault

/// One point and what came of it.
struct Point {
    let operation: Operation
    let fault: Fault
    let call: Int

    /// What runs this one point again.
    var name: String { "\(operation.name)/\(fault.name)/\(call)" }
}

/// Points tried and violations found, by operation and group of faults.
struct Tally {
    struct Cell {
        var points = 0
        var violations = 0
    }

    private(set) var cells: [String: [String: Cell]] = [:]
    private(set) var violations: [String] = []
    /// In the order in which they came.
    private(set) var rows: [String] = []
    private(set) var columns: [String] = []

    mutating func count(_ row: String, _ column: String, _ violation: String?, at point: String) {
        if !rows.contains(row) { rows.append(row) }
        if !columns.contains(column) { columns.append(column) }
        cells[row, default: [:]][column, default: Cell()].points += 1
        guard let violation else { return }
        cells[row]?[column]?.violations += 1
        violations.append("\(point): \(violation)")
        print("VIOLATION \(point): \(violation)")
    }

    var points: Int { cells.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.points } } }

    /// A run that tries nothing finds nothing. That is no result.
    func requirePoints(_ what: String) throws {
        guard points == 0 else { return }
        throw HarnessError("no \(what) was tried: there is no such call, or the shim intercepts nothing")
    }
}

/// Runs points one after another.
struct Campaign {
    let scratch: Scratch
    let server: Server
    /// Every so many points; 1 tries all.
    var stride = 1

    /// How long one process may take. Nothing that the harness does takes a second by itself.
    static let patience = 20.0

    func run(_ operations: [Operation], _ faults: [Fault], into tally: inout Tally) throws {
        var number = 0
        for operation in operations {
            let calls = try calls(of: operation)
            for fault in faults where fault.concerns(operation) {
                // Counted on from one operation to the next, so that a sample has other calls in each.
                for (index, kind) in calls.enumerated() where fault.kinds & kind != 0 {
                    number += 1
                    let every = fault.action == FAULT_KILL.signed ? 1 : fault.every * operation.every
                    guard number % (stride * every) == 0 else { continue }
                    try run(Point(operation: operation, fault: fault, call: index + 1), into: &tally)
                }
            }
            print("\(operation.name): \(calls.count) calls; \(tally.points) points so far")
            fflush(nil)
        }
    }

    func run(_ point: Point, into tally: inout Tally) throws {
        do {
            guard try isHit(point) else { return }
            tally.count(point.operation.name, point.fault.group, nil, at: point.name)
        } catch let violation as Violation {
            tally.count(point.operation.name, point.fault.group, violation.description, at: point.name)
        }
    }

    /// The kinds of the calls that an operation makes without any fault. It also shows that the operation does what is
    /// expected of it.
    func calls(of operation: Operation) throws -> [UInt32] {
        let place = try scratch.copy(of: operation.template)
        let child = try Child(["subject", operation.name, "none", "0", place.root])
        let run = try SubjectRun(child.lines(within: Self.patience), child.end(within: Self.patience))
        guard run.isOver, run.acknowledged == operation.steps.count else {
            throw HarnessError("'\(operation.name)' fails without any fault: \(run.failure ?? "it ended early")")
        }
        guard !run.calls.isEmpty else { throw HarnessError("the shim intercepts nothing of '\(operation.name)'") }
        try check(operation, operation.steps.count...operation.steps.count, place)
        try scratch.remove(place)
        return try run.calls.map { line in
            let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard words.count == 3, let kind = Self.kinds[String(words[1])] else {
                throw HarnessError("a call that is not understood: \(line)")
            }
            return kind
        }
    }

    private static let kinds: [String: UInt32] = [
        "open": FAULT_OPEN.unsigned, "create": FAULT_CREATE.unsigned, "write": FAULT_WRITE.unsigned,
        "pwrite": FAULT_WRITE.unsigned, "read": FAULT_READ.unsigned, "pread": FAULT_READ.unsigned,
        "fsync": FAULT_SYNC.unsigned, "fdatasync": FAULT_SYNC.unsigned, "ftruncate": FAULT_TRUNCATE.unsigned,
        "fallocate": FAULT_TRUNCATE.unsigned, "rename": FAULT_RENAME.unsigned, "link": FAULT_RENAME.unsigned,
        "unlink": FAULT_UNLINK.unsigned, "rmdir": FAULT_UNLINK.unsigned, "mkdir": FAULT_MKDIR.unsigned,
        "chmod": FAULT_MODE.unsigned, "fchmod": FAULT_MODE.unsigned, "flock": FAULT_LOCK.unsigned,
        "fcntl": FAULT_RANGE.unsigned,
    ]

    // MARK: - One point

    /// - Returns: Whether the call was reached.
    /// - Throws: A violation.
    private func isHit(_ point: Point) throws -> Bool {
        let (operation, fault) = (point.operation, point.fault)
        let place = try scratch.copy(of: operation.template)
        if fault.isStop { try openPeer(operation, place) }
        let child = try Child(["subject", operation.name, fault.name, "\(point.call)", place.root])
        var peerWrote = false
        if fault.isStop {
            guard try meetStopped(child, operation, place, &peerWrote) else {
                server.forget()
                return false
            }
        }
        let run = try SubjectRun(child.lines(within: Self.patience), child.end(within: Self.patience))
        guard run.wasKilled || run.hits > 0 else { return false }
        try judge(run, fault, operation)
        fault.change?.undo(in: place)
        let situation = peerWrote ? Situation.peer : fault.situation
        try check(operation, allowed(run, fault, operation), place, situation)
        try scratch.remove(place)
        return true
    }

    /// The steps after which the vault may be as it is.
    private func allowed(_ run: SubjectRun, _ fault: Fault, _ operation: Operation) -> ClosedRange<Int> {
        let next = min(run.acknowledged + 1, operation.steps.count)
        switch fault.expectation {
        case .whole, .unharmed: return run.acknowledged...next
        case .anyState, .noHarm, .noLies: return 0...next
        }
    }

    private func judge(_ run: SubjectRun, _ fault: Fault, _ operation: Operation) throws {
        if run.wasKilled, fault.name == "kill" { return }
        guard run.isOver else { throw Violation("the process ended by itself: \(run.ending)") }
        if let unread = run.unread { throw Violation("reading while the disk is full: \(unread)") }
        guard fault.expectation == .unharmed, let failure = run.failure else { return }
        throw Violation("the operation failed: \(failure)")
    }

    func check(
        _ operation: Operation, _ steps: ClosedRange<Int>, _ place: Place, _ situation: Situation = .alone
    ) throws {
        let words = [
            "check", operation.name, "\(steps.lowerBound)", "\(steps.upperBound)", situation.rawValue, place.root,
        ]
        guard let answer = try server.ask(words.joined(separator: "\t"), within: Self.patience) else {
            throw Violation("the process that looked at the vault died or hung")
        }
        guard answer == "ok" else { throw Violation(answer) }
    }

    /// The same for states that no operation leads to.
    func check(_ allowed: [VaultState], _ place: Place) throws {
        let text = try JSONEncoder().encode(allowed).base64EncodedString()
        guard let answer = try server.ask("state\t\(text)\t\(place.root)", within: Self.patience) else {
            throw Violation("the process that looked at the vault died or hung")
        }
        guard answer == "ok" else { throw Violation(answer) }
    }

    // MARK: - Beside a stopped process

    private static let refusals = ["busy", "timedOut", "locked", "interactionNotAllowed"]

    private func openPeer(_ operation: Operation, _ place: Place) throws {
        let opener = operation.template.state.person ?? .deviceKey
        let answer = try server.ask("open\t\(opener.rawValue)\t\(place.root)")
        guard answer == "ok" else { throw HarnessError("the peer cannot open the vault: \(answer ?? "it died")") }
    }

    /// Stalls that were found took 30 s. A machine that does much else may take some seconds for what takes milliseconds.
    private static let stall = 15.0

    /// While the process is stopped, another one writes: it succeeds, or fails soon.
    ///
    /// - Returns: `false` if the process never stopped.
    private func meetStopped(
        _ child: Child, _ operation: Operation, _ place: Place, _ peerWrote: inout Bool
    ) throws -> Bool {
        guard child.end(within: Self.patience) == .stopped else { return false }
        let answer = try server.ask("act\t\(place.root)", within: Self.stall)
        let isEverRolledBack = operation.allowed(0...operation.steps.count).contains { $0.head != .asLeft }
        let refusals = Self.refusals + (isEverRolledBack ? ["rolledBack"] : [])
        kill(child.pid, SIGCONT)
        guard let answer else {
            throw Violation("a writer beside the stopped process waited for more than \(Int(Self.stall)) s")
        }
        peerWrote = answer == "ok"
        let isRefused = refusals.contains { answer.hasPrefix($0) }
        guard peerWrote || isRefused else { throw Violation("a writer beside the stopped process: \(answer)") }
        return true
    }
}

/// What a process under test told before it ended.
struct SubjectRun {
    private(set) var acknowledged = 0
    private(set) var hits = 0
    private(set) var failure: String?
    private(set) var unread: String?
    private(set) var isOver = false
    private(set) var calls: [String] = []
    let ending: Child.Ending

    var wasKilled: Bool { ending == .signalled(SIGKILL) }

    /// - Throws: A violation if it did not end.
    init(_ lines: [String]?, _ ending: Child.Ending) throws {
        self.ending = ending
        guard let lines, ending != .late else { throw Violation("the process hung") }
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch words.first {
            case "ack": acknowledged += 1
            case "hits": hits = Int(words[1]) ?? 0
            case "failed": failure = words[1]
            case "reads-not": unread = words[1]
            case "reads": break
            case "over": isOver = ending == .exited(0)
            default: calls.append(line)
            }
        }
    }
}
