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

    func list() async throws(CarrierFailure) -> Listing {
        let listing = try await base.list()
        var contents = listing.contents
        for name in listing.names {
            guard case .segment = name else { continue }
            let more = (0..<64).map { ListedContent(fingerprint: $0, size: Bounds.object) }
            contents[name, default: []].formUnion(more)
        }
        return Listing(names: listing.names, contents: contents)
    }
}

private struct LargeFolders: KindOverFolders {
    func carrier(over base: FolderCarrier) -> any Carrier { LargeFolder(base: base) }
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

    @Test func backlogOfAMachine_thatIsRemoved_isReadBefore() async throws {
        let member = try await laptop.member.status().members.first { $0.name == "laptop" }?.id
        _ = try await desktop.member.remove([try #require(member)])
        #expect(try desktop.items().count == Self.count)
    }
}
