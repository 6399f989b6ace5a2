// SPDX-License-Identifier: Apache-2.0
// What the program is asked to do.

import Foundation
import KeychainEngine
import KeychainVault

/// The command line.
///
///     fault-harness all FILE STRIDE COMMAND [LOG]   everything, and writes the file
///     fault-harness faults STRIDE [OPERATION [FAULT]]   tries every so many points
///     fault-harness point OPERATION/FAULT/CALL   tries one
///     fault-harness cuts COUNT [OPERATION]       so many power cuts in each operation
///     fault-harness cut OPERATION/SEED           one
///     fault-harness exchange STRIDE [--sample] [VERB ...]   verbs of a ring, with a fault at every so many calls; of named
///                                                verbs all, unless a sample is asked for
///     fault-harness exchange-point VERB/FAULT/CALL   one
///     fault-harness exchange-verbs               their names
///     fault-harness exchange-cuts COUNT [SCENARIO]   so many power cuts in each scenario of an exchange
///     fault-harness exchange-cut SCENARIO/SEED   one
///     fault-harness schedules LIMIT [SCENARIO]   at most about so many orders in which processes run
///     fault-harness schedule SCENARIO/FIRST/SWITCHES   one
///
/// The other roles are for the processes that the harness starts itself.
struct Command {
    private let arguments: [String]

    init(_ arguments: [String]) { self.arguments = arguments }

    func run() throws {
        switch (arguments.first, arguments.count) {
        case ("faults", 2...4): try faults()
        case ("all", 4...5): try all()
        case ("point", 2): try point()
        case ("cuts", 2...3): try cuts()
        case ("cut", 2): try cut()
        case ("schedules", 2...3): try schedules()
        case ("schedule", 2): try schedule()
        case ("exchange", 2...): try exchange()
        case ("exchange-point", 2): try exchangePoint()
        case ("exchange-verbs", 1): for verb in RingVerb.all { print(verb.name) }
        case ("ring-prepared", 3): try RingVerb.named(arguments[1]).prepare(Exchanging(arguments[2]))
        case ("ring-verb", 7):
            try RingFaults.perform(RingVerb.named(arguments[1]), arguments[2], Array(arguments[3...]))
        case ("exchange-cuts", 2...3): try exchangeCuts()
        case ("exchange-cut", 2): try exchangeCut()
        case ("exchange-prepared", 2): try ExchangeCuts.prepare(arguments[1])
        case ("exchange-recorded", 4): try ExchangeCuts.perform(arguments[2], arguments[1], arguments[3])
        case ("perform", 1): Performer().run()
        case ("prepare", 3): try prepare()
        case ("subject", 5...6): try subject()
        case ("serve", 1):
            var serving = Serving()
            serving.run()
        default: throw HarnessError("see the comment in Tests/FaultHarness/Command.swift for what it takes")
        }
    }

    /// Everything; the document is written when all of it is done, and says so if not all of it held.
    private func all() throws {
        guard let stride = Int(arguments[2]), stride > 0 else { throw HarnessError("the stride is a positive number") }
        var evidence = Evidence(
            suites: try SuiteLog(arguments.count > 4 ? arguments[4] : nil), command: arguments[3], stride: stride)
        try FullRun(stride: stride).run(into: &evidence)
        try evidence.faults.requirePoints("fault")
        try evidence.cuts.requirePoints("power cut")
        try evidence.schedules.requirePoints("interleaving")
        let date = String(Date().ISO8601Format().prefix(10))
        try evidence.text(date, ProcessInfo.processInfo.environment["FAULTS_REVISION"] ?? "unknown")
            .write(toFile: arguments[1], atomically: true, encoding: .utf8)
        let violations = evidence.violations + evidence.suites.failures
        print("violations \(violations.count)")
        guard violations.isEmpty else { throw HarnessError("\(violations.count) violations") }
    }

    private func faults() throws {
        guard let stride = Int(arguments[1]), stride > 0 else { throw HarnessError("the stride is a positive number") }
        let operations = try arguments.count > 2 ? [operation(arguments[2])] : Operation.all
        var tally = Tally()
        let campaign = Campaign(scratch: try Scratch(), server: Server(), stride: stride)
        var faults = try arguments.count > 3 ? [fault(arguments[3])] : Fault.all
        // Naming an operation selects all of its calls.
        if faults.count == 1 { faults[0].every = 1 }
        try campaign.run(operations, faults, into: &tally)
        try end(tally)
    }

    private func point() throws {
        let words = arguments[1].split(separator: "/").map(String.init)
        guard words.count == 3, let call = Int(words[2]) else { throw HarnessError("a point is OPERATION/FAULT/CALL") }
        var tally = Tally()
        let campaign = Campaign(scratch: try Scratch(), server: Server(), stride: 1)
        try campaign.run(Point(operation: operation(words[0]), fault: fault(words[1]), call: call), into: &tally)
        try end(tally)
    }

