// SPDX-License-Identifier: Apache-2.0
// Vaults in a ring, each over a carrier of its own that attacks it.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import KeychainVault
import SecretMemory
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

final class HostileWorld: Sendable {
    let folder: TemporaryFolder
    /// How far the clocks of the machines are ahead, in milliseconds.
    private let ahead = Guarded<UInt64>(0)
    /// By the name of the machine and the ring.
    private let carriers = Guarded<[String: HostileCarrier]>([:])
    let place: CarrierPlace

    init() throws {
        folder = try TemporaryFolder("keychain-hostile")
        place = .folder(folder.path + "/shared")
        try FileManager.default.createDirectory(atPath: folder.path + "/shared", withIntermediateDirectories: false)
    }

    // MARK: - Machines

    func machine(_ name: String, ahead: UInt64 = 0) throws -> Machine {
        try Machine(folder.path, name, kinds: [Attacking(name: name, world: self)], clock: { self.now + ahead })
    }

    /// In place of the kind of shared folders.
    private struct Attacking: CarrierKind {
        let scheme = "folder"
        let name: String
        let world: HostileWorld

        func rings(at place: CarrierPlace) async throws(CarrierFailure) -> [RingID] {
            try await FolderCarrier.rings(in: place.address)
        }

        func carrier(of ring: RingID, at place: CarrierPlace) throws(CarrierFailure) -> any Carrier {
            world.carrier(of: name, ring)
        }
    }

    private func carrier(of name: String, _ ring: RingID) -> HostileCarrier {
        carriers.withLock { carriers in
            let key = name + ring.hex
            let carrier = carriers[key] ?? HostileCarrier(over: base(ring))
            carriers[key] = carrier
            return carrier
        }
    }

    var shared: String { folder.path + "/shared" }

    func base(_ ring: RingID) -> FolderCarrier { FolderCarrier(shared, ring: ring) }

    /// What a machine sees of its ring.
    func view(_ machine: Machine) async throws -> HostileCarrier {
        carrier(of: machine.name, try await replica(machine).log.id)
    }

    /// What a machine that is in no ring yet sees of one.
    func view(of name: String, _ ring: RingID) -> HostileCarrier { carrier(of: name, ring) }

    func founder() async throws -> Machine {
        let laptop = try machine("laptop")
        _ = try await laptop.member.found(name: "laptop", at: place)
        return laptop
    }

    func join(
        _ name: String, by sponsor: Machine, as role: Role = .device, ahead: UInt64 = 0
    ) async throws -> Machine {
        let machine = try machine(name, ahead: ahead)
        try await sponsor.admit(machine, at: place, as: role)
        return machine
    }

    func pair() async throws -> (Machine, Machine) {
        let laptop = try await founder()
        return (laptop, try await join("desktop", by: laptop))
    }

    /// Both have the item, and both know the other's head.
    func synced() async throws -> (Machine, Machine) {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await settle(laptop, desktop)
        return (laptop, desktop)
    }

    /// Everything has come everywhere, and every machine has published a head.
    func settle(_ machines: Machine...) async throws {
        for _ in 0..<2 {
            advance(61_000)
            for machine in machines { try await machine.exchange() }
        }
    }

    /// - Parameter interval: In milliseconds.
    func advance(_ interval: UInt64) { ahead.withLock { $0 += interval } }

    var now: UInt64 { RingMember.systemTime() + ahead.withLock { $0 } }

    // MARK: - What a machine holds, and what changed software could do with it

    func replica(_ machine: Machine) async throws -> Replica {
        var report = ExchangeReport()
        return try await machine.member.take(&report) { _, _ in [] }.state.replica
    }

    /// Changes the machine's state in the ring, and publishes what follows.
    func act(
        _ machine: Machine, _ body: @escaping @Sendable (inout Replica, UInt64) throws -> [Effect]
    ) async throws {
        var report = ExchangeReport()
        let step = try await machine.member.take(&report) { state, now in try body(&state.replica, now) }
        _ = try await machine.member.carryOut(step.effects, machine.member.carrier(of: step.state), &report)
    }

