// SPDX-License-Identifier: Apache-2.0
// All schedules of a scenario with few switches, one after another.

import Foundation
import KeychainVault

/// Runs the schedules of scenarios.
final class Interleavings {
    private let campaign: Campaign
    private var children: [Child] = []
    /// Schedules that went different ways.
    private(set) var distinct: Set<Int> = []

    init(_ campaign: Campaign) { self.campaign = campaign }

    /// Schedules with at most two switches: all with one, and of those with two as many as fit below the limit, evenly.
    func run(_ scenarios: [Scenario], limit: Int, into tally: inout Tally) throws {
        for scenario in scenarios {
            for first in scenario.processes.indices {
                let decisions = try run(Schedule(scenario: scenario, first: first, switches: []), into: &tally)
                let choices = Self.choices(below: decisions + 4)
                for switches in Self.thinned(choices, to: limit / scenario.processes.count) {
                    _ = try run(Schedule(scenario: scenario, first: first, switches: switches), into: &tally)
                }
            }
            print("\(scenario.name): \(tally.points) schedules so far, \(distinct.count) of them different")
        }
    }

    private static func thinned(_ choices: [[Int]], to limit: Int) -> [[Int]] {
        let ones = choices.prefix { $0.count == 1 }
        guard choices.count > limit else { return choices }
        guard ones.count < limit else { return (0..<limit).map { choices[$0 * ones.count / limit] } }
        let (pairs, room) = (choices.dropFirst(ones.count), limit - ones.count)
        return ones + (0..<room).map { pairs[pairs.startIndex + $0 * pairs.count / room] }
    }

    private static func choices(below count: Int) -> [[Int]] {
        (0..<count).map { [$0] } + (0..<count).flatMap { first in (first + 1..<count).map { [first, $0] } }
    }

    /// - Returns: How many decisions there were.
    func run(_ schedule: Schedule, into tally: inout Tally) throws -> Int {
        let scenario = schedule.scenario
        let place = try campaign.scratch.copy(of: scenario.template)
        while children.count < scenario.processes.count { children.append(try Child(["perform"])) }
        var decisions = 0
        do {
            var interleaving = try Interleaving(schedule, place, children)
            let way = try interleaving.run()
            interleaving.letAllGo()
            decisions = way.decisions
            distinct.insert(([scenario.name] + way.trace).hashValue)
            try check(interleaving, scenario, place)
            try campaign.scratch.remove(place)
            tally.count(scenario.name, "schedules", nil, at: schedule.name)
        } catch let violation as Violation {
            // The processes may be anywhere.
            children = []
            tally.count(scenario.name, "schedules", violation.description, at: schedule.name)
        }
        return decisions
    }

    private func check(_ interleaving: Interleaving, _ scenario: Scenario, _ place: Place) throws {
        let states = interleaving.finalStates
        guard !states.isEmpty else { throw Violation("no order explains: \(interleaving.description)") }
        let before = scenario.template.state
        let openers = scenario.openers ?? [before.openers]
        let allowed = openers.flatMap { openers in
            states.map { VaultState(items: $0, openers: openers, backup: before.backup) }
        }
        if scenario.isSharedByKernel { try place.lockForAll() }
        do {
            try campaign.check(allowed, place)
        } catch let violation as Violation {
            throw Violation("\(violation); after \(interleaving.description)")
        }
    }
}
