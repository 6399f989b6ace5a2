// SPDX-License-Identifier: Apache-2.0
// The schedules of a scenario with few switches, one after another.

import Foundation
import KeychainVault

/// Runs the schedules of scenarios.
final class Interleavings {
    private let campaign: Campaign
    private var children: [Child] = []
    /// Schedules that went different ways.
    private(set) var distinct: Set<Int> = []

    init(_ campaign: Campaign) { self.campaign = campaign }

    /// All schedules without and with one switch, then those with two, then with three, until there are so many: those with as many
    /// switches that not all fit are thinned evenly.
    func run(_ scenarios: [Scenario], limit: Int, into tally: inout Tally) throws {
        for scenario in scenarios {
            var (room, next) = (limit, scenario.processes.indices.map { (first: $0, switches: [Int]()) })
            while room > 0, !next.isEmpty {
                let chosen = Self.thinned(next, to: room)
                room -= chosen.count
                next = []
                for (first, switches) in chosen {
                    let chances = try run(Schedule(scenario: scenario, first: first, switches: switches), into: &tally)
                    let later = (switches.last ?? -1) + 1
                    if switches.count < Self.mostSwitches, later < chances {
                        next += (later..<chances).map { (first, switches + [$0]) }
                    }
                }
            }
            print("\(scenario.name): \(tally.points) schedules so far, \(distinct.count) of them different")
        }
    }

    static let mostSwitches = 3

    private static func thinned<Choice>(_ choices: [Choice], to limit: Int) -> [Choice] {
        choices.count <= limit ? choices : (0..<limit).map { choices[$0 * choices.count / limit] }
    }

    /// - Returns: How many chances there were to let another process in; 0 after a violation.
    func run(_ schedule: Schedule, into tally: inout Tally) throws -> Int {
        let scenario = schedule.scenario
        let place = try campaign.scratch.copy(of: scenario.template)
        while children.count < scenario.processes.count { children.append(try Child(["perform"])) }
        var chances = 0
        do {
            var interleaving = try Interleaving(schedule, place, children)
            let way = try interleaving.run()
            interleaving.letAllGo()
            chances = way.chances
            distinct.insert(([scenario.name] + way.trace).hashValue)
            try check(interleaving, scenario, place)
            try campaign.scratch.remove(place)
            tally.count(scenario.name, "schedules", nil, at: schedule.name)
        } catch let violation as Violation {
            // The processes may be anywhere.
            children = []
            tally.count(scenario.name, "schedules", violation.description, at: schedule.name)
        }
        return chances
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
