// SPDX-License-Identifier: Apache-2.0
// Machines that are let in where a snapshot has to come first.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

/// A folder that tells what is published.
private final class ToldFolders: KindOverFolders {
    let tell = Guarded<@Sendable (ObjectName) throws -> Void>({ _ in })

    func carrier(over base: FolderCarrier) -> any Carrier { ToldFolder(base: base, tell: tell) }
}

private struct ToldFolder: CarrierOverFolder {
    let base: FolderCarrier
    let tell: Guarded<@Sendable (ObjectName) throws -> Void>

    func publish(
        _ name: ObjectName, _ bytes: Data, beside isBeside: Bool
    ) async throws(CarrierFailure) -> Publication {
        let outcome = try await base.publish(name, bytes, beside: isBeside)
        let tell = tell.withLock { $0 }
        do { try tell(name) } catch { throw CarrierFailure(.inputOutput, "\(error)") }
        return outcome
    }
}

struct AdmissionTests {
    private let folder: TemporaryFolder
    private let place: CarrierPlace
    private let carriers = ToldFolders()
    private let laptop: Machine
    private let tablet: Machine

    /// What another machine has written is gone from the folder, and only this one has it: a snapshot is needed.
    init() async throws {
        folder = try TemporaryFolder("keychain-admission")
        try FileManager.default.createDirectory(atPath: folder.path + "/shared", withIntermediateDirectories: false)
        place = .folder(folder.path + "/shared")
        laptop = try Machine(folder.path, "laptop", kinds: [carriers])
        tablet = try Machine(folder.path, "tablet")
        _ = try await laptop.member.found(name: "laptop", at: place)
        let desktop = try Machine(folder.path, "desktop")
        try await laptop.admit(desktop, at: place)
        try desktop.add("lost", "1")
        try await desktop.exchange()
        try await laptop.exchange()
        let writer = try #require(desktop.member.known?.replica.writer)
        let shared = FolderCarrier(folder.path + "/shared", ring: try await laptop.member.status().ring)
        let lost = try await shared.list().names.filter {
            if case .segment(writer, _) = $0 { true } else { false }
        }
        try #require(!lost.isEmpty)
        try await shared.remove(lost.sorted())
    }

    /// A machine that has asked and waits.
    private func asking() async throws -> Task<ExchangeReport, any Error> {
        let code = try await laptop.member.invite(name: "tablet", for: .seconds(3600))
        let (asks, asked) = AsyncStream.makeStream(of: Void.self)
        let joining = Task { [tablet, place] in
            defer { asked.finish() }
            return try await tablet.member.join(
                code, at: place, interval: .milliseconds(5), asked: { _ in asked.yield() })
        }
        for await _ in asks { break }
        return joining
    }

    /// Each time that something is published, an item is saved: there is always something that is not published yet.
    private func saveAlways() {
        let count = Guarded(0)
        carriers.tell.withLock { tell in
            tell = { [laptop] name in
                guard case .segment = name else { return }
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                try laptop.add("late\(number)", "1")
            }
        }
    }

    @Test func machine_whoseSnapshotCannotBeWrittenYet_waitsForTheNextExchange() async throws {
        let joining = try await asking()
        defer { joining.cancel() }
        try laptop.add("a", "1")
        saveAlways()
        #expect(try await laptop.exchange().admitted == [])
        carriers.tell.withLock { $0 = { _ in } }
        #expect(try await laptop.exchange().admitted == ["tablet"])
        _ = try await joining.value
        #expect(try tablet.items() == laptop.items())
        #expect(try tablet.items().contains("lost=1"))
    }

    @Test func machineThatIsLetIn_withChangesThatAreNotSentYet_findsTheSnapshot() async throws {
        let joining = try await asking()
        defer { joining.cancel() }
        try laptop.add("a", "1")
        let published = Guarded<[ObjectName]>([])
        carriers.tell.withLock { $0 = { name in published.withLock { $0.append(name) } } }
        #expect(try await laptop.member.repair().admitted == ["tablet"])
        let names = published.withLock { $0 }
        let wrap = try #require(names.firstIndex { if case .wrap = $0 { true } else { false } })
        let snapshot = try #require(
            names.firstIndex { if case .snapshot(_, part: 0) = $0 { true } else { false } })
        #expect(snapshot < wrap)
        _ = try await joining.value
        #expect(try tablet.items() == ["a=1", "lost=1"])
    }
}
