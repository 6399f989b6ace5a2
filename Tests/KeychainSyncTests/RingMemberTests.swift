// SPDX-License-Identifier: Apache-2.0
// Vaults of several machines over one folder, from the item that is saved to the item that is read elsewhere.

import Foundation
import KeychainEngine
import KeychainTestSupport
import KeychainVault
import SecretMemory
import Testing

@testable import KeychainSync

struct RingMemberTests {
    let folder: TemporaryFolder
    let place: CarrierPlace

    init() throws {
        folder = try TemporaryFolder("keychain-ring")
        try FileManager.default.createDirectory(atPath: folder.path + "/shared", withIntermediateDirectories: true)
        place = .folder(folder.path + "/shared")
    }

    private func machine(_ name: String) throws -> Machine { try Machine(folder.path, name) }

    func founder(_ items: [String: String] = [:]) async throws -> Machine {
        let machine = try machine("laptop")
        for (account, value) in items { try machine.add(account, value) }
        _ = try await machine.member.found(name: "laptop", at: place)
        return machine
    }

    /// Another machine, let in by the first one.
    func join(_ name: String, by sponsor: Machine, _ items: [String: String] = [:]) async throws -> Machine {
        let machine = try machine(name)
        for (account, value) in items { try machine.add(account, value) }
        try await sponsor.admit(machine, at: place)
        return machine
    }

    func pair() async throws -> (Machine, Machine) {
        let laptop = try await founder()
        return (laptop, try await join("desktop", by: laptop))
    }

    // MARK: - Items

    @Test func itemsOfTwoMachines_afterJoining_areOnBoth() async throws {
        let laptop = try await founder(["a": "1", "b": "2"])
        let desktop = try await join("desktop", by: laptop, ["c": "3"])
        #expect(try desktop.items() == ["a=1", "b=2", "c=3"])
        try await laptop.exchange()
        #expect(try laptop.items() == ["a=1", "b=2", "c=3"])
    }

