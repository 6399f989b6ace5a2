// SPDX-License-Identifier: Apache-2.0
// One run: machines over carriers, everything that can go wrong, and in the end the comparison with the oracle.

import Foundation
import KeychainSyncCore

/// A deterministic simulation: one seed, one run, virtual time.
package struct Simulation {
    package struct Counts: Sendable {
        package var values: [String: Int] = [:]

        package init() {}

        mutating func add(_ name: String, _ count: Int = 1) { values[name, default: 0] += count }

        package mutating func add(_ other: Counts) { values.merge(other.values, uniquingKeysWith: +) }
    }

    private let seed: UInt64
    var random: SeededRandom
    /// Its own, so that the seeds of earlier failures keep their meaning.
    private var reloading: SeededRandom
    let keys: Randomness
    var devices: [SimulatedDevice] = []
    /// One for all, or one folder for each machine.
    var carriers: [SimulatedCarrier] = []
    var archive = Archive()
    var counts = Counts()
    var now: UInt64 = 1_700_000_000_000
    private var writes: UInt64 = 0
    private var oldCarriers: [SimulatedCarrier]?
    private let hasFolders: Bool
    private let items: Int
    /// Whether a machine may be restored without being told.
    var hasImages = false

    package init(seed: UInt64) throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        reloading = SeededRandom(seed: ~seed)
        keys = SeededRandom.randomness(seed: seed &+ 1 << 32)
        hasFolders = random.chance(0.4)
        items = random.pick([1, 2, 6])
        let (replica, effects) = try Replica.founding(name: "0", keys: .make(keys), keys)
        carriers = [SimulatedCarrier()]
        devices = [SimulatedDevice(disk: .init(replica: replica), carrier: 0, skew: 0)]
        try carryOut(effects, of: 0, .never)
        for _ in 1..<random.pick([2, 2, 3, 4]) { try join() }
    }

    /// - Returns: What happened, for statistics.
    package static func run(seed: UInt64) throws -> Counts {
        var simulation = try Simulation(seed: seed)
        do {
            for step in 0..<simulation.random.pick([30, 80]) { try simulation.step(step) }
            try simulation.settle()
            try simulation.compare()
            try simulation.admitOneMore()
            try simulation.compare()
        } catch {
            throw Violation(description: "seed \(seed): \(error)")
        }
        return simulation.counts
    }

    // MARK: - Steps

    mutating func step(_ step: Int) throws {
        now += UInt64.random(in: 1...5000, using: &random)
        let index = Int.random(in: 0..<devices.count, using: &random)
        if random.chance(0.02) { devices[index].awayUntil = step + Int.random(in: 5...40, using: &random) }
        let isAway = devices[index].awayUntil > step
        switch Double.random(in: 0..<1, using: &random) {
        case ..<0.38: try write(index)
        case ..<0.55 where !isAway: try upload(index, crash())
        case ..<0.84 where !isAway: try look(index, crash(), hides: 0.1)
        case ..<0.88: propagate()
        case ..<0.92 where !isAway: try snapshot(index, crash())
        case ..<0.94 where !isAway: try writeHead(index)
        default: try disturb(index)
        }
    }

    private mutating func crash() -> Crash {
        guard random.chance(0.15) else { return .never }
        counts.add("crashes")
        return random.chance(0.3) ? .beforeStoring : .afterEffects(Int.random(in: 0...3, using: &random))
    }

    private mutating func disturb(_ index: Int) throws {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: oldCarriers = carriers
        case 1: rollBack()
        case 2: lose()
        case 3: devices[index].backup = devices[index].disk
        case 4: restore(index)
        case 5: try remove(index)
        case 6: try rotate(index)
        case 7: if devices.count < 6 { try join() }
        default: propagate()
        }
    }

    mutating func write(_ index: Int) throws {
        let replica = devices[index].disk.replica
        guard replica.ring.mayWrite(replica.member) else { return }
        var local: [LocalWrite] = []
        for name in Set(
            (0..<random.pick([1, 1, 1, 2, 3])).map { _ in UInt8.random(in: 0..<UInt8(items), using: &random) }
        )
        .sorted() {
            let item = replica.keyring.ring.item([name])
            writes += 1
            let content = withUnsafeBytes(of: writes.bigEndian) { Array($0) }
            local.append(
                LocalWrite(
                    item: item,
                    random.chance(0.3) ? .deletion : .value(content, accessibility: random.pick([6, 7, 8]))))
        }
        let clock = devices[index].clock(now)
        let changes = try devices[index].disk.replica.commit(local, at: clock)
        for change in changes { if change.shown == nil { counts.add("deletions") } else { counts.add("writes") } }
        for write in local {
            guard case .value(let content, _) = write.content else { continue }
            devices[index].disk.acknowledged[content.reduce(0) { $0 << 8 | UInt64($1) }] = write.item
        }
    }

    mutating func upload(_ index: Int, _ crash: Crash) throws {
        let replica = devices[index].disk.replica
        guard replica.ring.mayWrite(replica.member) else { return }
        try perform(index, crash) { replica, clock in
            let effects = try replica.seal(at: clock)
            guard effects.isEmpty || !replica.ring.isCurrentKnownToRemoved else {
                throw Violation(description: "sealed with keys that a removed machine has")
            }
            return effects
        }
    }

    private mutating func writeHead(_ index: Int) throws {
        let replica = devices[index].disk.replica
        guard replica.ring.isActive(replica.member) else { return }
        try perform(index, .never) { replica, clock in try replica.head(at: clock) }
    }

    /// - Parameter hides: How much of the carrier is not shown.
    mutating func look(_ index: Int, _ crash: Crash, hides: Double) throws {
        let objects = carriers[devices[index].carrier].objects
        var names = objects.keys.sorted()
        if hides > 0, random.chance(0.3) { names = names.filter { _ in !random.chance(hides) } }
        // Otherwise what lies in the place of something else is found by reading.
        let contents = hasImages ? objects.mapValues { [ListedContent($0)] as Set } : [:]
        let listing = Listing(names: Set(names), contents: contents)
        try perform(index, crash) { replica, clock in replica.listed(listing, at: clock) }
    }

    mutating func snapshot(_ index: Int, _ crash: Crash) throws {
        let replica = devices[index].disk.replica
        guard replica.ring.mayWrite(replica.member), replica.isPublished else { return }
        counts.add("snapshots")
        try perform(index, crash) { replica, clock in try replica.snapshot(at: clock) }
    }

    /// Tells a machine something, stores it, and carries out the effects, up to where the machine dies.
    mutating func perform(_ index: Int, _ crash: Crash, _ body: (inout Replica, UInt64) throws -> [Effect]) throws {
        var replica = devices[index].disk.replica
        let effects: [Effect]
        do {
            effects = try body(&replica, devices[index].clock(now))
        } catch Refusal.noKey {
            // The wrap of a new epoch has not come yet.
            return counts.add("without keys")
        }
        if case .beforeStoring = crash { return }
        devices[index].disk.replica = reloading.chance(0.02) ? try reloaded(replica) : replica
        try carryOut(effects, of: index, crash)
    }

    /// The process ends, and another one continues with the stored state.
    private mutating func reloaded(_ replica: Replica) throws -> Replica {
        counts.add("reloads")
        let stored = replica.changes(since: nil).written
        let copy = try Replica(
            stored: stored, keys: replica.keys, former: replica.former, keyring: replica.keyring, keys)
        guard copy.changes(since: nil).written == stored else { throw Violation(description: "what is loaded differs") }
        return copy
    }

    private mutating func carryOut(_ effects: [Effect], of index: Int, _ crash: Crash) throws {
        var left = Int.max
        if case .afterEffects(let count) = crash { left = count }
        for effect in effects.prefix(left) {
            let carrier = devices[index].carrier
            switch effect {
            case .write(let name, let bytes), .writeBeside(let name, let bytes):
                let outcome = carriers[carrier].publish(name, bytes)
                let isThere = if case .otherThere = outcome { false } else { true }
                // What a machine that does not know of its restoration writes has two meanings.
                if isThere, !hasImages { try archive.add(name, bytes, by: devices[index].disk.replica) }
                if left == .max || random.chance(0.5) {
                    try perform(index, .never) { replica, clock in replica.published(name, outcome, at: clock) }
                }
            case .remove(let names): carriers[carrier].remove(names)
            case .read(let names):
                var objects = names.compactMap { name in carriers[carrier].objects[name].map { (name, $0) } }
                objects.shuffle(using: &random)
                if random.chance(0.2) { objects += objects }
                try perform(index, .never) { replica, clock in replica.received(objects, at: clock) }
            case .changed(let changes): counts.add("conflicts", changes.filter { !$0.others.isEmpty }.count)
            case .found(let finding): counts.add("found \(String(describing: finding).prefix { $0 != "(" })")
            }
        }
    }

    // MARK: - Machines and carriers

    private mutating func join() throws { try join(by: Int.random(in: 0..<devices.count, using: &random)) }

    mutating func join(by sponsor: Int) throws {
        let replica = devices[sponsor].disk.replica
        guard replica.ring.mayWrite(replica.member), replica.keyring.roots[replica.ring.current] != nil else { return }
        let device = DeviceKeys.make(keys)
        let card = MemberCard(role: .device, keys: try device.publicKeys(), name: "\(devices.count)")
        try perform(sponsor, .never) { replica, _ in try replica.admit(card) }
        // What the carrier lost in the meantime the sponsor puts back.
        try look(sponsor, .never, hides: 0)
        let objects = carriers[devices[sponsor].carrier].objects.sorted { $0.key < $1.key }
        let opened: OpenedRing
        do {
            opened = try OpenedRing(
                replica.log.id, tips: devices[sponsor].disk.replica.log.tips, for: device,
                wraps: objects.compactMap { if case .wrap = $0.key { $0.value } else { nil } },
                entries: objects.compactMap { if case .entry = $0.key { $0.value } else { nil } })
        } catch {
            // The carrier shows an epoch that the sponsor does not know yet, or its removal. The machine gives up.
            guard error == Refusal.noKey || error == Refusal.notAMember else { throw error }
            return counts.add("joins given up")
        }
        let joined = try Replica(keys: device, log: opened.log, keyring: opened.keyring, keys)
        let year: Int64 = 365 * 86_400_000
        let skew = random.pick([0, Int64.random(in: -9999...9999, using: &random), 10 * year, -10 * year])
        if hasFolders { carriers.append(SimulatedCarrier()) }
        devices.append(
            SimulatedDevice(disk: .init(replica: joined), carrier: carriers.count - 1, skew: skew))
        counts.add("joins")
    }

    private mutating func remove(_ index: Int) throws {
        let target = Int.random(in: 0..<devices.count, using: &random)
        let replica = devices[index].disk.replica
        let member = devices[target].disk.replica.member
        guard target != index, random.chance(0.5), replica.ring.mayWrite(replica.member), replica.ring.isActive(member),
            devices.filter({ !$0.isRemoved }).count > 2
        else { return }
        try perform(index, .never) { replica, clock in try replica.remove([member], at: clock) }
        counts.add("removals")
    }

    private mutating func rotate(_ index: Int) throws {
        let replica = devices[index].disk.replica
        guard replica.ring.mayWrite(replica.member), replica.ring.epochs.count < 6 else { return }
        try perform(index, .never) { replica, _ in try replica.rotate() }
        counts.add("rotations")
    }

    private mutating func rollBack() {
        guard let oldCarriers else { return }
        for index in oldCarriers.indices { carriers[index] = oldCarriers[index] }
        counts.add("rollbacks")
    }

    private mutating func lose() {
        guard random.chance(0.3) else { return }
        for index in carriers.indices where !hasFolders || random.chance(0.5) { carriers[index].lose() }
        counts.add("losses")
    }

    /// The disk as it once was. Something outside of it tells the machine, as an anchor does.
    private mutating func restore(_ index: Int) {
        guard let backup = devices[index].backup else { return }
        devices[index].disk = backup
        let clock = devices[index].clock(now)
        _ = devices[index].disk.replica.startAgain(at: clock)
        counts.add("restores")
    }

    private mutating func propagate() {
        guard carriers.count > 1 else { return }
        let (from, to) = (random.pick(Array(carriers.indices)), random.pick(Array(carriers.indices)))
        carriers[to].receive(from: carriers[from], share: random.pick([0.3, 0.8, 1]), &random)
    }
}
