// SPDX-License-Identifier: Apache-2.0
// Everything that is tried: faults and power cuts on one thread, interleavings on another.

import Foundation
import Synchronization

/// One full run, or a sample of it.
struct FullRun {
    let stride: Int

    /// Power cuts of each operation, and schedules of each scenario.
    static let (cutLimit, scheduleLimit) = (100, 800)

    /// What was found so far, and what the harness could not do.
    private struct Results {
        var (faults, cuts, schedules) = (Tally(), Tally(), Tally())
        var differentSchedules = 0
        var failure: String?
    }

    func run(into evidence: inout Evidence) throws {
        let shared = Mutex(Results())
        let parts = [tryFaults, trySchedules]
        DispatchQueue.concurrentPerform(iterations: parts.count) { number in
            do {
                let add = try parts[number]()
                shared.withLock { add(&$0) }
            } catch {
                let failure = "\(error)"
                shared.withLock { $0.failure = failure }
            }
        }
        let results = shared.withLock { $0 }
        if let failure = results.failure { throw HarnessError(failure) }
        (evidence.faults, evidence.cuts) = (results.faults, results.cuts)
        (evidence.schedules, evidence.differentSchedules) = (results.schedules, results.differentSchedules)
    }

    /// - Returns: What adds the results.
    @Sendable
    private func tryFaults() throws -> @Sendable (inout Results) -> Void {
        let campaign = Campaign(scratch: try Scratch("faults"), server: Server(), stride: stride)
        var (faults, cuts) = (Tally(), Tally())
        try campaign.run(Operation.all, Fault.all, into: &faults)
        try PowerCuts(campaign: campaign).run(
            Operation.all, perOperation: max(1, Self.cutLimit / stride), into: &cuts)
        return { [faults, cuts] in ($0.faults, $0.cuts) = (faults, cuts) }
    }

    @Sendable
    private func trySchedules() throws -> @Sendable (inout Results) -> Void {
        let interleavings = Interleavings(Campaign(scratch: try Scratch("schedules"), server: Server()))
        var schedules = Tally()
        try interleavings.run(Scenario.all, limit: Self.scheduleLimit / stride, into: &schedules)
        return { [schedules, count = interleavings.distinct.count] in
            ($0.schedules, $0.differentSchedules) = (schedules, count)
        }
    }
}
