// SPDX-License-Identifier: Apache-2.0
// Verbs of a ring, each of which is killed, or fails, at each of its calls.

import FaultShim
import Foundation
import KeychainEngine
import KeychainSync
import KeychainVault
import SecretMemory

/// What happens at a call of a verb.
struct RingFault {
    let name: String
    let action: Int32
    var error: Int32 = 0
    let kinds: UInt32
    /// Only every so many of these calls are hit, unless all are wanted.
    var every = 1

    static let all = [
        RingFault(name: "kill", action: FAULT_KILL.signed, kinds: Fault.changing),
        RingFault(name: "EIO", action: FAULT_FAIL.signed, error: EIO, kinds: Fault.failing, every: 4),
        RingFault(name: "ENOSPC", action: FAULT_FAIL.signed, error: ENOSPC, kinds: Fault.growing, every: 4),
        RingFault(name: "short", action: FAULT_SHORT.signed, kinds: FAULT_WRITE.unsigned, every: 4),
    ]
}

/// After each fault, a person repeats the verb. Then all machines have the same, with every change in it.
struct RingFaults {
    private let world: Exchanging
    private let before: String
    private var root: String { world.root }

    /// After so many violations of one fault in one verb, the next verb is tried. A point of which nobody knows whether the fault was
    /// reached counts as reached, so that without this limit a verb that always hangs would be tried for ever.
    private static let violationLimit = 25

    /// - Parameter folder: It is there, and empty.
    init(_ folder: String) { (world, before) = (Exchanging(folder + "/ring"), folder + "/before") }

    /// How one run of the verb has ended.
    private struct Outcome {
        var hasSucceeded = false
        let lines: [String]

        var wasHit: Bool { lines.contains("hit") }
        var shown: String? { lines.first { $0.hasPrefix("shown ") }.map { String($0.dropFirst(6)) } }
        var failure: String { lines.first { $0.hasPrefix("failed ") } ?? "no reason" }
    }

    // MARK: - All faults

    /// - Parameters:
    ///   - stride: Every so many points.
    ///   - isWhole: Whether all calls count, also those of faults that otherwise hit fewer.
    func run(_ verbs: [RingVerb], stride: Int, isWhole: Bool, into tally: inout Tally) throws {
        for (number, verb) in verbs.enumerated() {
            try prepare(verb)
            for fault in RingFault.all {
                let step = stride * (isWhole || verb.isHitAtReads ? 1 : fault.every)
                let kinds = verb.isHitAtReads ? ~0 : fault.kinds
                let (before, limit) = (tally.points, tally.violations.count + Self.violationLimit)
                // A sample hits other calls of each verb.
                var call = 1 + (stride > 1 ? number * 7 % step : 0)
                while try tryPoint(verb, fault, kinds, call, into: &tally), tally.violations.count < limit {
                    call += step
                }
                print("\(verb.name), \(fault.name): \(tally.points - before)")
                fflush(nil)
            }
        }
    }

    /// One point, as a violation names it.
    func run(_ verb: RingVerb, _ faultName: String, at call: Int, into tally: inout Tally) throws {
        guard let fault = RingFault.all.first(where: { $0.name == faultName }) else {
            throw HarnessError("there is no fault '\(faultName)'; there are \(RingFault.all.map(\.name))")
        }
        try prepare(verb)
        _ = try tryPoint(verb, fault, verb.isHitAtReads ? ~0 : fault.kinds, call, into: &tally)
    }

    /// In another process, so that nothing is open any more.
    private func prepare(_ verb: RingVerb) throws {
        try clear(root)
        try clear(before)
        try FileManager.default.createDirectory(atPath: root + "/shared", withIntermediateDirectories: true)
        let child = try Child(["ring-prepared", verb.name, root])
        let (lines, end) = (child.lines(within: 60), child.end(within: 60))
        guard end == .exited(0) else { throw HarnessError("'\(verb.name)' was not prepared: \(lines ?? [])") }
        try FileManager.default.copyItem(atPath: root, toPath: before)
    }

    private func clear(_ folder: String) throws {
        try Vault.closeAll()
        try Scratch.remove(folder)
    }

    // MARK: - One point

    /// - Returns: Whether the verb has made so many calls.
    private func tryPoint(
        _ verb: RingVerb, _ fault: RingFault, _ kinds: UInt32, _ call: Int, into tally: inout Tally
    ) throws -> Bool {
        try clear(root)
        try FileManager.default.copyItem(atPath: before, toPath: root)
        let point = "\(verb.name)/\(fault.name)/\(call)"
        var (violation, wasHit): (String?, Bool) = (nil, true)
        do {
            (violation, wasHit) = try meet(verb) { try child(verb, fault, kinds, call) }
        } catch {
            violation = "\(error)"
        }
        // The run after the last call meets no fault, and is none.
        if wasHit || violation != nil { tally.count(verb.name, fault.name, violation, at: point) }
        return wasHit
    }

