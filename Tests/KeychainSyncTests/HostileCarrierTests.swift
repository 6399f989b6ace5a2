// SPDX-License-Identifier: Apache-2.0
// What a carrier does to logs and snapshots: attacks 3 to 13 and 35 of Docs/THREATS.md, over real vaults.

import Foundation
import KeychainTestSupport
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

struct HostileCarrierTests {
    let world: HostileWorld

    init() throws { world = try HostileWorld() }

    // MARK: - Changed objects

    @Test func segments_withEachOthersNames_areRefused() async throws {
        let (laptop, desktop) = try await world.pair()
        for value in ["1", "2"] {
            if value == "1" { try laptop.add("a", value) } else { try laptop.update("a", value) }
            try await laptop.exchange()
        }
        let names = try await world.segments(laptop)
        let view = try await world.view(desktop)
        view.swap(names[0], names[1])
        #expect(try await Set(desktop.exchange().refused(.wrongName)) == Set(names))
        #expect(try desktop.items() == [])
        view.behave()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=2"])
    }

    enum Kind: CaseIterable {
        case entry, wrap, segment, snapshot, part, head

        func holds(_ name: ObjectName) -> Bool {
            switch (self, name) {
            case (.entry, .entry), (.wrap, .wrap), (.segment, .segment), (.head, .head): true
            case (.snapshot, .snapshot(_, let part)): part == 0
            case (.part, .snapshot(_, let part)): part > 0
            default: false
            }
        }

        /// What would bring the same items in another way.
        func isShownWithout(_ name: ObjectName) -> Bool {
            switch (self, name) {
            case (.segment, .snapshot), (.snapshot, .segment), (.part, .segment): true
            default: false
            }
        }
    }

    @Test(.timeLimit(.minutes(60)), arguments: Kind.allCases)
    func object_withAnyOfItsBytesChanged_isNotUsed(_ kind: Kind) async throws {
        let (laptop, desktop) = try await world.pair()
        try await world.settle(laptop, desktop)
        let before = Set(try await world.objects(desktop).keys)
        try await world.act(laptop) { replica, _ in try replica.rotate() }
        try laptop.add("a", "1")
        world.advance(61_000)
        try await laptop.exchange()
        try await world.act(laptop) { replica, now in try replica.snapshot(at: now) }
        let (view, objects) = (try await world.view(desktop), try await world.objects(desktop))
        let member = try await world.replica(desktop).member
        let new = objects.filter { name, _ in
            if case .wrap(_, let recipient) = name, recipient != member { return false }
            return kind.holds(name) && !before.contains(name)
        }
        #expect(!new.isEmpty)
        view.withhold { kind.isShownWithout($0) }
        for (name, contents) in new { view.forge(name, contents.flatMap(Self.changed)) }
        let heads = try await world.replica(desktop).observations.heads
        let report = try await desktop.exchange()
        #expect(Set(new.keys).isSubset(of: report.refused))
        if kind == .head {
            #expect(try await world.replica(desktop).observations.heads == heads)
        } else {
            #expect(try desktop.items() == [])
        }
        view.behave()
        for _ in 0..<2 { try await desktop.exchange() }
        #expect(try desktop.items() == ["a=1"])
        #expect(try await world.replica(desktop).ring.current == world.replica(laptop).ring.current)
    }

    /// One copy for each byte, with another bit of it changed.
    private static func changed(_ bytes: Data) -> [Data] {
        bytes.indices.map { index in
            var copy = bytes
            copy[index] ^= 1 << UInt8(index % 8)
            return copy
        }
    }

