// SPDX-License-Identifier: Apache-2.0
// Machines over one carrier that does what a test tells it to.

import Foundation
import KeychainCrypto

@testable import KeychainSyncCore

/// The first machine founds the ring, and lets the others in.
struct World {
    var machines: [Replica] = []
    var carrier: [ObjectName: Data] = [:]
    /// What lies beside an object of the same name.
    var beside: [ObjectName: [Data]] = [:]
    var findings: [[Finding]] = []
    var changes: [[ItemChange]] = []
    var now: UInt64 = 1_700_000_000_000

    init(_ count: Int) throws {
        let (founder, effects) = try Replica.founding(name: "0", keys: .make())
        (machines, findings, changes) = ([founder], [[]], [[]])
        carryOut(effects, 0)
        for _ in 1..<max(1, count) { try join() }
    }

    mutating func join(as role: Role = .device) throws {
        let keys = DeviceKeys.make()
        let card = MemberCard(role: role, keys: try keys.publicKeys(), name: "\(machines.count)")
        carryOut(try machines[0].admit(card), 0)
        let opened = try OpenedRing(
            machines[0].log.id, tips: [], for: keys,
            wraps: carrier.compactMap { if case .wrap = $0.key { $0.value } else { nil } },
            entries: carrier.compactMap { if case .entry = $0.key { $0.value } else { nil } })
        machines.append(try Replica(keys: keys, log: opened.log, keyring: opened.keyring))
        findings.append([])
        changes.append([])
    }

    func item(_ name: String) -> SyncID { machines[0].keyring.ring.item(Array(name.utf8)) }

    mutating func write(_ index: Int, _ values: [String: String?]) throws {
        now += 1000
        let writes = values.sorted { $0.key < $1.key }.map { name, value in
            LocalWrite(
                item: item(name), value.map { .value(Array($0.utf8), accessibility: 6) } ?? .deletion)
        }
        _ = try machines[index].commit(writes, at: now)
    }

    mutating func upload(_ index: Int) throws { carryOut(try machines[index].seal(at: now), index) }

    mutating func snapshot(_ index: Int) throws { carryOut(try machines[index].snapshot(at: now), index) }

    mutating func head(_ index: Int) throws { carryOut(try machines[index].head(at: now), index) }

    /// All of one name.
    func contents(_ name: ObjectName) -> [Data] { (carrier[name].map { [$0] } ?? []) + (beside[name] ?? []) }

    func listing(hiding: (ObjectName) -> Bool = { _ in false }) -> Listing {
        let names = Set(carrier.keys).union(beside.keys).filter { !hiding($0) }
        let listed = names.map { ($0, Set(contents($0).map { ListedContent($0) })) }
        return Listing(names: names, contents: Dictionary(uniqueKeysWithValues: listed))
    }

    /// Looks until nothing more is to be fetched.
    mutating func look(_ index: Int, hiding: (ObjectName) -> Bool = { _ in false }) {
        for _ in 0..<4 {
            let listing = listing(hiding: hiding)
            carryOut(machines[index].listed(listing, at: now), index, hiding: hiding)
        }
        carryOut(machines[index].conclude(listing(hiding: hiding)), index)
    }

    mutating func give(_ index: Int, _ name: ObjectName, _ bytes: Data) {
        carryOut(machines[index].received([(name, bytes)], at: now), index)
    }

    mutating func carryOut(_ effects: [Effect], _ index: Int, hiding: (ObjectName) -> Bool = { _ in false }) {
        for effect in effects {
            switch effect {
            case .write(let name, let bytes):
                let there = contents(name)
                if there.isEmpty { carrier[name] = bytes }
                let outcome: Publication = there.isEmpty ? .created : there.contains(bytes) ? .alreadySame : .otherThere
                carryOut(machines[index].published(name, outcome, at: now), index, hiding: hiding)
            case .writeBeside(let name, let bytes):
                if !contents(name).contains(bytes) { beside[name, default: []].append(bytes) }
                carryOut(machines[index].published(name, .created, at: now), index, hiding: hiding)
            case .remove(let names): for name in names { (carrier[name], beside[name]) = (nil, nil) }
            case .found(let finding): findings[index].append(finding)
            case .changed(let new): changes[index] += new
            case .read(let names):
                let objects = names.filter { !hiding($0) }.flatMap { name in contents(name).map { (name, $0) } }
                carryOut(machines[index].received(objects, at: now), index, hiding: hiding)
            }
        }
    }

    /// What is shown of an item.
    func shown(_ index: Int, _ name: String) throws -> String? {
        try machines[index].items[item(name)].shown.map {
            String(decoding: try machines[index].open($0), as: UTF8.self)
        }
    }

    func others(_ index: Int, _ name: String) throws -> [String] {
        try machines[index].items[item(name)].others.map {
            String(decoding: try machines[index].open($0), as: UTF8.self)
        }
    }

    /// Writes an item several times, each time in a segment of its own.
    mutating func upload(_ index: Int, _ values: [String], of item: String) throws {
        for value in values {
            try write(index, [item: value])
            try upload(index)
        }
    }

    func segments(of index: Int) -> [ObjectName] {
        carrier.keys.filter { if case .segment(machines[index].writer, _) = $0 { true } else { false } }.sorted()
    }
}