    /// What is there, without any script.
    func objects(_ machine: Machine) async throws -> HostileCarrier.Objects { try await view(machine).objects() }

    /// The names of a machine's segments, in order.
    func segments(_ machine: Machine) async throws -> [ObjectName] {
        let writer = try await replica(machine).writer
        return try await objects(machine).keys.filter {
            if case .segment(writer, _) = $0 { true } else { false }
        }.sorted()
    }

    func names(
        _ machine: Machine, where isWanted: (ObjectName) -> Bool
    ) async throws -> [ObjectName] {
        try await objects(machine).keys.filter(isWanted).sorted()
    }

    func content(_ name: ObjectName, _ machine: Machine) async throws -> Data {
        try #require(try await objects(machine)[name]?.first)
    }

    func remove(_ machine: Machine, by other: Machine) async throws {
        let member = try await replica(machine).member
        _ = try await other.member.remove([member])
    }
}

extension Replica {
    /// A segment that this machine could sign, whatever it says.
    ///
    /// - Parameters:
    ///   - owner: The machine whose log it continues; `nil`: this one.
    ///   - epoch: The keys that seal it; `nil`: those of the present epoch.
    func segment(
        _ entries: [Batch.Entry], contexts: [VersionVector] = [VersionVector()],
        vector: VersionVector = VersionVector(), in owner: Replica? = nil, epoch: EpochKeys? = nil
    ) throws -> (name: ObjectName, bytes: Data) {
        let (owner, epoch) = (owner ?? self, try epoch ?? keyring.keys(of: ring.current))
        let tip = owner.logs[owner.writer]?.tip
        let (after, number) = (tip?.counter ?? 0, (tip?.number ?? 0) + 1)
        let batch = Batch(
            writer: owner.writer, after: after, through: after + UInt64(max(1, entries.count)), time: .zero,
            vector: vector, contexts: contexts, entries: entries)
        let header = SegmentHeader(
            ring: log.id, epoch: epoch.id, writer: owner.writer, number: number, previous: tip?.hash ?? .zero)
        let body = SegmentBody(continues: false, author: owner.member, tips: log.tips, piece: batch.bytes)
        return (.segment(owner.writer, number), try body.sealed(header, keys: epoch, signer: keys))
    }

    /// A record as this machine's next write.
    func record(_ item: Item, counter: UInt64) throws -> SealedRecord {
        let header = RecordHeader(
            kind: .value, item: keyring.ring.item(SharedItem.primaryKey(item)),
            dot: Dot(writer: writer, counter: (logs[writer]?.tip.counter ?? 0) + counter), time: clock,
            accessibility: 6, context: RecordHeader.digest(of: VersionVector()))
        return try SealedRecord.seal(
            SharedItem.encode(item), header, author: member, ring: log.id,
            keys: try keyring.keys(of: ring.current), signer: keys)
    }
}

extension ExchangeReport {
    /// The names of objects that were refused, with the reason.
    func refused(_ refusal: Refusal) -> [ObjectName] {
        findings.compactMap { if case .refused(let name, refusal) = $0 { name } else { nil } }
    }

    var refused: Set<ObjectName> {
        Set(findings.compactMap { if case .refused(let name, _) = $0 { name } else { nil } })
    }

    func missesWrites(of writer: WriterID) -> Bool {
        findings.contains { if case .withheld(writer, _) = $0 { true } else { false } }
    }

    func sawLogGoBack(of writer: WriterID) -> Bool {
        findings.contains { if case .logWentBack(writer, _, _) = $0 { true } else { false } }
    }

    /// Whether a machine seems to have been copied.
    var tellsOfACopy: Bool {
        findings.contains {
            switch $0 {
            case .equivocation, .startedAgain: true
            default: false
            }
        }
    }
}
