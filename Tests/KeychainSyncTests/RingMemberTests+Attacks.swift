// SPDX-License-Identifier: Apache-2.0
// Carriers, members and accidents, and what vaults of several machines make of them.

import Foundation
import KeychainEngine
import KeychainSyncCore
import KeychainTestSupport
import KeychainVault
import Testing

@testable import KeychainSync

extension RingMemberTests {
    /// What a member with changed software may send: signed, and under the right keys.
    private func push(_ item: Item, named account: String? = nil, from machine: Machine) async throws {
        var report = ExchangeReport()
        _ = try await machine.member.take(&report) { state, now in
            var named = item
            if let account { named.attributes[.account] = .string(account) }
            let id = state.replica.keyring.ring.item(SharedItem.primaryKey(named))
            let write = LocalWrite(item: id, .value(SharedItem.encode(item), accessibility: 6))
            _ = try state.replica.commit([write], at: now)
            return []
        }
        try await machine.exchange()
    }

    static func item(_ account: String) -> Item {
        let attributes: Attributes = [
            .service: .string("s"), .account: .string(account), .accessGroup: .string("default"),
            .synchronizable: .number(1),
        ]
        return Item(
            itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(.whenUnlocked),
            value: Data("pushed".utf8))
    }

    @Test func itemThatMayNotBeShared_pushedByAMember_isNotTaken() async throws {
        let (laptop, desktop) = try await pair()
        var local = Self.item("local")
        local.attributes[.synchronizable] = .number(0)
        var constrained = Self.item("constrained")
        constrained.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
        for item in [local, constrained] { try await push(item, from: laptop) }
        // Under the name of another item.
        try await push(Self.item("liar"), named: "victim", from: laptop)
        try await push(Self.item("honest"), from: laptop)
        try await desktop.exchange()
        #expect(try desktop.items() == ["honest=pushed"])
        let all = Selection(itemClass: .genericPassword, conditions: [.service: .string("s")])
        #expect(try desktop.vault.select(all, limit: nil, includingValues: false, .none).items.count == 1)
    }

    @Test func valueThatIsTooLarge_staysAndIsSaidEachTime() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try await desktop.exchange()
        try laptop.update("a", String(repeating: "x", count: 17_000_000))
        let tooLarge = SyncFinding.tooLargeToShare(item: "'a' of 's'")
        #expect(try await laptop.exchange().findings == [tooLarge])
        try desktop.delete("a")
        try await desktop.exchange()
        #expect(try await laptop.exchange().findings.contains(tooLarge))
        #expect(try laptop.items().count == 1)
        try laptop.update("a", "2")
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=2"])
    }

    @Test func noticesOfValuesThatAreTooLarge_nameTheirItems() async throws {
        let laptop = try await founder()
        for account in ["a", "b"] { try laptop.add(account, String(repeating: "x", count: 17_000_000)) }
        try await laptop.exchange()
        let messages = try await laptop.member.status().notices.map(\.message)
        #expect(messages.count == 2)
        for account in ["a", "b"] {
            #expect(messages.contains { $0.hasPrefix("The item '\(account)' of 's' is larger") }, "\(messages)")
        }
        #expect(!messages.contains { $0.contains("xx") })
    }

    @Test func noticeOfAnItemWithALongName_hasItsBeginning() async throws {
        let laptop = try await founder()
        try laptop.add(String(repeating: "n", count: 1000), String(repeating: "x", count: 17_000_000))
        let text = try #require(try await laptop.exchange().findings.first?.text())
        #expect(text.hasPrefix("The item '\(String(repeating: "n", count: 64))…' of 's' is larger"))
    }

    @Test func vaultRestoredFromABackup_losesNothingAndIsHeard() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        let backup = folder.path + "/vault.backup"
        try laptop.vault.backup(to: backup)
        try laptop.add("b", "2")
        try laptop.update("a", "3")
        try await laptop.exchange()
        _ = try laptop.vault.restore(from: backup)
        #expect(try laptop.items() == ["a=1"])
        try laptop.add("c", "4")
        for _ in 0..<3 {
            try await laptop.exchange()
            try await desktop.exchange()
        }
        #expect(try laptop.items() == ["a=3", "b=2", "c=4"])
        #expect(try desktop.items() == ["a=3", "b=2", "c=4"])
    }

    @Test func sharedFolder_thatIsEmptied_isFilledAgain() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try desktop.add("b", "2")
        try await laptop.exchange()
        try await desktop.exchange()
        try FileManager.default.removeItem(atPath: folder.path + "/shared/skc1")
        for _ in 0..<3 {
            try await laptop.exchange()
            try await desktop.exchange()
        }
        let server = try await join("server", by: laptop)
        #expect(try server.items() == ["a=1", "b=2"])
    }

    @Test func bytesInTheFolder_changedByItsCarrier_changeNoItem() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        let root = folder.path + "/shared"
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) where name.hasSuffix(".skc") {
            let url = URL(fileURLWithPath: root + "/" + name)
            var bytes = try Data(contentsOf: url)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: url)
        }
        _ = try? await desktop.exchange()
        #expect(try desktop.items() == [])
        #expect(try laptop.items() == ["a=1"])
    }

    @Test func itemsWritten_whileBothExchange_areOnBothInTheEnd() async throws {
        let (laptop, desktop) = try await pair()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, machine) in [("l", laptop), ("d", desktop)] {
                group.addTask {
                    for number in 0..<10 {
                        try machine.add("\(name)\(number)", "1")
                        if number.isMultiple(of: 3) { try machine.update("\(name)\(number)", "2") }
                        if number.isMultiple(of: 5) { try machine.delete("\(name)\(number)") }
                    }
                }
                group.addTask { for _ in 0..<3 { try await machine.exchange() } }
                // As another process would.
                group.addTask {
                    let other = RingMember(Vault(machine.vault.location, machine.vault.settings))
                    for _ in 0..<2 { _ = try await other.exchange(timeout: .seconds(900)) }
                }
            }
            try await group.waitForAll()
        }
        for _ in 0..<2 {
            try await laptop.exchange()
            try await desktop.exchange()
        }
        #expect(try laptop.items().count == 16)
        #expect(try laptop.items() == desktop.items())
        #expect(try await laptop.member.status().compareCode == desktop.member.status().compareCode)
    }

    @Test func manyItems_reachAMachineThatJoins() async throws {
        let laptop = try await founder()
        try laptop.vault.transaction(.none) { (items) throws(KeychainError) in
            for number in 0..<3000 { _ = try items.insert(Self.item("\(number)"), .none) }
        }
        try await laptop.exchange()
        let desktop = try await join("desktop", by: laptop)
        #expect(try desktop.items().count == 3000)
    }

    @Test func watch_ofOneMachine_sendsAndReceives() async throws {
        let (laptop, desktop) = try await pair()
        let watches = [laptop, desktop].map { machine in Task { try await machine.member.watch { _ in } } }
        defer { for watch in watches { watch.cancel() } }
        try laptop.add("a", "1")
        try await eventually { try desktop.items() == ["a=1"] }
        try desktop.update("a", "2")
        try await eventually { try laptop.items() == ["a=2"] }
    }

    func eventually(_ condition: () async throws -> Bool) async throws {
        try await yieldUntil("What has to happen", every: .milliseconds(5), condition)
    }
}
