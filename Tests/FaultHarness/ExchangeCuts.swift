// SPDX-License-Identifier: Apache-2.0
// Power cuts while one machine of a ring exchanges: its vault and the shared folder lose what was not synced.

import FaultShim
import Foundation
import KeychainEngine
import KeychainSync
import KeychainVault

/// What the machine that loses its power does, step by step.
struct ExchangeScenario: Sendable {
    /// What both machines have in the end if this was the last step.
    struct State: Sendable {
        var items = Exchanging.expected
        var machines: Set = ["laptop", "desktop", "phone"]
    }

    struct Step: Sendable {
        let run: @Sendable (RingMember, Exchanging) throws -> Void
        var effect: @Sendable (inout State) -> Void = { _ in }
    }

    let name: String
    let steps: [Step]

    /// Before the first step and after each.
    var states: [State] {
        steps.reduce(into: [State()]) { states, step in
            guard var next = states.last else { return }
            step.effect(&next)
            states.append(next)
        }
    }

    static let all = [
        ExchangeScenario(name: "exchange", steps: [exchange]),
        ExchangeScenario(
            name: "changes and exchanges",
            steps: [exchange, update, add("f"), exchange, delete, add("g"), exchange, exchange]),
        ExchangeScenario(name: "snapshot", steps: [add("f"), repair, add("g"), exchange]),
        ExchangeScenario(name: "removal of a machine", steps: [add("f"), remove, add("g"), exchange]),
    ]

    private static let exchange = Step(run: { member, _ in try waiting { _ = try await member.exchange() } })

    /// Another writer begins, and a snapshot is written.
    private static let repair = Step(run: { member, _ in try waiting { _ = try await member.repair() } })

    /// The ring gets new keys.
    private static let remove = Step(
        run: { member, _ in
            try waiting {
                let phone = try await member.status().members.filter { $0.name == "phone" }
                _ = try await member.remove(phone.map(\.id))
            }
        },
        effect: { $0.machines.remove("phone") })

    private static func add(_ account: String) -> Step {
        Step(
            run: { _, exchanging in try exchanging.add(account, "added", exchanging.vault("laptop")) },
            effect: { $0.items[account] = "added" })
    }

    private static let update = Step(
        run: { _, exchanging in
            try Engine(store: exchanging.vault("laptop")).update(
                exchanging.query("a"), with: Items.changes("updated"), accessGroups: .unrestricted)
        },
        effect: { $0.items["a"] = "updated" })

    /// The other machine has added it.
    private static let delete = Step(
        run: { _, exchanging in
            let engine = Engine(store: try exchanging.vault("laptop"))
            try engine.delete(exchanging.query("d"), accessGroups: .unrestricted)
        },
        effect: { $0.items["d"] = nil })
}

/// Afterwards both machines exchange without faults, and have the same, with every acknowledged change in it.
struct ExchangeCuts {
    private let exchanging: Exchanging
    private let recordFile: String
    private var root: String { exchanging.root }

    /// - Parameter folder: It is there, and empty.
    init(_ folder: String) { (exchanging, recordFile) = (Exchanging(folder + "/ring"), folder + "/record") }

    func run(_ scenarios: [ExchangeScenario], perScenario count: Int, into tally: inout Tally) throws {
        for scenario in scenarios {
            let recorded = try record(scenario)
            for seed in 1...count { try cut(recorded, UInt64(seed), into: &tally) }
            print("power cut, \(scenario.name): \(count)")
        }
    }

    struct Recorded {
        let scenario: ExchangeScenario
        let before: Disk
        let events: [RecordedEvent]
    }

    func record(_ scenario: ExchangeScenario) throws -> Recorded {
        try clear()
        try FileManager.default.createDirectory(atPath: root + "/shared", withIntermediateDirectories: true)
        // In another process, so that nothing is open any more.
        guard try Child(["exchange-prepared", root]).end(within: 60) == .exited(0) else {
            throw HarnessError("the ring was not made")
        }
        let before = try Disk(root)
        let child = try Child(["exchange-recorded", root, scenario.name, recordFile])
        let (lines, end) = (child.lines(within: 60), child.end(within: 60))
        guard end == .exited(0) else { throw HarnessError("'\(scenario.name)' fails: \(lines ?? [])") }
        let events = try RecordedEvent.read(recordFile)
        try events.requireChanges(scenario.name)
        if let problem = try problem(scenario.states.suffix(1)) {
            throw HarnessError("'\(scenario.name)' without a power cut: \(problem)")
        }
        return Recorded(scenario: scenario, before: before, events: events)
    }

    /// A third machine is in the ring, and stays away.
    static func prepare(_ root: String) throws {
        let exchanging = Exchanging(root)
        try exchanging.prepare()
        let place = CarrierPlace.folder(root + "/shared")
        let (laptop, phone) = (try exchanging.vault("laptop"), try exchanging.vault("phone"))
        try waiting { try await RingMember(laptop).admit(RingMember(phone), "phone", at: place) }
        try Vault.closeAll()
    }

    func cut(_ recorded: Recorded, _ seed: UInt64, into tally: inout Tally) throws {
        var generator = SplitMix(seed, recorded.scenario.name)
        let moment = recorded.events.moment(&generator)
        let (disk, acknowledged) = recorded.events.replay(moment, on: recorded.before)
        try clear()
        try disk.write(to: root, insteadOf: root, &generator)
        let states = recorded.scenario.states
        let allowed = states[acknowledged...min(acknowledged + 1, states.count - 1)]
        let place = "after \(moment) of \(recorded.events.count) changes"
        var violation: String?
        do { violation = try problem(allowed).map { "\(place): \($0)" } } catch { violation = "\(place): \(error)" }
        tally.count(recorded.scenario.name, "power cut", violation, at: "\(recorded.scenario.name)/\(seed)")
    }

    private func problem(_ allowed: ArraySlice<ExchangeScenario.State>) throws -> String? {
        try exchanging.problem(allowed.map(\.items), machines: allowed.map { Array($0.machines) })
    }

    private func clear() throws {
        try Vault.closeAll()
        try Scratch.remove(root)
    }

    // MARK: - The machine that loses its power

    /// The child.
    static func perform(_ name: String, _ root: String, _ recordFile: String) throws {
        guard let scenario = ExchangeScenario.all.first(where: { $0.name == name }) else {
            throw HarnessError("there is no exchange '\(name)'")
        }
        let descriptor = open(recordFile, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw HarnessError("cannot make '\(recordFile)'") }
        var plan = fault_plan()
        let counted = strdup(root + "/")
        plan.root = UnsafePointer(counted)
        (plan.trace, plan.record) = (-1, descriptor)
        fault_arm(&plan)
        let exchanging = Exchanging(root)
        let member = RingMember(try exchanging.vault("laptop"))
        for step in scenario.steps {
            try step.run(member, exchanging)
            fault_record_acknowledgement()
        }
        fault_disarm()
    }
}
