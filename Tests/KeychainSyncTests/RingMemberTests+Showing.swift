// SPDX-License-Identifier: Apache-2.0
// What a vault shows of what other machines have written, and what it does not lose when it cannot show it.

import Foundation
import KeychainEngine
import KeychainSyncCore
import KeychainTestSupport
import KeychainVault
import SecretMemory
import Testing

@testable import KeychainSync

extension RingMemberTests {
    // MARK: - Several changes at once

    @Test func valueAndItsDeletion_thatArriveTogether_leaveTheConcurrentValue() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "0")
        try await laptop.exchange()
        try await desktop.exchange()
        try laptop.update("a", "laptop")
        try desktop.update("a", "desktop")
        try await desktop.exchange()
        try desktop.delete("a")
        try await desktop.exchange()
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try laptop.items() == ["a=laptop"])
        #expect(try desktop.items() == ["a=laptop"])
    }

    @Test func transaction_largerThanOneOfTheCore_isSentAndDoesNotStopSyncing() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.vault.transaction(.none) { (items) throws(KeychainError) in
            for (account, size) in [("a", 7_500_000), ("b", 14_000_000), ("c", 1)] {
                var item = Self.item(account)
                item.value = Data(repeating: 1, count: size)
                _ = try items.insert(item, .none)
            }
        }
        try await laptop.exchange()
        // Another transaction joins what was not sent yet.
        try laptop.update("a", String(repeating: "x", count: 7_500_000))
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items().count == 3)
    }

    // MARK: - Places that are taken

    /// An item of this machine alone, with the primary key of a shared one.
    func addUnshared(_ account: String, _ value: String, to machine: Machine) throws {
        var item = Self.item(account)
        (item.accessControl, item.value) = (AccessControl(.whenUnlockedThisDeviceOnly), Data(value.utf8))
        _ = try machine.vault.insert(item, .none)
    }

    private func value(_ account: String, on machine: Machine) throws -> String? {
        let selection = Selection(
            itemClass: .genericPassword, conditions: [.service: .string("s"), .account: .string(account)])
        let found = try machine.vault.select(selection, limit: 1, includingValues: true, .none).items.first
        return found?.item.value.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func itemWhosePlaceIsTaken_appearsOnceThePlaceIsFree() async throws {
        let (laptop, desktop) = try await pair()
        try addUnshared("a", "mine", to: desktop)
        try laptop.add("a", "shared")
        try await laptop.exchange()
        for _ in 0..<2 {
            #expect(try await desktop.exchange().findings.contains { if case .placeTaken = $0 { true } else { false } })
            #expect(try value("a", on: desktop) == "mine")
        }
        let all = Selection(itemClass: .genericPassword, conditions: [.service: .string("s")])
        _ = try desktop.vault.delete(all, .none)
        try await desktop.exchange()
        #expect(try value("a", on: desktop) == "shared")
    }

    @Test func itemThatWasNeverShown_survivesAWriteInItsPlace() async throws {
        let (laptop, desktop) = try await pair()
        try addUnshared("a", "mine", to: desktop)
        try laptop.add("a", "shared")
        try await laptop.exchange()
        try await desktop.exchange()
        // From now on it is shared, and takes the name in the ring.
        let all = Selection(itemClass: .genericPassword, conditions: [.service: .string("s")])
        _ = try desktop.vault.update(all, .none) { stored in
            var item = stored.item
            item.accessControl = AccessControl(.whenUnlocked)
            return item
        }
        try await desktop.exchange()
        try await laptop.exchange()
        #expect(try laptop.items() == desktop.items())
        // The other value is kept, on both.
        #expect(try await laptop.member.status().conflicts == 1)
        #expect(try await desktop.member.status().conflicts == 1)
    }

    // MARK: - The keys of the machine

    @Test func allPasswords_deletedWithoutAGroup_leaveTheKeysOfTheRing() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try laptop.add("b", "2")
        let all = Selection(itemClass: .genericPassword, conditions: [:])
        #expect(try laptop.vault.delete(all, .none) == 2)
        let error = #expect(throws: KeychainError.self) {
            try laptop.engine.update(
                Query(.genericPassword), with: Changes(value: Data("x".utf8)), accessGroups: .unrestricted)
        }
        #expect(error?.reason == .itemNotFound)
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == [])
    }

    @Test func allPasswords_deletedWhileLocked_leaveTheKeysOfTheRing() async throws {
        let laptop = try await founder(["a": "1"])
        try laptop.lock()
        _ = try? laptop.vault.delete(Selection(itemClass: .genericPassword, conditions: [:]), .none)
        try laptop.unlock()
        _ = try await laptop.exchange()
    }

    // MARK: - Restored and copied vaults

    func copy(_ from: String, _ to: String) throws {
        try? FileManager.default.removeItem(atPath: to)
        try FileManager.default.copyItem(atPath: from, toPath: to)
    }

    @Test func vaultAndFolder_bothRestored_loseNothingThatComesBackLater() async throws {
        let (laptop, desktop) = try await pair()
        let (shared, backup) = (folder.path + "/shared", folder.path + "/vault.backup")
        try laptop.add("a", "1")
        try await laptop.exchange()
        try await desktop.exchange()
        try laptop.vault.backup(to: backup)
        try copy(shared, folder.path + "/shared.old")
        try laptop.add("b", "2")
        try await laptop.exchange()
        try copy(shared, folder.path + "/shared.new")
        try copy(folder.path + "/shared.old", shared)
        _ = try laptop.vault.restore(from: backup)
        try laptop.add("c", "3")
        #expect(try await laptop.exchange().findings.contains { if case .startedAgain = $0 { true } else { false } })
        // The newer files come back, as if another machine had still had them.
        let newer = folder.path + "/shared.new"
        for name in try FileManager.default.subpathsOfDirectory(atPath: newer)
        where !FileManager.default.fileExists(atPath: shared + "/" + name) {
            try FileManager.default.copyItem(atPath: newer + "/" + name, toPath: shared + "/" + name)
        }
        for _ in 0..<3 {
            try await desktop.exchange()
            try await laptop.exchange()
        }
        #expect(try laptop.items() == ["a=1", "b=2", "c=3"])
        #expect(try desktop.items() == ["a=1", "b=2", "c=3"])
    }

    @Test func vaultCopiedToAnotherMachine_losesNothingOnEither() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try copy(folder.path + "/laptop", folder.path + "/copy")
        let machineID = folder.path + "/machine-id"
        try Data("another machine\n".utf8).write(to: URL(fileURLWithPath: machineID))
        let copied = try Machine(folder.path, "copy", machineIDFile: machineID)
        try laptop.add("b", "2")
        try copied.add("c", "3")
        for _ in 0..<3 {
            for machine in [laptop, copied, desktop] { try await machine.exchange() }
        }
        for machine in [laptop, copied, desktop] {
            #expect(try machine.items() == ["a=1", "b=2", "c=3"])
        }
    }
}
