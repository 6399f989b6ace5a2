// SPDX-License-Identifier: Apache-2.0
// A machine that has to read more than there is room for at once.

import Foundation
import KeychainSyncCore
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainSync

/// Lists each segment with so many contents that a machine reads one of them after each listing.
private struct LargeFolder: CarrierOverFolder {
    let base: FolderCarrier
    /// Is listed too, and cannot be read.
    var missing: [ObjectName] = []

    func list() async throws(CarrierFailure) -> Listing {
        let listing = try await base.list()
        let names = listing.names.union(missing)
        var contents = listing.contents
        for name in names {
            guard case .segment = name else { continue }
            let more = (0..<64).map { ListedContent(fingerprint: $0, size: Bounds.object) }
            contents[name, default: []].formUnion(more)
        }
        return Listing(names: names, contents: contents)
    }
}

private struct LargeFolders: KindOverFolders {
    var missing: [ObjectName] = []

    func carrier(over base: FolderCarrier) -> any Carrier { LargeFolder(base: base, missing: missing) }
}

/// Lists more than there is room for at once, which cannot be read. Before each listing another machine publishes something.
private struct BusyFolder: CarrierOverFolder {
    let base: FolderCarrier
    let other: Machine
    let listings: Guarded<Int>

    private static let missing = (1...65).map { ObjectName.segment(WriterID(1), $0) }

    func list() async throws(CarrierFailure) -> Listing {
        let number = listings.withLock { listings in
            listings += 1
            return listings
        }
        guard number < 100 else { throw CarrierFailure(.unavailable, "It was listed too often.") }
        do {
            try other.add("new \(number)", "1")
            try await other.exchange()
        } catch {
            throw CarrierFailure(.unavailable, "The other machine failed: \(error)")
        }
        let listing = try await base.list()
        let large = Self.missing.map { ($0, Set([ListedContent(fingerprint: 1, size: Bounds.object)])) }
        return Listing(
            names: listing.names.union(Self.missing), contents: listing.contents.merging(large) { listed, _ in listed })
    }
}

private struct BusyFolders: KindOverFolders {
    let other: Machine
    let listings = Guarded(0)

    func carrier(over base: FolderCarrier) -> any Carrier { BusyFolder(base: base, other: other, listings: listings) }
}

/// Shows other junk at each listing, more than there is room for at once.
private struct EndlessFolder: CarrierOverFolder {
    let base: FolderCarrier
    let listings: Guarded<UInt64>

    func list() async throws(CarrierFailure) -> Listing {
        let number = listings.withLock { listings in
            listings += 1
            return listings
        }
        guard number < 100 else { throw CarrierFailure(.unavailable, "It was listed too often.") }
        let listing = try await base.list()
        let new = (0..<65).map { ObjectName.segment(WriterID(number), $0 + 1) }
        let junk = new.map { ($0, Set([ListedContent(fingerprint: 1, size: Bounds.object)])) }
        return Listing(
            names: listing.names.union(new), contents: listing.contents.merging(junk) { listed, _ in listed })
    }

    func read(_ names: [ObjectName]) async throws(CarrierFailure) -> CarrierReading {
        var reading = try await base.read(names)
        let there = Set(reading.objects.map(\.name))
        for name in names where !there.contains(name) { reading.objects.append((name, Data("junk".utf8))) }
        return reading
    }
}

private struct EndlessFolders: KindOverFolders {
    let listings = Guarded<UInt64>(0)

    func carrier(over base: FolderCarrier) -> any Carrier { EndlessFolder(base: base, listings: listings) }
}

struct LargeBacklogTests {
    private let folder: TemporaryFolder
    private let place: CarrierPlace
    private let (laptop, desktop): (Machine, Machine)
    private static let count = RingMember.mostRounds + 4

    /// Two machines. The first one has published more than the second one reads in that many rounds.
    init() async throws {
        folder = try TemporaryFolder("keychain-backlog")
        try FileManager.default.createDirectory(atPath: folder.path + "/shared", withIntermediateDirectories: true)
        place = .folder(folder.path + "/shared")
        laptop = try Machine(folder.path, "laptop")
        desktop = try Machine(folder.path, "desktop", kinds: [LargeFolders()])
        _ = try await laptop.member.found(name: "laptop", at: place)
        try await laptop.admit(desktop, at: place)
        for number in 0..<Self.count {
            try laptop.add("\(number)", "1")
            try await laptop.exchange()
        }
    }

    @Test func backlog_ofManyRounds_isReadByOneExchange() async throws {
        try await desktop.exchange()
        #expect(try desktop.items().count == Self.count)
    }

    @Test func exchange_whileTheCarrierShowsSomethingNewEachTime_ends() async throws {
        let folders = EndlessFolders()
        try await Machine("desktop", desktop.vault, kinds: [folders]).exchange()
        #expect(folders.listings.withLock { $0 } < 100)
    }