    private func exchange() throws {
        guard let stride = Int(arguments[1]), stride > 0 else { throw HarnessError("the stride is a positive number") }
        // Naming a verb selects all of its calls, unless a sample is asked for.
        let isSample = arguments.count > 2 && arguments[2] == "--sample"
        let named = try arguments[(isSample ? 3 : 2)...].map(RingVerb.named)
        let scratch = try Scratch("exchange")
        var tally = Tally()
        try RingFaults(scratch.path).run(
            named.isEmpty ? RingVerb.all : named, stride: stride, isWhole: !named.isEmpty && !isSample, into: &tally)
        try end(tally)
    }

    private func exchangePoint() throws {
        let words = arguments[1].split(separator: "/").map(String.init)
        guard words.count == 3, let call = Int(words[2]) else { throw HarnessError("a point is VERB/FAULT/CALL") }
        let scratch = try Scratch("exchange")
        var tally = Tally()
        try RingFaults(scratch.path).run(RingVerb.named(words[0]), words[1], at: call, into: &tally)
        try end(tally)
    }

    private func exchangeCuts() throws {
        guard let count = Int(arguments[1]), count > 0 else { throw HarnessError("the count is a positive number") }
        let scenarios = try arguments.count > 2 ? [exchangeScenario(arguments[2])] : ExchangeScenario.all
        let scratch = try Scratch("exchange-cuts")
        var tally = Tally()
        try ExchangeCuts(scratch.path).run(scenarios, perScenario: count, into: &tally)
        try end(tally)
    }

    private func exchangeCut() throws {
        let words = arguments[1].split(separator: "/").map(String.init)
        guard words.count == 2, let seed = UInt64(words[1]) else { throw HarnessError("a cut is SCENARIO/SEED") }
        let scratch = try Scratch("exchange-cuts")
        var tally = Tally()
        let cuts = ExchangeCuts(scratch.path)
        try cuts.cut(cuts.record(exchangeScenario(words[0])), seed, into: &tally)
        try end(tally)
    }

    private func exchangeScenario(_ name: String) throws -> ExchangeScenario {
        guard let scenario = ExchangeScenario.all.first(where: { $0.name == name }) else {
            throw HarnessError("there is no exchange '\(name)'")
        }
        return scenario
    }

    private func cuts() throws {
        guard let count = Int(arguments[1]), count > 0 else { throw HarnessError("the count is a positive number") }
        let operations = try arguments.count > 2 ? [operation(arguments[2])] : Operation.all
        var tally = Tally()
        try PowerCuts(campaign: Campaign(scratch: try Scratch(), server: Server()))
            .run(operations, perOperation: count, into: &tally)
        try end(tally)
    }

    private func cut() throws {
        let words = arguments[1].split(separator: "/").map(String.init)
        guard words.count == 2, let seed = UInt64(words[1]) else { throw HarnessError("a cut is OPERATION/SEED") }
        var tally = Tally()
        let cuts = PowerCuts(campaign: Campaign(scratch: try Scratch(), server: Server()))
        try cuts.cut(cuts.record(operation(words[0])), seed, into: &tally)
        try end(tally)
    }

    private func schedules() throws {
        guard let limit = Int(arguments[1]), limit > 0 else { throw HarnessError("the limit is a positive number") }
        let scenarios = try arguments.count > 2 ? [scenario(arguments[2])] : Scenario.all
        var tally = Tally()
        let interleavings = Interleavings(Campaign(scratch: try Scratch(), server: Server()))
        try interleavings.run(scenarios, limit: limit, into: &tally)
        try end(tally)
    }

    private func schedule() throws {
        let words = arguments[1].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, let first = Int(words[1]) else {
            throw HarnessError("a schedule is SCENARIO/FIRST/SWITCHES")
        }
        let switches = words[2].split(separator: ",").compactMap { Int($0) }
        var tally = Tally()
        let interleavings = Interleavings(Campaign(scratch: try Scratch(), server: Server()))
        _ = try interleavings.run(
            Schedule(scenario: scenario(words[0]), first: first, switches: switches), into: &tally)
        try end(tally)
    }

    private func scenario(_ name: String) throws -> Scenario {
        guard let scenario = Scenario.named(name) else { throw HarnessError("there is no scenario '\(name)'") }
        return scenario
    }

    private func end(_ tally: Tally) throws {
        print("points \(tally.points) violations \(tally.violations.count)")
        guard tally.violations.isEmpty else { throw HarnessError("\(tally.violations.count) violations") }
        try tally.requirePoints("point")
    }

    // MARK: - Roles

    private func prepare() throws {
        guard let template = Template(rawValue: arguments[1]) else { throw HarnessError("no template \(arguments[1])") }
        try template.make(at: Place(root: arguments[2]))
    }

    private func subject() throws {
        let fault = Fault.all.first { $0.name == arguments[2] }
        try Subject(
            operation: operation(arguments[1]), place: Place(root: arguments[4]), fault: fault,
            call: Int(arguments[3]) ?? 0, recordFile: arguments.count > 5 ? arguments[5] : nil
        ).run()
    }

    private func fault(_ name: String) throws -> Fault {
        guard let fault = Fault.all.first(where: { $0.name == name }) else {
            throw HarnessError("there is no fault '\(name)'")
        }
        return fault
    }

    private func operation(_ name: String) throws -> Operation {
        guard let operation = Operation.named(name) else { throw HarnessError("there is no operation '\(name)'") }
        return operation
    }
}
