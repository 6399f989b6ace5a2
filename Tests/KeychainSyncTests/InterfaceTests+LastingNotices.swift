// SPDX-License-Identifier: Apache-2.0
// Notices of what lasts, and none of machines that have done nothing wrong.

import Foundation
import KeychainTestSupport
import KeychainVault
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

extension InterfaceTests {
    private func since(_ kind: NoticeKind, _ machine: Machine) async throws -> [UInt64] {
        try await machine.member.status().notices.filter { $0.kind == kind.rawValue }.map(\.since)
    }

    /// With and without a head to publish, an exchange ends in different steps.
    @Test(arguments: [61_000, Observations.betweenHeads])
    func withheldChange_foundAgain_keepsItsDate(_ interval: UInt64) async throws {
        let (laptop, desktop) = try await world.synced()
        try laptop.update("a", "2")
        world.advance(61_000)
        try await laptop.exchange()
        let last = try await world.segments(laptop).last
        try await world.view(desktop).withhold { $0 == last }
        try await desktop.exchange()
        world.advance(Observations.grace)
        try await desktop.exchange()
        let first = try await since(.withheld, desktop)
        world.advance(interval)
        try await desktop.exchange()
        #expect(first.count == 1)
        #expect(try await since(.withheld, desktop) == first)
    }

    @Test func refusedObject_foundAgain_keepsItsDate() async throws {
        let (laptop, sync, _) = try await pairWithAForgery()
        try await sync.now()
        let first = try await since(.refused, laptop)
        world.advance(61_000)
        try await sync.now()
        #expect(!first.isEmpty)
        #expect(try await since(.refused, laptop) == first)
    }

    /// The folder was full: the machine has stored its snapshot, and the folder has never had it.
    @Test func snapshot_thatCouldNotBePublished_isNotCalledGone() async throws {
        let (laptop, desktop) = try await world.synced()
        try await world.settle(desktop, laptop)
        var report = ExchangeReport()
        _ = try await laptop.member.take(&report) { state, now in
            _ = try state.replica.snapshot(at: now)
            return []
        }
        // Another process goes on.
        let found = try await RingMember(laptop.vault, kinds: laptop.member.kinds).exchange().findings
        #expect(!found.contains { if case .snapshotMissing = $0 { true } else { false } })
    }

    /// What it has published since the backup and what it publishes now have other numbers.
    @Test func machineRestoredFromABackup_isNotCalledACopy() async throws {
        let (laptop, desktop) = try await world.synced()
        let backup = world.folder.path + "/vault.backup"
        try laptop.vault.backup(to: backup)
        try laptop.update("a", "2")
        try await world.settle(laptop, desktop)
        for number in 0..<2 {
            _ = try laptop.vault.restore(from: backup)
            for value in ["3", "4"] {
                try laptop.update("a", "\(number)\(value)")
                world.advance(61_000)
                try await laptop.exchange()
                #expect(try await !desktop.exchange().tellsOfACopy)
            }
        }
        let member = try await world.replica(laptop).member
        let (known, head) = (
            try await world.replica(desktop).observations.heads[member]?.number,
            try await world.replica(laptop).lastHead.number
        )
        #expect(known == head)
    }
}
