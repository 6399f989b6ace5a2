// SPDX-License-Identifier: Apache-2.0
// What a machine does in its ring when its vault gets new keys.

import Foundation
import KeychainEngine
import KeychainSyncCore
import KeychainTestSupport
import KeychainVault
import Testing

@testable import KeychainSync

extension RingMemberTests {
    @Test func removedDeviceKey_opensNothingThatIsSharedLater() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try await desktop.exchange()
        try copy(folder.path + "/laptop", folder.path + "/stolen")
        try laptop.lock()
        try laptop.unlock()
        try laptop.add("later", "2")
        try await laptop.exchange()
        try await desktop.exchange()
        try desktop.add("answer", "3")
        try await desktop.exchange()
        try await laptop.exchange()
        #expect(try laptop.items() == ["a=1", "answer=3", "later=2"])
        #expect(try desktop.items() == ["a=1", "answer=3", "later=2"])
        let stolen = try Machine(folder.path, "stolen")
        try stolen.add("forged", "4")
        await #expect(throws: KeychainError.self) { try await stolen.exchange() }
        #expect(try stolen.items() == ["a=1", "forged=4"])
        // Nor is anything of it taken.
        for machine in [desktop, laptop] { try await machine.exchange() }
        #expect(try desktop.items() == ["a=1", "answer=3", "later=2"])
        #expect(try await desktop.member.status().members.count == 2)
    }

    @Test func machineOfOldKeys_thatWritesBeforeItHearsOfNewOnes_isNotHeard() async throws {
        let (laptop, desktop) = try await pair()
        try copy(folder.path + "/laptop", folder.path + "/stolen")
        try copy(folder.path + "/shared", folder.path + "/fork")
        try laptop.vault.rotate()
        try laptop.add("later", "2")
        try await laptop.exchange()
        // The thief sees the folder as it was, removes the others, and adds something.
        try copy(folder.path + "/shared", folder.path + "/true")
        try copy(folder.path + "/fork", folder.path + "/shared")
        let stolen = try Machine(folder.path, "stolen")
        try stolen.add("forged", "4")
        let others = try await stolen.member.status().members.filter { !$0.isThisMachine }.map(\.id)
        _ = try await stolen.member.remove(others)
        try merge("true", into: "shared")
        for _ in 0..<2 { for machine in [laptop, desktop] { try await machine.exchange() } }
        #expect(try desktop.items() == ["later=2"])
        #expect(try laptop.items() == ["later=2"])
        #expect(try await laptop.member.status().isMember)
        #expect(try await desktop.member.status().isMember)
    }

    /// Attack: an older copy of the vault gets new keys too.
    @Test func machineWhoseFormerKeysRenewThemselves_isToldSo() async throws {
        let (laptop, desktop) = try await pair()
        try copy(folder.path + "/laptop", folder.path + "/stolen")
        try copy(folder.path + "/shared", folder.path + "/fork")
        try laptop.vault.rotate()
        try await laptop.exchange()
        try copy(folder.path + "/shared", folder.path + "/true")
        try copy(folder.path + "/fork", folder.path + "/shared")
        let stolen = try Machine(folder.path, "stolen")
        try stolen.vault.rotate()
        try await stolen.exchange()
        try merge("true", into: "shared")
        let error = await #expect(throws: KeychainError.self) { try await laptop.exchange() }
        #expect(error?.reason == .missingEntitlement)
        #expect(error?.message.contains("somebody has used former keys of it") == true)
        await #expect(throws: KeychainError.self) { try await stolen.exchange() }
        try desktop.add("a", "1")
        try await desktop.exchange()
        #expect(try await desktop.member.status().members.map(\.name) == ["desktop"])
    }

    private func merge(_ source: String, into target: String) throws {
        let (source, target) = (folder.path + "/" + source, folder.path + "/" + target)
        for name in try FileManager.default.subpathsOfDirectory(atPath: source)
        where !FileManager.default.fileExists(atPath: target + "/" + name) {
            try FileManager.default.copyItem(atPath: source + "/" + name, toPath: target + "/" + name)
        }
    }

    @Test func newKeys_besideAChangeThatHasArrived_takeOneExchange() async throws {
        let (laptop, desktop) = try await pair()
        try desktop.add("a", "1")
        try await desktop.exchange()
        try laptop.vault.rotate()
        try laptop.add("later", "2")
        for machine in [laptop, desktop] { try await machine.exchange() }
        for machine in [laptop, desktop] { #expect(try machine.items() == ["a=1", "later=2"]) }
        #expect(try await laptop.member.status().compareCode == desktop.member.status().compareCode)
        // The head under the former keys stays there.
        for machine in [laptop, desktop] { #expect(try await machine.exchange().findings.isEmpty) }
    }

    /// The snapshot of the former member is all that the folder has of an item, and nobody takes it any more.
    @Test func newKeysAgain_beforeTheOtherMachineHasLooked_holdNothingBack() async throws {
        let (laptop, desktop) = try await pair()
        for number in 1...4 {
            try laptop.add("\(number)", "v")
            try await laptop.exchange()
            try laptop.vault.rotate()
            for _ in 0..<2 { try await laptop.exchange() }
            try laptop.vault.rotate()
            try await laptop.exchange()
            try await desktop.exchange()
            #expect(try desktop.items() == (1...number).map { "\($0)=v" })
            // Then the snapshot is gone.
            for machine in [laptop, desktop] { #expect(try await machine.exchange().findings.isEmpty) }
        }
    }

    /// Both get new keys before they hear of each other: those of the ring that one of them makes are for the former keys of the other.
    @Test func newKeysOfTwoMachines_madeWithoutEachOther_holdNothingBack() async throws {
        let (laptop, desktop) = try await pair()
        for machine in [laptop, desktop] { try machine.vault.rotate() }
        try laptop.add("a", "1")
        for machine in [laptop, desktop, laptop, desktop] { try await machine.exchange() }
        #expect(try desktop.items() == ["a=1"])
    }

    /// The laptop may be lost before it exchanges again.
    @Test func keysOfTheRing_forTheFormerKeysOfAMachine_areTakenByItsNewOnes() async throws {
        let (laptop, desktop) = try await pair()
        for machine in [laptop, desktop] { try machine.vault.rotate() }
        try laptop.add("a", "1")
        for machine in [laptop, desktop] { try await machine.exchange() }
        #expect(try desktop.items() == ["a=1"])
    }

    /// Its machine has new keys in the ring already, and has let another one in with them.
    @Test func vaultRestoredFromBetweenNewKeysAndTheirExchange_putsNobodyElseOut() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.vault.rotate()
        let backup = folder.path + "/vault.backup"
        try laptop.vault.backup(to: backup)
        try laptop.add("a", "1")
        try await laptop.exchange()
        let server = try await join("server", by: laptop)
        _ = try laptop.vault.restore(from: backup)
        let error = await #expect(throws: KeychainError.self) { try await laptop.exchange() }
        #expect(error?.reason == .missingEntitlement)
        try server.add("b", "2")
        for machine in [server, desktop] { try await machine.exchange() }
        #expect(try desktop.items() == ["a=1", "b=2"])
    }

    /// No machine has heard of the new keys.
    @Test func vaultRestoredBeforeItsNewKeysWereSent_sendsUnderThem() async throws {
        let (laptop, desktop) = try await pair()
        let former = laptop.member.known?.replica.member
        try laptop.vault.rotate()
        let backup = folder.path + "/vault.backup"
        try laptop.vault.backup(to: backup)
        _ = try laptop.vault.restore(from: backup)
        try laptop.add("a", "1")
        for machine in [laptop, desktop] { try await machine.exchange() }
        #expect(try desktop.items() == ["a=1"])
        #expect(former.map { desktop.member.known?.replica.ring.isActive($0) } == false)
    }

    /// It has new keys, and neither its machine nor the others have heard of them.
    private func restored(_ laptop: Machine) throws {
        try laptop.vault.rotate()
        let backup = folder.path + "/vault.backup"
        try laptop.vault.backup(to: backup)
        _ = try laptop.vault.restore(from: backup)
    }

    /// Of what the former member has sent there is only a snapshot, which nobody takes from it any more.
    @Test func vaultRestoredBeforeItsNewKeysWereSent_sendsASnapshotAtOnce() async throws {
        let (laptop, desktop) = try await pair()
        let tablet = try await join("tablet", by: laptop)
        try laptop.add("a", "1")
        try await laptop.exchange()
        let id = try #require(tablet.member.known?.replica.member)
        _ = try await laptop.member.remove([id])
        for _ in 0..<2 { try await laptop.exchange() }
        try restored(laptop)
        for machine in [laptop, desktop] { try await machine.exchange() }
        #expect(try desktop.items() == ["a=1"])
    }

    /// What is put back comes before the new keys, and with them.
    @Test func vaultRestoredBeforeItsNewKeysWereSent_sendsThemWithWhatTheFolderLacks() async throws {
        let (laptop, desktop) = try await pair()
        try restored(laptop)
        let former = try #require(laptop.member.known?.replica.member)
        let shared = folder.path + "/shared"
        let entries = try FileManager.default.subpathsOfDirectory(atPath: shared).filter {
            $0.contains("/g/") && $0.hasSuffix(".skc")
        }
        try FileManager.default.removeItem(atPath: shared + "/" + #require(entries.first))
        try laptop.add("a", "1")
        for machine in [laptop, desktop] { try await machine.exchange() }
        #expect(try desktop.items() == ["a=1"])
        #expect(desktop.member.known?.replica.ring.isActive(former) == false)
    }

    /// They would be of the former member, which may be out of the ring.
    @Test func changesOfTheRing_byARestoredVaultWithNewKeys_areRefusedUntilItHasExchanged() async throws {
        let (laptop, _) = try await pair()
        try restored(laptop)
        let inviting = await #expect(throws: KeychainError.self) {
            _ = try await laptop.member.invite(name: "tablet", for: .seconds(3600))
        }
        let adding = await #expect(throws: KeychainError.self) { try await laptop.member.addRecoveryKey() }
        for error in [inviting, adding] {
            #expect(error?.reason == .unavailable && error?.message.contains("sync now") == true)
        }
        try await laptop.exchange()
        _ = try await laptop.member.invite(name: "tablet", for: .seconds(3600))
        try await laptop.member.addRecoveryKey()
    }

    @Test func removalByARestoredVaultWithNewKeys_whileTheFolderIsAway_isRefused() async throws {
        let (laptop, desktop) = try await pair()
        let id = try #require(desktop.member.known?.replica.member)
        try restored(laptop)
        let (shared, away) = (folder.path + "/shared", folder.path + "/away")
        try FileManager.default.moveItem(atPath: shared, toPath: away)
        let error = await #expect(throws: KeychainError.self) {
            _ = try await laptop.member.remove([id], isWithoutFetching: true)
        }
        #expect(error?.reason == .unavailable && error?.message.contains("Nothing was changed") == true)
        try FileManager.default.moveItem(atPath: away, toPath: shared)
        try await laptop.exchange()
        #expect(try await laptop.member.status().members.count == 2)
        _ = try await laptop.member.remove([id], isWithoutFetching: true)
        #expect(try await laptop.member.status().members.count == 1)
    }

    /// The new keys that it has in the ring may be in a file that was not copied wholly yet.
    @Test func vaultRestoredFromBetweenNewKeysAndTheirExchange_waitsForEntriesThatCannotBeRead() async throws {
        let (laptop, desktop) = try await pair()
        let shared = folder.path + "/shared"
        func entries() throws -> Set<String> {
            Set(try FileManager.default.subpathsOfDirectory(atPath: shared).filter { $0.contains("/g/") })
        }
        let before = try entries()
        try laptop.vault.rotate()
        let backup = folder.path + "/vault.backup"
        try laptop.vault.backup(to: backup)
        try await laptop.exchange()
        _ = try laptop.vault.restore(from: backup)
        let new = try entries().subtracting(before).map { URL(fileURLWithPath: shared + "/" + $0) }
        #expect(!new.isEmpty)
        let whole = try new.map { try Data(contentsOf: $0) }
        for (file, bytes) in zip(new, whole) { try bytes.prefix(30).write(to: file) }
        try await laptop.exchange()
        for (file, bytes) in zip(new, whole) { try bytes.write(to: file) }
        let error = await #expect(throws: KeychainError.self) { try await laptop.exchange() }
        #expect(error?.message.contains("was removed from its ring") == true)
        try await desktop.exchange()
        #expect(try await desktop.member.status().members.count == 2)
    }

    /// An older copy of the vault has their codes.
    @Test func newKeys_withdrawTheInvitationsOfTheirMachine() async throws {
        let (laptop, _) = try await pair()
        _ = try await laptop.member.invite(name: "tablet", for: .seconds(3600))
        try laptop.vault.rotate()
        try await laptop.exchange()
        #expect(try await laptop.member.status().openInvitations == 0)
        _ = try await laptop.member.invite(name: "tablet", for: .seconds(3600))
        try await laptop.exchange()
        #expect(try await laptop.member.status().openInvitations == 1)
    }

    @Test func vaultRestoredFromBeforeNewKeys_isToldToJoinAgainAndKeepsItsItems() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        let backup = folder.path + "/vault.backup"
        try laptop.vault.backup(to: backup)
        try laptop.vault.rotate()
        try await laptop.exchange()
        _ = try laptop.vault.restore(from: backup)
        let error = await #expect(throws: KeychainError.self) { try await laptop.exchange() }
        #expect(error?.reason == .missingEntitlement)
        #expect(try laptop.items() == ["a=1"])
        try laptop.member.forget()
        try laptop.add("b", "2")
        try await desktop.admit(laptop, at: place)
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1", "b=2"])
    }
}