    @Test func object_cutShort_isNotUsedUntilItIsWhole() async throws {
        let (laptop, desktop) = try await world.pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        let (view, name) = (try await world.view(desktop), try #require(try await world.segments(laptop).first))
        for count in [0, 1, 105, 500, 1023] {
            view.truncate(name, to: count)
            #expect(try await desktop.exchange().refused.contains(name))
            #expect(try desktop.items() == [])
            view.behave()
        }
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1"])
    }

    // MARK: - Withheld objects

    @Test func endOfALog_hiddenFromWhoKnowsIt_isNoticedAtOnce() async throws {
        let (laptop, desktop) = try await world.synced()
        let last = try #require(try await world.segments(laptop).last)
        try await world.view(desktop).withhold { $0 == last }
        let writer = try await world.replica(laptop).writer
        #expect(try await desktop.exchange().sawLogGoBack(of: writer))
        #expect(try desktop.items() == ["a=1"])
    }

    @Test func endOfALog_hiddenFromWhoDoesNotKnowIt_isNoticedAfterTheGrace() async throws {
        let (laptop, desktop) = try await world.synced()
        try laptop.update("a", "2")
        world.advance(61_000)
        try await laptop.exchange()
        let (last, writer) = (try await world.segments(laptop).last, try await world.replica(laptop).writer)
        try await world.view(desktop).withhold { $0 == last }
        #expect(try await !desktop.exchange().missesWrites(of: writer))
        world.advance(Observations.grace)
        #expect(try await desktop.exchange().missesWrites(of: writer))
        #expect(try desktop.items() == ["a=1"])
    }

    /// The middle of a log, and its start while no snapshot stands for it.
    @Test(arguments: [0, 1]) func partOfALog_hidden_holdsBackTheRest_andIsNoticed(_ hidden: Int) async throws {
        let (laptop, desktop) = try await world.pair()
        try await world.settle(laptop, desktop)
        let view = try await world.view(desktop)
        for number in 0..<3 {
            try laptop.add("\(number)", "1")
            world.advance(61_000)
            try await laptop.exchange()
        }
        let (names, writer) = (try await world.segments(laptop), try await world.replica(laptop).writer)
        view.withhold { $0 == names[hidden] }
        try await desktop.exchange()
        #expect(try desktop.items().count == hidden)
        world.advance(Observations.grace)
        #expect(try await desktop.exchange().missesWrites(of: writer))
        view.behave()
        #expect(try await !desktop.exchange().missesWrites(of: writer))
        #expect(try desktop.items().count == 3)
    }

    /// What follows it waits. No head tells that something is missing, and each exchange may be one of another process.
    @Test func entryOfTheRing_hidden_isNoticedAfterTheGrace_byWhatFollowsIt() async throws {
        let (laptop, desktop) = try await world.synced()
        let (known, replica) = (Set(try await world.objects(laptop).keys), try await world.replica(laptop))
        let tip = try #require(replica.logs[replica.writer]?.tip)
        try await world.act(laptop) { replica, _ in
            let entry = try replica.log.append(
                .policy(.groups(["default"])), author: replica.member, signer: replica.keys)
            return try replica.store([entry])
        }
        try laptop.update("a", "2")
        try await laptop.exchange()
        let view = try await world.view(desktop)
        view.withhold { !known.contains($0) && (Kind.entry.holds($0) || Kind.head.holds($0)) }
        let finding = SyncFinding.stalled(replica.writer, number: tip.number + 1)
        #expect(try await !desktop.exchange().findings.contains(finding))
        world.advance(Observations.grace)
        #expect(try await world.machine("desktop").exchange().findings.contains(finding))
        let text = finding.text(MachineNames(replica))
        #expect(try await desktop.member.status().notices.contains { $0.message == text })
        #expect(try desktop.items() == ["a=1"])
        view.behave()
        #expect(try await !desktop.exchange().findings.contains(finding))
        #expect(try desktop.items() == ["a=2"])
    }

    /// The addition of the machine under its new keys, the removal of the former one, or the new epoch.
    @Test(arguments: 0..<3) func entryOfNewKeys_hidden_isNoticedAfterTheGrace(_ number: Int) async throws {
        let (laptop, desktop) = try await world.synced()
        let known = Set(try await world.objects(laptop).keys)
        try await world.act(laptop) { replica, now in try replica.renewIdentity(at: now) }
        try laptop.update("a", "2")
        try await laptop.exchange()
        let entries = try await world.names(laptop) { Kind.entry.holds($0) && !known.contains($0) }
        try #require(entries.count == 3)
        let hidden = entries[number]
        let view = try await world.view(desktop)
        view.withhold { $0 == hidden }
        #expect(try await !desktop.exchange().findings.contains(.entryWithheld))
        world.advance(Observations.grace)
        #expect(try await world.machine("desktop").exchange().findings.contains(.entryWithheld))
        view.behave()
        #expect(try await !desktop.exchange().findings.contains(.entryWithheld))
        #expect(try desktop.items() == ["a=2"])
    }

    /// The carrier guesses from the sizes which segments delete something.
    @Test func deletion_hidden_isNoticed_andNothingComesBack() async throws {
        let (laptop, desktop) = try await world.synced()
        try laptop.delete("a")
        try await laptop.exchange()
        let (deletion, writer) = (try await world.segments(laptop).last, try await world.replica(laptop).writer)
        let view = try await world.view(desktop)
        view.withhold { $0 == deletion }
        try laptop.add("b", "2")
        world.advance(61_000)
        try await laptop.exchange()
        // What came later waits: no machine shows a state that never was.
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1"])
        world.advance(Observations.grace)
        #expect(try await desktop.exchange().missesWrites(of: writer))
        try await world.settle(desktop, laptop)
        #expect(try laptop.items() == ["b=2"])
        view.behave()
        try await desktop.exchange()
        #expect(try desktop.items() == ["b=2"])
    }

    @Test func head_fromAnEarlierDay_isNoticed() async throws {
        let (laptop, desktop) = try await world.synced()
        let old = try await world.objects(desktop)
        try laptop.update("a", "2")
        try await world.settle(laptop, desktop)
        let member = try await world.replica(laptop).member
        let (view, heads) = (try await world.view(desktop), old.filter { Kind.head.holds($0.key) })
        view.withhold { if case .head(member, _) = $0 { true } else { false } }
        view.flood(heads)
        let findings = try await desktop.exchange().findings
        #expect(findings.contains { if case .headWentBack(member, _, _) = $0 { true } else { false } })
    }
}
