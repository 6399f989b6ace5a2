// SPDX-License-Identifier: Apache-2.0
// One run with confirmed changes: machines over one etcd that may be silent or lie, and that die at any moment.

import Foundation
import KeychainSyncCore

/// A deterministic simulation of confirmed changes: one seed, one run, virtual time.
///
/// Machines make ordinary and confirmed changes, exchange, write snapshots and make new keys. The carrier is as good as its word in most
/// runs: it refuses what comes after a change of another machine, and it may not answer, at once or ever. In the others it also keeps what
/// it has refused, and shows it later.
package struct ConfirmedSimulation {
    /// The machine ends here; what it has stored stays.
    struct Death: Error {}

    struct Machine {
        var replica: Replica
        /// How wrong its clock is, in milliseconds.
        let skew: Int64
        /// What the last exchange found.
        var findings: Set<Finding> = []
    }

    /// A segment of a confirmed change. What becomes of it is known by its number, which it contains.
    struct Attempt {
        enum Outcome { case unsent, unknown, confirmed, refused, unanswered }

        let machine: Int
        let name: ObjectName
        let bytes: Data
        let item: SyncID
        /// What its machine was told.
        var outcome = Outcome.unsent
        /// Whether its machine remembers that.
        var isNoted = false
        /// Whether the carrier has made it, whatever it has said.
        var isMade = false
        /// Whether the carrier has shown it although it had not made it, and whether that was in the place of nothing else.
        var shown: Shown?

        enum Shown { case made, besideAnother }
    }

    var random: SeededRandom
    private let keys: Randomness
    let isHonest: Bool
    var machines: [Machine] = []
    var carrier = AgreeingCarrier()
    var archive = Archive()
    var counts = Simulation.Counts()
    var now: UInt64 = 1_700_000_000_000
    var attempts: [UInt64: Attempt] = [:]
    /// Confirmed changes under way that the carrier may still carry out: their numbers, and the revisions they depend on.
    var late: [(number: UInt64, revision: UInt64)] = []
    /// What was refused and can be shown.
    var hidden: [UInt64] = []
    /// Ordinary changes that were kept when none could be confirmed.
    var kept: Set<UInt64> = []
    var number: UInt64 = 0
    /// How many more things the machine does before it ends.
    var left = Int.max
    private var hasRead = false

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed &+ 3 << 32)
        keys = SeededRandom.randomness(seed: seed &+ 4 << 32)
        isHonest = random.chance(0.7)
        let (replica, effects) = try Replica.founding(name: "0", keys: .make(keys), keys)
        machines = [Machine(replica: replica, skew: 0)]
        try carryOut(effects, of: 0)
        for _ in 1..<random.pick([2, 2, 3, 4]) { try join() }
    }

    /// - Returns: What happened, for statistics.
    package static func run(seed: UInt64) throws -> Simulation.Counts {
        do {
            var simulation = try ConfirmedSimulation(seed: seed)
            for _ in 0..<simulation.random.pick([20, 50]) { try simulation.step() }
            try simulation.settle()
            try simulation.compare()
            return simulation.counts
        } catch {
            throw Violation(description: "seed \(seed), confirmed changes: \(error)")
        }
    }

    private mutating func join() throws {
        let device = DeviceKeys.make(keys)
        let card = MemberCard(role: .device, keys: try device.publicKeys(), name: "\(machines.count)")
        try perform(0) { replica, _ in try replica.admit(card) }
        let opened = try OpenedRing(
            machines[0].replica.log.id, tips: machines[0].replica.log.tips, for: device,
            wraps: carrier.sorted.compactMap { if case .wrap = $0.name { $0.bytes } else { nil } },
            entries: carrier.sorted.compactMap { if case .entry = $0.name { $0.bytes } else { nil } })
        let replica = try Replica(keys: device, log: opened.log, keyring: opened.keyring, keys)
        let year: Int64 = 365 * 86_400_000
        let skew = random.pick([0, Int64.random(in: -9999...9999, using: &random), 10 * year, -10 * year])
        machines.append(Machine(replica: replica, skew: skew))
    }

    // MARK: - Steps

    private mutating func step() throws {
        now += UInt64.random(in: 1...5000, using: &random)
        if !late.isEmpty, random.chance(0.3) { try carryOutLate(random.pick(Array(late.indices))) }
        if !hidden.isEmpty, random.chance(0.3) { try show(random.pick(Array(hidden.indices))) }
        let index = Int.random(in: 0..<machines.count, using: &random)
        if random.chance(0.25) { left = Int.random(in: 0...20, using: &random) }
        try mortally { simulation in
            switch Double.random(in: 0..<1, using: &simulation.random) {
            case ..<0.45: try simulation.confirm(index)
            case ..<0.65: try simulation.write(index)
            case ..<0.75: _ = try simulation.fetchAll(index)
            case ..<0.9: try simulation.upload(index)
            case ..<0.96: try simulation.snapshot(index)
            default: try simulation.rotate(index)
            }
        }
    }

    /// Runs what a machine does until it ends or dies.
    mutating func mortally(_ body: (inout Self) throws -> Void) throws {
        do { try body(&self) } catch is Death { counts.add("confirming: crashes") }
        left = .max
    }

    /// A moment at which a machine may die.
    mutating func live() throws {
        if left == 0 { throw Death() }
        if left != .max { left -= 1 }
    }

    /// What another machine does while one is busy.
    mutating func meanwhile(_ index: Int) throws {
        let other = (index + Int.random(in: 1..<machines.count, using: &random)) % machines.count
        let rest = left
        left = random.chance(0.1) ? 5 : .max
        try mortally { simulation in
            if simulation.random.chance(0.5) {
                try simulation.confirm(other, isAlone: true)
            } else {
                try simulation.write(other)
                try simulation.upload(other)
            }
        }
        left = rest
    }

    mutating func write(_ index: Int) throws {
        let local = LocalWrite(
            item: item(UInt8.random(in: 1...2, using: &random)),
            random.chance(0.2) ? .deletion : .value(content(nextNumber()), accessibility: 6))
        try perform(index) { replica, now in
            _ = try replica.commit([local], at: now)
            return []
        }
        counts.add("confirming: ordinary changes")
    }

    mutating func upload(_ index: Int) throws { try perform(index) { replica, now in try replica.seal(at: now) } }

    mutating func snapshot(_ index: Int) throws {
        if machines[index].replica.isPublished {
            try perform(index) { replica, now in try replica.snapshot(at: now) }
        }
    }

    private mutating func rotate(_ index: Int) throws {
        if machines[index].replica.ring.epochs.count < 4 { try perform(index) { replica, _ in try replica.rotate() } }
    }

    // MARK: - Items

    /// Only confirmed changes count it.
    var counter: SyncID { item(0) }

    func item(_ name: UInt8) -> SyncID { machines[0].replica.keyring.ring.item([name]) }

    mutating func nextNumber() -> UInt64 {
        number += 1
        return number
    }

    func content(_ number: UInt64, count: UInt64 = 0) -> [UInt8] {
        [number, count].flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
    }

    static func number(_ content: some Sequence<UInt8>) -> UInt64 {
        content.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    static func count(_ content: some Sequence<UInt8>) -> UInt64 { number(content.dropFirst(8)) }

    // MARK: - Machines

    /// Tells a machine something, stores it, and carries out the effects.
    mutating func perform(_ index: Int, _ body: (inout Replica, UInt64) throws -> [Effect]) throws {
        try live()
        var replica = machines[index].replica
        let effects: [Effect]
        do {
            effects = try body(&replica, clock(index))
        } catch Refusal.noKey {
            return counts.add("confirming: without keys")
        }
        machines[index].replica = random.chance(0.02) ? try reloaded(replica) : replica
        try carryOut(effects, of: index)
    }

    func clock(_ index: Int) -> UInt64 { UInt64(max(1, Int64(now) + machines[index].skew)) }

    private func reloaded(_ replica: Replica) throws -> Replica {
        let stored = replica.changes(since: nil).written
        let copy = try Replica(
            stored: stored, keys: replica.keys, former: replica.former, keyring: replica.keyring, keys)
        guard copy.changes(since: nil).written == stored else { throw Violation(description: "what is loaded differs") }
        return copy
    }

    mutating func carryOut(_ effects: [Effect], of index: Int) throws {
        for effect in effects {
            try live()
            switch effect {
            case .write(let name, let bytes): try publish(name, bytes, of: index, beside: false)
            case .writeBeside(let name, let bytes): try publish(name, bytes, of: index, beside: true)
            case .remove(let names): carrier.remove(names)
            case .read(let names):
                var objects = names.flatMap { name in carrier.contents(name).map { (name, $0) } }
                objects.shuffle(using: &random)
                hasRead = hasRead || !objects.isEmpty
                try perform(index) { replica, now in replica.received(objects, at: now) }
            case .changed: break
            case .found(let finding): machines[index].findings.insert(finding)
            }
        }
    }

    private mutating func publish(_ name: ObjectName, _ bytes: Data, of index: Int, beside isBeside: Bool) throws {
        let outcome = carrier.publish(name, bytes, beside: isBeside)
        if case .created = outcome { try archive.add(name, bytes, by: machines[index].replica) }
        try perform(index) { replica, now in replica.published(name, outcome, at: now) }
    }

    /// Applies what the carrier has, as an exchange does.
    mutating func fetchAll(_ index: Int) throws -> Listing {
        var listing = carrier.listing
        machines[index].findings = []
        for _ in 0..<8 {
            let shown = listing
            hasRead = false
            try perform(index) { replica, now in replica.listed(shown, at: now) }
            if !hasRead { break }
            listing = carrier.listing
        }
        let last = listing
        try perform(index) { replica, _ in replica.conclude(last) }
        return last
    }
}
