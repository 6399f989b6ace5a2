// SPDX-License-Identifier: Apache-2.0
// The examples of KeychainSync's comments and of Docs/Sync.md, word for word: each ends where the expectations begin.

import Foundation
import KeychainKit
import KeychainSyncCore
import KeychainTestSupport
import KeychainVault
import SyncHostility
import Testing

@testable import KeychainSync

private typealias Sync = KeychainSync

@Suite("Examples of sync", .timeLimit(.minutes(60)))
struct SyncExamples {
    let world: HostileWorld

    init() throws { world = try HostileWorld() }

    @Test func exchange_inTheComments_saysWhatCameAndWent() async throws {
        let (laptop, desktop) = try await world.pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        // swift-format-ignore: AlwaysUseLowerCamelCase
        func KeychainSync() throws -> Sync { desktop.sync }
        let sync = try KeychainSync()
        let report = try await sync.now(timeout: .seconds(5))
        print("\(report.received) items came, and \(report.sent) changes went")
        #expect(report.received == 1 && report.sent == 0)
    }

    @Test func ring_inTheComments_isFounded() async throws {
        let sync = try world.machine("laptop").sync
        let path = world.shared
        try await sync.found(name: "laptop", at: .folder(path))
        #expect(try await sync.isInRing)
    }

    @Test func location_inTheComments_isThatOfTheVault() async throws {
        let root = try TemporaryFolder("keychain-example")
        let (folder, deviceKeyFile) = (root.path + "/vault", root.path + "/config/device.key")
        let location = try VaultLocation(folder: folder, deviceKeyFile: deviceKeyFile)
        let sync = try KeychainSync(vault: .at(location))
        #expect(try await !sync.isInRing)
    }

    @Test func conflict_inTheComments_isEndedByTheLaptopsValue() async throws {
        let (laptop, desktop) = try await world.pair()
        try laptop.add("a", "laptop's")
        try await Task.sleep(for: .milliseconds(5))
        try desktop.add("a", "desktop's")
        for machine in [laptop, desktop, laptop] { try await machine.exchange() }
        let sync = desktop.sync
        for conflict in try await sync.conflicts() {
            let hidden = conflict.versions.filter { !$0.isShown }
            if let version = hidden.first(where: { $0.machine == "laptop" }) { try await conflict.keep(version) }
        }
        #expect(try desktop.items() == ["a=laptop's"])
    }

    @Test func server_inTheDocument_sharesByItself() async throws {
        let (laptop, machine) = try await world.pair()
        try laptop.add("a", "1")
        // swift-format-ignore: AlwaysUseLowerCamelCase
        func KeychainSync() throws -> Sync { machine.sync }
        let server = Task {
            let sync = try KeychainSync()
            let watching = Task { try await sync.watch() }
            for await case .success(let status) in try sync.statuses() {
                print("\(status.pending) changes wait, \(status.conflicts) items have several values")
                for notice in status.notices { print(notice) }
            }
            watching.cancel()
        }
        defer { server.cancel() }
        try await yieldUntil("the server has the item") {
            try await laptop.exchange()
            return try machine.items() == ["a=1"]
        }
    }

    /// What the comments of the hostile carrier show.
    @Test func view_inTheComments_lacksTheObject() async throws {
        let laptop = try await world.founder()
        let ring = try await world.replica(laptop).log.id
        let (folder, name) = (world.shared, try #require(try await world.names(laptop) { _ in true }.first))
        let view = HostileCarrier(over: FolderCarrier(folder, ring: ring))
        view.withhold { $0 == name }
        #expect(try await !view.list().names.contains(name))
    }
}