    @Test func item_savedChangedAndDeleted_isSoOnTheOtherMachine() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        #expect(try await desktop.exchange().applied == 1)
        #expect(try desktop.items() == ["a=1"])
        try desktop.update("a", "2")
        try await desktop.exchange()
        try await laptop.exchange()
        #expect(try laptop.items() == ["a=2"])
        try laptop.delete("a")
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == [])
    }

    @Test func item_changedOnBoth_isTheSameOnBothInTheEnd() async throws {
        let (laptop, desktop) = try await conflict()
        #expect(try laptop.items() == desktop.items())
        #expect(try await laptop.member.status().conflicts == 1)
        #expect(try await laptop.member.status().compareCode == desktop.member.status().compareCode)
        // A machine that has seen both values ends the conflict.
        try desktop.update("a", "both")
        try await desktop.exchange()
        try await laptop.exchange()
        #expect(try laptop.items() == ["a=both"])
        #expect(try await laptop.member.status().conflicts == 0)
    }

    @Test func item_changedHereAndDeletedThere_stays() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "0")
        try await laptop.exchange()
        try await desktop.exchange()
        try laptop.delete("a")
        try desktop.update("a", "1")
        for _ in 0..<2 {
            try await laptop.exchange()
            try await desktop.exchange()
        }
        #expect(try laptop.items() == ["a=1"])
        #expect(try desktop.items() == ["a=1"])
    }

    @Test func sameItem_madeOnTwoMachines_isOne() async throws {
        let laptop = try await founder(["a": "1"])
        let desktop = try await join("desktop", by: laptop, ["a": "2"])
        try await laptop.exchange()
        #expect(try laptop.items().count == 1)
        #expect(try laptop.items() == desktop.items())
    }

    @Test func item_thatBothHadBefore_isTheLaterOne() async throws {
        let desktop = try machine("desktop")
        try desktop.add("a", "earlier")
        try await Task.sleep(for: .milliseconds(5))
        let laptop = try await founder(["a": "later"])
        _ = try await join("desktop", by: laptop)
        try await laptop.exchange()
        #expect(try laptop.items() == ["a=later"])
        #expect(try desktop.items() == ["a=later"])
        #expect(try await laptop.member.status().conflicts == 1)
    }

    @Test func machineThatLeavesAndJoinsAgain_hasNoConflicts() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try await desktop.exchange()
        try desktop.member.forget()
        _ = try await join("desktop", by: laptop)
        try await laptop.exchange()
        #expect(try laptop.items() == ["a=1"])
        #expect(try await laptop.member.status().conflicts == 0)
        try laptop.update("a", "2")
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=2"])
    }

    @Test func itemsThatAreNotShared_stayWhereTheyAre() async throws {
        let (laptop, desktop) = try await pair()
        var bound = Machine.query("bound", "v")
        bound.attributes[.accessible] = .string(Accessibility.whenUnlockedThisDeviceOnly.rawValue)
        _ = try laptop.engine.add(bound, accessGroups: .unrestricted)
        var local = Machine.query("local", "v")
        local.attributes[.synchronizable] = nil
        _ = try laptop.engine.add(local, accessGroups: .unrestricted)
        #expect(try await laptop.exchange().taken == 0)
        try await desktop.exchange()
        #expect(try desktop.items() == [])
    }

    @Test func items_markedAndBoundToTheirMachine_areCountedInTheStatus() async throws {
        let laptop = try await founder(["a": "1"])
        var bound = Machine.query("bound", "v")
        bound.attributes[.accessible] = .string(Accessibility.whenUnlockedThisDeviceOnly.rawValue)
        _ = try laptop.engine.add(bound, accessGroups: .unrestricted)
        var local = Machine.query("local", "v")
        local.attributes[.synchronizable] = nil
        _ = try laptop.engine.add(local, accessGroups: .unrestricted)
        let status = try await laptop.member.status()
        #expect(status.items == 1 && status.staying == 1)
        #expect(SyncStatus(status).staying == 1)
    }

    @Test func items_markedInAGroupThatIsNotShared_areCountedInTheStatus() async throws {
        let laptop = try machine("laptop")
        for account in ["a", "b"] {
            var query = Machine.query(account, "v")
            query.attributes[.accessGroup] = .string(account == "a" ? "web" : "other")
            _ = try laptop.engine.add(query, accessGroups: .unrestricted)
        }
        _ = try await laptop.member.found(name: "laptop", at: place, sharing: ["web"])
        let status = try await laptop.member.status()
        #expect(status.items == 1 && status.staying == 1)
    }

    @Test func value_ofManyBytes_arrivesWhole() async throws {
        let (laptop, desktop) = try await pair()
        let value = String(repeating: "0123456789abcdef", count: 200_000)
        try laptop.add("large", value)
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["large=" + value])
    }

    @Test func attributes_ofAnItem_arriveWithIt() async throws {
        let (laptop, desktop) = try await pair()
        var query = Machine.query("a", "v")
        query.attributes[.label] = .string("A label")
        query.attributes[.accessible] = .string(Accessibility.afterFirstUnlock.rawValue)
        _ = try laptop.engine.add(query, accessGroups: .unrestricted)
        try await laptop.exchange()
        try await desktop.exchange()
        let selection = Selection(itemClass: .genericPassword, conditions: [.account: .string("a")])
        let item = try #require(
            try desktop.vault.select(selection, limit: 1, includingValues: true, .none).items.first?.item)
        let original = try #require(
            try laptop.vault.select(selection, limit: 1, includingValues: true, .none).items.first?.item)
        #expect(item == original)
        #expect(item.accessControl.accessibility == .afterFirstUnlock)
    }

    // MARK: - Members

    @Test func thirdMachine_learnsWhatTheOthersHave() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try await desktop.exchange()
        try desktop.add("b", "2")
        try await desktop.exchange()
        let server = try await join("server", by: desktop)
        try await server.exchange()
        #expect(try server.items() == ["a=1", "b=2"])
        #expect(try await server.member.status().members.map(\.name).sorted() == ["desktop", "laptop", "server"])
    }

    @Test func machineThatWasRemoved_readsNothingThatComesLater() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try await desktop.exchange()
        let removed = try #require(try await laptop.member.status().members.first { $0.name == "desktop" }?.id)
        _ = try await laptop.member.remove([removed])
        try laptop.add("later", "2")
        try await laptop.exchange()
        _ = try? await desktop.exchange()
        #expect(try desktop.items() == ["a=1"])
        #expect(try await !desktop.member.status().isMember)
    }

    @Test func machineThatJoinsAfterARemoval_getsEverythingAtOnce() async throws {
        let (laptop, desktop) = try await pair()
        let server = try await join("server", by: laptop)
        try laptop.add("a", "1")
        for machine in [laptop, desktop, server] { try await machine.exchange() }
        let removed = try #require(try await laptop.member.status().members.first { $0.name == "server" }?.id)
        _ = try await laptop.member.remove([removed])
        // The other one is away.
        let tablet = try await join("tablet", by: laptop)
        try await tablet.exchange()
        #expect(try tablet.items() == ["a=1"])
    }

    @Test func machineInARing_asksForNoOther() async throws {
        let (laptop, desktop) = try await pair()
        let code = try await laptop.member.invite(name: "again", for: .seconds(3600))
        await #expect(throws: KeychainError.self) { _ = try await desktop.member.join(code, at: place) }
        #expect(try await laptop.exchange().admitted == [])
    }

    @Test func code_thatIsWrong_findsNoInvitation() async throws {
        let laptop = try await founder()
        _ = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        let desktop = try machine("desktop")
        await #expect(throws: KeychainError.self) {
            _ = try await desktop.member.join(SecretBytes.random(count: 13), at: place)
        }
        #expect(!FileManager.default.fileExists(atPath: desktop.vault.location.folder))
    }

    @Test func invitation_thatNobodyAnswers_endsAfterItsTime() async throws {
        let laptop = try await founder()
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        let desktop = try machine("desktop")
        let error = await #expect(throws: KeychainError.self) {
            _ = try await desktop.member.join(code, at: place, wait: .zero)
        }
        #expect(error?.reason == .timedOut)
        // A machine that is no longer waiting must not be admitted.
        #expect(try await laptop.exchange().admitted == [])
    }

    @Test func machineThatLeaves_keepsItsItems() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try await desktop.exchange()
        try desktop.member.forget()
        #expect(try desktop.items() == ["a=1"])
        await #expect(throws: KeychainError.self) { try await desktop.exchange() }
    }

    // MARK: - Interruptions

    @Test func processThatStartsAgain_goesOn() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        let again = RingMember(Vault(laptop.vault.location, laptop.vault.settings))
        _ = try await again.exchange()
        try laptop.update("a", "2")
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=2"])
    }

    @Test func folderThatIsGone_isSaidAndLosesNothing() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try FileManager.default.moveItem(atPath: folder.path + "/shared", toPath: folder.path + "/away")
        let error = await #expect(throws: KeychainError.self) { try await laptop.exchange() }
        #expect(error?.reason == .unavailable)
        #expect(try laptop.items() == ["a=1"])
        #expect(try await laptop.member.status().pending == 1)
        try FileManager.default.moveItem(atPath: folder.path + "/away", toPath: folder.path + "/shared")
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1"])
    }

    @Test func pausedMachine_exchangesNothingUntilItGoesOn() async throws {
        let (laptop, _) = try await pair()
        try await laptop.member.pause()
        await #expect(throws: KeychainError.self) { try await laptop.exchange() }
        try await laptop.member.pause(false)
        try await laptop.exchange()
    }

    @Test func folderOfTheVault_isNotShared() async throws {
        let laptop = try machine("laptop")
        try laptop.add("a", "1")
        let inside = laptop.vault.location.folder + "/shared"
        try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: false)
        for path in [laptop.vault.location.folder, inside] {
            let error = await #expect(throws: KeychainError.self) {
                _ = try await laptop.member.found(name: "laptop", at: .folder(path))
            }
            #expect(error?.reason == .unsafeLocation)
        }
    }

    /// Also of a vault that is created only then.
    @Test(arguments: [true, false])
    func folderThatContainsTheVaultOrItsKey_isNotShared(_ exists: Bool) async throws {
        let (apart, vaults) = (folder.path + "/keys", folder.path + "/vaults")
        for path in [apart, vaults] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        let location = try VaultLocation(folder: vaults + "/laptop", deviceKeyFile: apart + "/device.key")
        let laptop = Machine("laptop", Vault(location, VaultSettings()), kinds: [])
        if exists { try laptop.add("a", "1") }
        for path in [apart, vaults, folder.path, "/"] {
            let error = await #expect(throws: KeychainError.self) {
                _ = try await laptop.member.found(name: "laptop", at: .folder(path))
            }
            #expect(error?.reason == .unsafeLocation)
        }
    }

    /// Where they will be created is told by what exists of their paths.
    @Test func folderBehindALink_inWhichTheVaultWillBe_isNotShared() async throws {
        let (real, link) = (folder.path + "/real", folder.path + "/link")
        try FileManager.default.createDirectory(atPath: real, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real)
        for (vault, key) in [(link + "/a/b", folder.path + "/key"), (folder.path + "/vault", link + "/k/key")] {
            let laptop = Machine(
                "laptop", Vault(try VaultLocation(folder: vault, deviceKeyFile: key), VaultSettings()), kinds: [])
            let error = await #expect(throws: KeychainError.self) {
                _ = try await laptop.member.found(name: "laptop", at: .folder(real))
            }
            #expect(error?.reason == .unsafeLocation)
        }
    }

    @Test func vaultWithoutARing_saysSo() async throws {
        let error = await #expect(throws: KeychainError.self) { _ = try await machine("alone").member.exchange() }
        #expect(error?.reason == .unavailable)
    }
}
