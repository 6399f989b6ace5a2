// SPDX-License-Identifier: Apache-2.0
// A carrier that goes back in time, or shows every machine something else.

import Foundation
import KeychainCrypto
import KeychainTestSupport
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

extension HostileCarrierTests {
    @Test func carrier_rolledBackForAll_isNoticedAndHealed() async throws {
        let (laptop, desktop) = try await world.synced()
        let old = try await world.objects(laptop)
        for number in 0..<3 {
            try laptop.add("\(number)", "1")
            try await laptop.exchange()
        }
        try desktop.add("d", "1")
        try await world.settle(desktop, laptop)
        try await world.view(laptop).restore(old)
        let writers = (try await world.replica(laptop).writer, try await world.replica(desktop).writer)
        let report = try await laptop.exchange()
        #expect(report.sawLogGoBack(of: writers.0) && report.sawLogGoBack(of: writers.1))
        // By now a snapshot may stand for what was lost.
        try await desktop.exchange()
        for machine in [laptop, desktop] {
            #expect(
                try await !machine.exchange().findings.contains { if case .logWentBack = $0 { true } else { false } })
        }
        let server = try await world.join("server", by: laptop)
        try await server.exchange()
        #expect(try server.items() == ["0=1", "1=1", "2=1", "a=1", "d=1"])
    }

    /// Otherwise the others would be told for hours that its machine went back, whatever they dismiss.
    @Test func head_thatTheCarrierHasLost_isFollowedByAnother() async throws {
        let (laptop, desktop) = try await world.synced()
        let member = try await world.replica(laptop).member
        func heads() async throws -> [ObjectName] {
            try await world.names(desktop) { if case .head(member, _) = $0 { true } else { false } }
        }
        let lost = try await heads()
        try await world.base(world.replica(laptop).log.id).remove(lost)
        #expect(try await !desktop.exchange().findings.isEmpty)
        world.advance(61_000)
        try await laptop.exchange()
        #expect(try await !heads().isEmpty)
        #expect(try await desktop.exchange().findings.isEmpty)
    }

    /// It was too early for another one when the loss was noticed, and nothing else happens.
    @Test func head_lostRightAfterItWasPublished_isFollowedByAnotherWhileTheMachineWatches() async throws {
        let (laptop, _) = try await world.synced()
        let member = try await world.replica(laptop).member
        let carrier = try await world.base(world.replica(laptop).log.id)
        func heads() async throws -> Set<ObjectName> {
            try await carrier.list().names.filter { if case .head(member, _) = $0 { true } else { false } }
        }
        try await world.view(laptop).tellNoChanges()
        try await carrier.remove(Array(heads()))
        let watch = Task { [world] in
            try await laptop.member.watch(pauses: (.seconds(1), .seconds(60), due: .zero)) { _ in world.advance(61_000)
            }
        }
        defer { watch.cancel() }
        try await yieldUntil("it has another head", every: .milliseconds(5)) { try await !heads().isEmpty }
    }

    @Test func machine_thatRepairsItself_isNotCalledRolledBack() async throws {
        let (laptop, desktop) = try await world.synced()
        _ = try await laptop.member.repair()
        #expect(try await desktop.exchange().findings.isEmpty)
    }

    @Test func log_rolledBackAlone_isNoticed() async throws {
        let (laptop, desktop) = try await world.synced()
        for value in ["2", "3"] {
            try laptop.update("a", value)
            try await laptop.exchange()
        }
        try await world.settle(desktop, laptop)
        let (names, writer) = (try await world.segments(laptop), try await world.replica(laptop).writer)
        try await world.view(desktop).withhold { names.dropFirst().contains($0) }
        let findings = try await desktop.exchange().findings
        #expect(findings.contains(.logWentBack(writer, known: 3, shown: 1)))
        #expect(try desktop.items() == ["a=3"])
    }

    @Test func snapshot_olderThanAKnownOne_isNoticed_andBringsNothingBack() async throws {
        let (laptop, desktop) = try await world.synced()
        try await world.act(laptop) { replica, now in try replica.snapshot(at: now) }
        try await world.settle(laptop, desktop)
        let old = try await world.objects(desktop)
        try laptop.delete("a")
        try await laptop.exchange()
        try await world.act(laptop) { replica, now in try replica.snapshot(at: now) }
        try await world.settle(laptop, desktop)
        try await world.view(desktop).rollBack(to: old)
        let report = try await desktop.exchange()
        #expect(report.findings.contains { if case .snapshotMissing = $0 { true } else { false } })
        #expect(try desktop.items() == [])
    }

    @Test func snapshot_withoutAnItem_byARemovedMember_isRefused() async throws {
        let (laptop, desktop) = try await world.synced()
        let server = try await world.join("server", by: laptop)
        try await world.settle(laptop, desktop, server)
        let thief = try await world.replica(server)
        try await world.remove(server, by: laptop)
        let id = SnapshotID.random()
        let keys = try thief.keyring.keys(of: thief.ring.current)
        let header = SnapshotHeader(ring: thief.log.id, epoch: keys.id, id: id)
        let manifest = try SnapshotManifest(
            author: thief.member, tips: thief.log.tips, time: thief.clock, digest: Bytes32(SetSum.zero.bytes), count: 0,
            logs: thief.logs.mapValues(\.tip), parts: []
        ).signed(header, by: thief.keys)
        let forged = try manifest.sealed(header, keys: keys)
        for machine in [laptop, desktop] {
            if machine.name == "desktop" { try await machine.exchange() }
            try await world.view(machine).replay(forged, as: .snapshot(id, part: 0))
            #expect(try await machine.exchange().refused(.notAMember) == [.snapshot(id, part: 0)])
            #expect(try machine.items() == ["a=1"])
        }
    }

    @Test func machines_forked_haveOtherCodesToCompare_andNoticeItByAHead() async throws {
        let (laptop, desktop) = try await world.synced()
        #expect(try await laptop.member.status().compareCode == desktop.member.status().compareCode)
        for machine in [laptop, desktop] { try await world.view(machine).fork() }
        for machine in [laptop, desktop] { try machine.update("a", machine.name) }
        try await world.settle(laptop, desktop)
        #expect(try laptop.items() == ["a=laptop"])
        #expect(try desktop.items() == ["a=desktop"])
        #expect(try await laptop.member.status().compareCode != desktop.member.status().compareCode)
        // A second carrier shows one head, and nothing that it names.
        let seen = try await world.view(laptop).shown().filter { Kind.head.holds($0.key) }
        try await world.view(desktop).flood(seen)
        try await desktop.exchange()
        world.advance(Observations.grace)
        let writer = try await world.replica(laptop).writer
        #expect(try await desktop.exchange().missesWrites(of: writer))
    }

    @Test func machines_whoseForkEnds_haveTheSameItemsAgain() async throws {
        let (laptop, desktop) = try await world.synced()
        for machine in [laptop, desktop] { try await world.view(machine).fork() }
        for machine in [laptop, desktop] { try machine.add(machine.name, "1") }
        try await world.settle(laptop, desktop)
        for machine in [laptop, desktop] { try await world.view(machine).behave() }
        try await world.settle(laptop, desktop)
        for machine in [laptop, desktop] { #expect(try machine.items() == ["a=1", "desktop=1", "laptop=1"]) }
        #expect(try await laptop.member.status().compareCode == desktop.member.status().compareCode)
    }
}
