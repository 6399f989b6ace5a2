// SPDX-License-Identifier: Apache-2.0
// Replicas that are stored in parts, and come back.

import Foundation
import KeychainCrypto
import SecretMemory
import Testing

@testable import KeychainSyncCore

struct StoringTests {
    /// Three machines, of which the second has seen everything there is.
    private func world() throws -> World {
        var world = try World(3)
        try world.write(0, ["a": "1", "b": "2"])
        try world.upload(0)
        world.look(1)
        try world.write(1, ["a": "3", "b": nil])
        try world.upload(1)
        try world.head(1)
        try world.write(2, ["a": "4", "c": "5"])
        try world.upload(2)
        world.look(1)
        try world.snapshot(1)
        _ = world.machines[1].published(.segment(world.machines[1].writer, 1), .created, at: world.now)
        world.look(0)
        world.look(1)
        try world.write(1, ["d": "6", "a": nil])
        return world
    }

    private func stored(_ replica: Replica) -> [PartName: Data] { replica.changes(since: nil).written }

    private func loaded(_ replica: Replica) throws -> Replica {
        try Replica(stored: stored(replica), keys: replica.keys, keyring: replica.keyring)
    }

    @Test(arguments: 0..<3) func replica_storedAndLoaded_isTheSame(_ index: Int) throws {
        let replica = try world().machines[index]
        let copy = try loaded(replica)
        #expect(stored(copy) == stored(replica))
        #expect(copy.changes(since: replica).isEmpty)
        #expect(copy.compareCode == replica.compareCode)
        #expect(copy.ring.counted == replica.ring.counted)
    }

    @Test func replica_loaded_uploadsWhatTheOtherWouldHave() throws {
        var world = try world()
        world.machines[1] = try loaded(world.machines[1])
        try world.upload(1)
        world.look(0)
        #expect(world.machines[0].items.items.contains(world.item("d")))
        #expect(world.machines[0].items.vector.covers(world.machines[1].items.vector))
    }

    @Test func segmentsThatWait_afterLoading_areAppliedOnceTheMissingOneComes() throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        let first = ObjectName.segment(world.machines[0].writer, 1)
        try world.write(0, ["b": "2"])
        try world.upload(0)
        world.look(1) { $0 == first }
        #expect(world.machines[1].items.items.isEmpty)
        world.machines[1] = try loaded(world.machines[1])
        world.look(1)
        #expect(world.machines[1].items.items.count == 2)
    }

    @Test func changes_ofOneWrite_areFewParts() throws {
        var world = try world()
        let before = world.machines[0]
        try world.write(0, ["x": "7"])
        let changes = world.machines[0].changes(since: before)
        #expect(changes.written.count == 3, "\(changes.written.keys)")
        #expect(changes.removed.isEmpty)
    }

    @Test func changes_appliedToWhatWasStored_giveTheNewState() throws {
        var world = try world()
        let before = world.machines[1]
        var parts = stored(before)
        try world.upload(1)
        try world.write(1, ["b": "8", "c": nil])
        let changes = world.machines[1].changes(since: before)
        for name in changes.removed { parts[name] = nil }
        parts.merge(changes.written) { $1 }
        #expect(parts == stored(world.machines[1]))
        #expect(!changes.removed.isEmpty)
    }

    @Test func partNames_readBack_areTheSame() throws {
        for name in stored(try world().machines[1]).keys { #expect(try PartName(name.bytes) == name) }
    }

    @Test func parts_cutShortOrExtended_areRefused() throws {
        let replica = try world().machines[1]
        let parts = stored(replica)
        for (name, bytes) in parts {
            switch name {
            // They are refused where they are used.
            case .wrap, .waiting: continue
            default: break
            }
            for wrong in [bytes.dropLast(), Data(), bytes.prefix(bytes.count / 2)] {
                var parts = parts
                parts[name] = Data(wrong)
                if case .own = name, wrong.count > 200 { continue }
                #expect(throws: Refusal.self, "\(name) \(wrong.count)") {
                    try Replica(stored: parts, keys: replica.keys, keyring: replica.keyring)
                }
            }
        }
    }

    @Test func parts_withoutTheCore_areRefused() throws {
        let replica = try World(1).machines[0]
        var parts = stored(replica)
        parts[.core] = nil
        #expect(throws: Refusal.malformed) {
            try Replica(stored: parts, keys: replica.keys, keyring: replica.keyring)
        }
    }

    @Test func keys_storedAndLoaded_openWhatTheyOpened() throws {
        let replica = try world().machines[2]
        var bytes = StoredKeys(device: replica.keys, keyring: replica.keyring).bytes()
        defer { bytes.wipe() }
        let keys = try StoredKeys(bytes.bytes)
        let copy = try Replica(stored: stored(replica), keys: keys.device, keyring: keys.keyring)
        #expect(copy.member == replica.member)
        for record in copy.items.records { #expect(try copy.open(record) == replica.open(record)) }
        #expect(throws: Refusal.malformed) { try StoredKeys(bytes.bytes.dropLast()) }
        #expect(throws: Refusal.newerFormat) { try StoredKeys([3] + bytes.bytes.dropFirst()) }
    }

    /// As many as are kept, and no more.
    @Test func formerKeys_storedAndLoaded_areThere() throws {
        var replica = try world().machines[2]
        var members: [MemberID] = []
        for time in 1...UInt64(Bounds.formerKeys + 1) {
            members.append(replica.member)
            _ = try replica.renewIdentity(at: time)
        }
        var bytes = StoredKeys(device: replica.keys, former: replica.former, keyring: replica.keyring).bytes()
        defer { bytes.wipe() }
        let keys = try StoredKeys(bytes.bytes)
        #expect(keys.former.map(\.member) == members.suffix(Bounds.formerKeys))
        for (read, former) in zip(keys.former, replica.former) {
            #expect(read.wrapping.withUnsafeBytes(Array.init) == former.wrapping.withUnsafeBytes(Array.init))
        }
        for count in [1, 48 * Bounds.formerKeys] {
            #expect(throws: Refusal.self) { try StoredKeys(Array(bytes.bytes.prefix(1 + 32 * 4 + count))) }
        }
    }
}