    /// A member that may write could hold the others' exchanges, and so its own removal.
    @Test func exchange_whileAMachinePublishesBeforeEachListing_ends() async throws {
        let folders = BusyFolders(other: laptop)
        try await Machine("desktop", desktop.vault, kinds: [folders]).exchange()
        #expect(folders.listings.withLock { $0 } < 100)
    }

    /// Of more than there is room for at once, most turns bring nothing.
    private func exchangeBesideWhatCannotBeRead() async throws -> ExchangeReport {
        let missing = (0..<UInt64(64)).map { ObjectName.segment(WriterID($0 * (UInt64.max / 64) + 1), 1) }
        return try await Machine("desktop", desktop.vault, kinds: [LargeFolders(missing: missing)]).exchange()
    }

    @Test func backlog_besideMuchThatCannotBeRead_isReadByOneExchange() async throws {
        _ = try await exchangeBesideWhatCannotBeRead()
        #expect(try desktop.items().count == Self.count)
    }

    @Test func exchange_besideMuchThatCannotBeRead_isComplete() async throws {
        let before = try await desktop.member.status().lastExchange
        #expect(try await exchangeBesideWhatCannotBeRead().isComplete)
        #expect(try await desktop.member.status().lastExchange > before)
    }

    // MARK: - Not everything read

    /// The second machine, whose carrier shows something new at each listing.
    private var overwhelmed: Machine { Machine("desktop", desktop.vault, kinds: [EndlessFolders()]) }

    /// The second machine, with all that is there.
    private var plain: Machine { Machine("desktop", desktop.vault, kinds: []) }

    private func members() async throws -> [String] { try await plain.member.status().members.map(\.name).sorted() }

    private func laptopID() async throws -> MemberID {
        try #require(try await laptop.member.status().members.first { $0.name == "laptop" }?.id)
    }

    private func isNoticed() async throws -> Bool {
        try await plain.member.status().notices.contains { $0.message == SyncFinding.unread.text() }
    }

    @Test func exchange_thatHasNotReadEverything_isNotNotedAsComplete() async throws {
        let before = try await desktop.member.status().lastExchange
        #expect(try await !overwhelmed.exchange().isComplete)
        #expect(try await desktop.member.status().lastExchange == before)
    }

    @Test func exchange_thatHasNotReadEverything_isNotCompleteForPrograms() async throws {
        #expect(try await !overwhelmed.sync.now().isComplete)
    }

    @Test func exchange_thatHasNotReadEverything_sendsWhatWasChangedHere() async throws {
        try desktop.add("own", "1")
        try await overwhelmed.exchange()
        try await laptop.exchange()
        #expect(try laptop.items().contains("own=1"))
    }

    @Test func exchange_thatHasNotReadEverything_isNoticedUntilOneHas() async throws {
        try await overwhelmed.exchange()
        #expect(try await isNoticed())
        try await plain.exchange()
        #expect(try await !isNoticed())
    }

    @Test func watch_afterAnExchangeThatHasNotReadEverything_continues() async throws {
        let (machine, exchanges) = (overwhelmed, Guarded(0))
        let watch = Task {
            try await machine.member.watch(pauses: (.seconds(60), .seconds(60), .milliseconds(1))) { outcome in
                if case .success = outcome { exchanges.withLock { $0 += 1 } }
            }
        }
        defer { watch.cancel() }
        // Its first look at the folder, and what it publishes, lead to others.
        try await yieldUntil("it has exchanged five times") { exchanges.withLock { $0 } > 4 }
    }

    @Test func removal_whileNotEverythingWasRead_isRefusedAndNotMade() async throws {
        let id = try await laptopID()
        let error = await #expect(throws: KeychainError.self) { _ = try await overwhelmed.member.remove([id]) }
        #expect(error?.reason == .unavailable && error?.message.contains("before everything") == true)
        #expect(error?.message.contains("--without-fetching") == true)
        #expect(try await members() == ["desktop", "laptop"])
    }

    @Test func removal_afterOneThatWasRefused_readsTheRest() async throws {
        let id = try await laptopID()
        await #expect(throws: KeychainError.self) { _ = try await overwhelmed.member.remove([id]) }
        _ = try await plain.member.remove([id])
        #expect(try desktop.items().count == Self.count)
        #expect(try await members() == ["desktop"])
    }

    /// Otherwise whoever controls the carrier, or fills it, could never be removed.
    @Test func removal_withoutFetching_whileNotEverythingWasRead_isMade() async throws {
        _ = try await overwhelmed.member.remove([try await laptopID()], isWithoutFetching: true)
        #expect(try await members() == ["desktop"])
    }

    @Test func backlogOfAMachine_thatIsRemoved_isReadBefore() async throws {
        _ = try await desktop.member.remove([try await laptopID()])
        #expect(try desktop.items().count == Self.count)
    }
}