    private func child(_ verb: RingVerb, _ fault: RingFault, _ kinds: UInt32, _ call: Int) throws -> Outcome {
        let plan = ["\(fault.action)", "\(kinds)", "\(call)", "\(fault.error)"]
        let child = try Child(["ring-verb", verb.name, root] + plan)
        let lines = child.lines(within: 60) ?? []
        switch child.end(within: 60) {
        case .exited(0): return Outcome(hasSucceeded: true, lines: lines)
        case .exited(Self.failed): return Outcome(lines: lines)
        case .signalled(SIGKILL) where fault.action == FAULT_KILL.signed: return Outcome(lines: ["hit"])
        case let end: throw Violation("it ended with \(end): \(lines)")
        }
    }

    /// Runs the verb while another machine does its part, and again if it has failed.
    private func meet(_ verb: RingVerb, _ body: () throws -> Outcome) throws -> (String?, wasHit: Bool) {
        let visit = try verb.beside.map { try Visit($0, world) }
        let outcome: Outcome
        let (problem, shown): (String?, String?)
        do {
            outcome = try body()
            (problem, shown) = try said("afterwards") { try complete(verb, outcome, visit) }
        } catch {
            try? visit?.end()
            throw error
        }
        try visit?.end()
        if let problem { return (problem, outcome.wasHit) }
        return (try said("in the end") { try ending(verb, shown) }, outcome.wasHit)
    }

    /// - Returns: What is wrong, and what a person was shown last.
    private func complete(_ verb: RingVerb, _ outcome: Outcome, _ visit: Visit?) throws -> (String?, String?) {
        if outcome.hasSucceeded {
            return (try verb.promise(world).map { "it has succeeded, and \($0)" }, outcome.shown)
        }
        guard outcome.wasHit else { return ("it fails without a fault: \(outcome.failure)", nil) }
        if verb.isWatched { try visit?.meeting.untilSeen() }
        let shown = Guarded<String?>(nil)
        try waiting { [world] in
            let text = try await verb.again(world)
            shown.withLock { $0 = text }
        }
        return (nil, shown.withLock { $0 })
    }

    private func ending(_ verb: RingVerb, _ shown: String?) throws -> String? {
        if let problem = try verb.afterwards(world, shown) { return problem }
        return try world.problem([verb.end.items], machines: verb.end.machines, among: verb.end.exchanging)
    }

    // MARK: - The process that is hit

    private static let failed: Int32 = 1

    /// The child. It exits with 0 only if the verb has succeeded.
    static func perform(_ verb: RingVerb, _ root: String, _ numbers: [String]) throws -> Never {
        let numbers = numbers.compactMap { Int64($0) }
        guard numbers.count == 4 else { throw HarnessError("the fault consists of numbers") }
        var plan = fault_plan()
        let counted = strdup(root + "/")
        plan.root = UnsafePointer(counted)
        (plan.action, plan.at, plan.error) = (Int32(numbers[0]), Int(numbers[2]), Int32(numbers[3]))
        (plan.kinds, plan.counts_kinds) = (UInt32(numbers[1]), 1)
        (plan.trace, plan.record) = (-1, -1)
        let world = Exchanging(root)
        fault_arm(&plan)
        var lines: [String]
        var code: Int32 = 0
        do {
            let shown = Guarded<String?>(nil)
            try waiting {
                let text = try await verb.run(world)
                shown.withLock { $0 = text }
            }
            lines = shown.withLock { $0.map { ["shown \($0)"] } ?? [] }
        } catch {
            (lines, code) = (["failed \(error)"], failed)
        }
        lines.append(fault_disarm() > 0 ? "hit" : "missed")
        for line in lines { print(line) }
        fflush(nil)
        exit(code)
    }
}

/// What another machine does while a verb runs.
private struct Visit {
    let meeting = Meeting()
    private let failure = Guarded<(any Error)?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    /// Begins it, and waits until it has done what the verb needs.
    init(_ body: @escaping @Sendable (Exchanging, Meeting) async throws -> Void, _ world: Exchanging) throws {
        Task { [meeting, failure, isDone] in
            do { try await body(world, meeting) } catch { failure.withLock { $0 = error } }
            isDone.signal()
        }
        try meeting.untilReady()
    }

    func end() throws {
        meeting.end()
        guard isDone.wait(timeout: .now() + 60) == .success else { throw Violation("the other machine does not end") }
        if let failure = failure.withLock({ $0 }) { throw Violation("the other machine: \(failure)") }
    }
}
