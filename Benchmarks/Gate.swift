// SPDX-License-Identifier: Apache-2.0
// The measurements of `make gate`: processor time beside that of the floors, in one run.

import Foundation
import KeychainKit
import KeychainServices
import KeychainVault

/// Measures calls and their floors in turns.
///
/// It counts processor time of the whole process: what other programs do hardly changes it, and work that was moved to another
/// thread still counts.
final class Gate {
    private let bench: Bench
    private let kit: KitBench
    private let large: Bench
    private let parent: String
    /// How many times the reads of one thread two threads make here that share nothing; `nil` if it was not measured.
    private(set) var machineGain: Double?
    private var number = 0
    private static let (small, large) = (1000, 20_000)

    init(parent: String) throws {
        self.parent = parent
        bench = try Bench(size: Self.small, parent: parent)
        kit = try KitBench(bench)
        large = try Bench(size: Self.large, parent: parent)
    }

    private struct Measured {
        let name: String
        /// How many make a sample.
        let count: Int
        let body: (Int) throws -> Void
    }

    private var reads: [Measured] {
        let (bench, kit, large) = (bench, kit, large)
        let pick = { (number: Int) in (number &* 7919) % Self.small }
        return [
            Measured(name: "read floor + open", count: 200) { _ = try bench.floor.read(pick($0), opening: true) },
            Measured(name: "read again", count: 200) { try kit.readAgain($0) },
            Measured(name: "first read", count: 60) { try kit.readFirst(pick($0)) },
            Measured(name: "SecItemCopyMatching again", count: 100) { try kit.secItemAgain($0) },
            Measured(name: "list floor + open", count: 2) { _ in _ = try bench.floor.list(1000) },
            Measured(name: "list of 1,000", count: 1) { try kit.list($0) },
            Measured(name: "search by account among 1,000", count: 10) { try bench.searchByAccount(pick($0)) },
            Measured(name: "search by account among 20,000", count: 10) { try large.searchByAccount(pick($0)) },
        ]
    }

    /// In rounds of their own: a write ends what is remembered of reads.
    private var writes: [Measured] {
        let (bench, kit) = (bench, kit)
        return [
            Measured(name: "add floor", count: 10) { try bench.floor.add(Self.small + $0, sealing: false) },
            Measured(name: "addition", count: 10) { try kit.saveNew($0) },
            Measured(name: "transaction floor", count: 1) {
                try bench.floor.add((1 + $0) << 24..<(1 + $0) << 24 + 100, sealing: false)
            },
            Measured(name: "transaction of 100", count: 1) { try kit.transaction($0) },
        ]
    }

    /// Measures what the named limits need.
    ///
    /// - Returns: How many times its floor each of them costs.
    func ratios(_ names: Set<String>) async throws -> [String: Double] {
        let limits = GateLimit.all.filter { names.contains($0.name) }
        let wanted = Set(limits.flatMap { [$0.name, $0.floor] })
        var rounds: [String: [Double]] = [:]
        for calls in [reads, writes].map({ $0.filter { wanted.contains($0.name) } }) {
            for round in 0...Self.rounds {
                var times = try times(calls)
                if wanted.contains(Self.waiting), times["read again"] != nil {
                    times[Self.waiting] = try await timeOfWaiting()
                }
                // The first round warms caches, statements and the allocator.
                guard round > 0 else { continue }
                for limit in limits {
                    guard let time = times[limit.name], let floor = times[limit.floor] else { continue }
                    rounds[limit.name, default: []].append(time / floor)
                }
            }
        }
        // Not the median: disturbances take caches away from everything but the floors, and never make a call faster.
        var ratios = rounds.mapValues { $0.sorted()[$0.count / 4] }
        if names.contains(GateLimit.gain.name) { ratios[GateLimit.gain.name] = try gain() }
        if names.contains(GateLimit.start.name) { ratios[GateLimit.start.name] = try Starting(bench: bench).ratio() }
        try addSyncs(names, to: &ratios)
        return ratios
    }

    private static let rounds = 31
    /// With less, threads that wait for one another are not told from processors that are busy.
    static let leastGain = 1.6
    private static let waiting = "read again, asynchronous"

    private func times(_ calls: [Measured]) throws -> [String: Double] {
        var times: [String: Double] = [:]
        for call in calls {
            let start = processorTime()
            for _ in 0..<call.count {
                number += 1
                try call.body(number)
            }
            times[call.name] = (processorTime() - start) / Double(call.count)
        }
        return times
    }

    private func timeOfWaiting() async throws -> Double {
        let (start, count) = (processorTime(), 200)
        _ = try await kit.readWithoutBlocking(count)
        return (processorTime() - start) / Double(count)
    }

    /// The one measurement by the clock: threads that wait for one another cost no processor time.
    private func gain() throws -> Double {
        let store = SecretStore(service: "com.example.service", store: bench.services.engine.store)
        let scaling = Scaling(store: store, names: (0..<64).map { "account-\($0)" })
        let gain = try scaling.gain(folder: bench.location.folder)
        machineGain = gain.machine
        return gain.machine / gain.readers
    }

    private func addSyncs(_ names: Set<String>, to ratios: inout [String: Double]) throws {
        guard !names.isDisjoint(with: GateLimit.syncs.map(\.name)) else { return }
        let syncs = try SyncCounts(parent: parent)
        ratios["syncs of ten additions"] = try syncs.ofAdditions(10)
        ratios["syncs of a transaction of 100"] = try syncs.ofTransaction()
        ratios["syncs of eight threads adding"] = try syncs.ofThreads() / 2
    }
}

/// Of this process, in seconds.
private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Prints a row for each limit.
///
/// - Parameter part: Of each limit; with a small one, the check must fail.
/// - Returns: Whether all calls stay below their limits.
func passesGate(parent: String, part: Double) async throws -> Bool {
    let gate = try Gate(parent: parent)
    let verdicts = try await judge(GateLimit.all.map { $0.part(part) }) { try await gate.ratios($0) }
    var passes = true
    for verdict in verdicts {
        let limit = verdict.limit
        print(
            "  " + limit.name.padding(toLength: 32, withPad: " ", startingAt: 0)
                + String(format: "%6.2f × %@", verdict.ratio, limit.floor).padding(
                    toLength: 42, withPad: " ", startingAt: 0)
                + String(
                    format: "usual %5.2f   \(limit.isExact ? "exactly" : "at most") %5.2f", limit.usual, limit.limit)
                + (verdict.passes ? "" : limit.isExact ? "   WRONG" : "   TOO SLOW"))
        // Busy processors slow either of the two, by chance.
        let isUntested = limit.name == GateLimit.gain.name && gate.machineGain ?? 2 < Gate.leastGain
        passes = passes && (verdict.passes || isUntested)
    }
    if let gain = gate.machineGain, gain < Gate.leastGain {
        print(
            String(
                format: "Two threads that share nothing make only %.2f × the reads of one here, so whether reads wait "
                    + "for one another was not tested.", gain))
    }
    return passes
}
