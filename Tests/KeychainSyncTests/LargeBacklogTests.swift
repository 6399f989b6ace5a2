// SPDX-License-Identifier: Apache-2.0
// A machine that has to read more than there is room for at once.

import Foundation
import KeychainSyncCore
import KeychainTestSupport
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

    @Test func backlogOfAMachine_thatIsRemoved_isReadBefore() async throws {
        let member = try await laptop.member.status().members.first { $0.name == "laptop" }?.id
        _ = try await desktop.member.remove([try #require(member)])
        #expect(try desktop.items().count == Self.count)
    }
}
