// SPDX-License-Identifier: Apache-2.0
// A vault in a ring: which changes its outbox holds, and how items come from elsewhere.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct RingTransactionTests {
    private let test: TestVault

    init() throws {
        test = try TestVault()
        try test.engine.add(Self.shared("before"))
        try test.engine.add(.genericPassword("s", "local", value: "v"))
        try test.vault.inRing { (ring) throws(KeychainError) in try ring.enter() }
    }

    private static func shared(_ account: String, _ value: String = "v") -> Query {
        var query = Query.genericPassword("s", account, value: value)
        query.attributes[.synchronizable] = .bool(true)
        return query
    }

    /// Without a value, for searching.
    private static func search(_ account: String) -> Query {
        var query = shared(account)
        query.value = nil
        return query
    }

    /// As `+account=value` and `-name`; those of one change in one list.
    private func outgoing() throws -> [[String]] {
        let changes = try test.vault.inRing { (ring) throws(KeychainError) in try ring.outgoing() }
        var (lists, last): ([[String]], Int64?) = ([], nil)
        for change in changes {
            if change.change != last { lists.append([]) }
            last = change.change
            lists[lists.count - 1].append(text(change.content))
        }
        return lists
    }

    private func text(_ content: OutgoingChange.Content) -> String {
        switch content {
        case .deletion(let name): return "-" + String(decoding: name, as: UTF8.self)
        case .item(_, let item):
            guard case .string(let account) = item.attributes[.account] else { return "?" }
            return "+\(account)=\(String(decoding: item.value ?? Data(), as: UTF8.self))"
        }
    }

    /// As the exchange does: each item has a name from then on, here its account.
    private func take() throws {
        try test.vault.inRing { (ring) throws(KeychainError) in
            for change in try ring.outgoing() {
                guard case .item(let row, let item) = change.content else { continue }
                guard case .string(let account) = item.attributes[.account] else { continue }
                try ring.setName(Data(account.utf8), ofRow: row)
            }
            try ring.clearOutgoing()
        }
    }

    private func format() throws -> Int64? { try Connection(test.databaseFile).number("PRAGMA user_version") }

    // MARK: - Entering and leaving

    @Test func vault_thatEntersARing_hasFormat5AndTellsOfItsSharedItems() throws {
        #expect(try format() == 5)
        #expect(try outgoing() == [["+before=v"]])
        #expect(try test.vault.status().headFindings == [])
    }

    @Test func vault_thatLeavesARing_hasFormat4AndAllItsItems() throws {
        try test.vault.inRing { (ring) throws(KeychainError) in try ring.leave() }
        #expect(try format() == 4)
        #expect(try test.engine.text(Self.search("before")) == "v")
        try test.engine.add(Self.shared("after"))
        #expect(try test.vault.inRing { (ring) throws(KeychainError) in ring.isInRing } == false)
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func vault_inARing_isReadByTheSecondReader() throws {
        #expect(try FormatReader.read(test.location).errors == "")
    }

    // MARK: - The outbox

    @Test func sharedItem_addedUpdatedAndDeleted_isInTheOutbox() throws {
        try take()
        try test.engine.add(Self.shared("a", "1"))
        #expect(try outgoing() == [["+a=1"]])
        try test.engine.update(Self.search("a"), value: "2")
        #expect(try outgoing() == [["+a=2"]])
        try take()
        try test.engine.delete(Self.search("a"))
        #expect(try outgoing() == [["-a"]])
    }

    @Test func sharedItem_deletedBeforeAnybodyHeardOfIt_isForgotten() throws {
        try test.engine.add(Self.shared("a"))
        try test.engine.delete(Self.search("a"))
        #expect(try outgoing() == [["+before=v"]])
    }

    @Test func itemThatIsNotShared_leavesTheOutboxAsItIs() throws {
        try take()
        try test.engine.add(.genericPassword("s", "b", value: "1"))
        try test.engine.update(.genericPassword("s", "b"), value: "2")
        try test.engine.delete(.genericPassword("s", "b"))
        #expect(try outgoing() == [])
    }

    @Test(arguments: [Accessibility.whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly])
    func synchronizableItem_boundToThisMachine_neverLeaves(_ accessibility: Accessibility) throws {
        try take()
        var query = Self.shared("a")
        query.attributes[.accessible] = .string(accessibility.rawValue)
        try test.engine.add(query)
        #expect(try outgoing() == [])
    }

    @Test func sharedItem_boundToThisMachineLater_isDeletedElsewhere() throws {
        try take()
        let changes = Changes([.accessible: .string(Accessibility.whenUnlockedThisDeviceOnly.rawValue)])
        try test.engine.update(Self.search("before"), with: changes, accessGroups: .unrestricted)
        #expect(try outgoing() == [["-before"]])
        #expect(try test.engine.text(Self.search("before")) == "v")
    }

    @Test func transactionOfSeveralItems_isOneChange() throws {
        try take()
        try test.vault.transaction(.none) { (items) throws(KeychainError) in
            for account in ["a", "b"] {
                _ = try items.insert(Self.item(account), .none)
            }
        }
        #expect(try outgoing() == [["+a=v", "+b=v"]])
    }

    /// Otherwise one of them could arrive without the other.
    @Test func change_thatReplacesAPartOfAnother_takesItUp() throws {
        try take()
        try test.vault.transaction(.none) { (items) throws(KeychainError) in
            for account in ["a", "b"] { _ = try items.insert(Self.item(account), .none) }
        }
        try test.engine.update(Self.search("a"), value: "2")
        #expect(try outgoing() == [["+b=v", "+a=2"]])
    }

    @Test func transaction_thatIsRolledBack_leavesNothingInTheOutbox() throws {
        try take()
        #expect(throws: KeychainError.self) {
            try test.vault.transaction(.none) { (items) throws(KeychainError) in
                _ = try items.insert(Self.item("a"), .none)
                throw KeychainError(.cancelled, "The test ends it.")
            }
        }
        #expect(try outgoing() == [])
    }

    private static func item(_ account: String) -> Item {
        let attributes: Attributes = [
            .service: .string("s"), .account: .string(account), .accessGroup: .string(""), .synchronizable: .number(1),
        ]
        return Item(
            itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(.whenUnlocked),
            value: Data("v".utf8))
    }

    // MARK: - From other machines

    @Test func item_putAndRemoved_isThereAndGoneWithoutBeingSentBack() throws {
        try take()
        let item = Self.item("other")
        try test.vault.inRing { (ring) throws(KeychainError) in
            #expect(try ring.put(item, named: Data("other".utf8)) == .placed)
        }
        #expect(try test.engine.text(Self.search("other")) == "v")
        try test.vault.inRing { (ring) throws(KeychainError) in
            #expect(try ring.remove(named: Data("other".utf8)))
            #expect(try !ring.remove(named: Data("other".utf8)))
        }
        #expect(reason { _ = try test.engine.text(Self.search("other")) } == .itemNotFound)
        #expect(try outgoing() == [])
        #expect(try test.vault.status().headFindings == [])
    }

    @Test func item_putAndThenDeletedHere_isDeletedElsewhere() throws {
        try take()
        let item = Self.item("other")
        try test.vault.inRing { (ring) throws(KeychainError) in _ = try ring.put(item, named: Data("name".utf8)) }
        try test.engine.delete(Self.search("other"))
        #expect(try outgoing() == [["-name"]])
    }

    @Test func item_whosePlaceIsTakenByOneOfThisMachine_leavesItAsItIs() throws {
        try take()
        var query = Self.shared("mine", "here")
        query.attributes[.accessible] = .string(Accessibility.whenUnlockedThisDeviceOnly.rawValue)
        try test.engine.add(query)
        var item = Self.item("mine")
        let selection = Selection(itemClass: .genericPassword, conditions: [.account: .string("mine")])
        item.attributes = try #require(
            test.vault.select(selection, limit: 1, includingValues: false, .none).items.first?.item.attributes)
        let other = item
        try test.vault.inRing { (ring) throws(KeychainError) in
            #expect(try ring.put(other, named: Data("n".utf8)) == .takenByUnshared)
            #expect(try !ring.remove(named: Data("n".utf8)))
        }
        #expect(try test.engine.text(Self.search("mine")) == "here")
    }

    @Test func ring_whoseTransactionThrows_hasChangedNothing() throws {
        try take()
        let item = Self.item("other")
        #expect(throws: KeychainError.self) {
            try test.vault.inRing { (ring) throws(KeychainError) in
                _ = try ring.put(item, named: Data("name".utf8))
                try ring.write(Data([1]), as: Data([2]))
                throw KeychainError(.cancelled, "The test ends it.")
            }
        }
        #expect(reason { _ = try test.engine.text(Self.search("other")) } == .itemNotFound)
        #expect(try test.vault.inRing { (ring) throws(KeychainError) in try ring.part(Data([2])) } == nil)
    }

    // MARK: - Changed by others

    private static let forgeries = [
        "INSERT INTO sync_outbox (change, time, id) SELECT 1, 1, id FROM sync_item",
        "DELETE FROM sync_outbox", "UPDATE sync_outbox SET time = time + 1", "UPDATE sync_item SET id = x'00'",
        "UPDATE sync_outbox SET item = NULL, id = zeroblob(100000)",
        "DELETE FROM sync_item", "DELETE FROM sync_state", "UPDATE sync_state SET bytes = x'00'",
        "INSERT INTO sync_state VALUES (x'07', x'07')",
        "DROP TABLE sync_item; DROP TABLE sync_outbox; DROP TABLE sync_state; PRAGMA user_version = 4",
    ]

    private func forge(_ statements: String) throws {
        let connection = try Connection(test.databaseFile)
        for statement in statements.split(separator: ";") {
            try connection.execute(SQL(stringLiteral: String(statement)))
        }
        try connection.close()
    }

    /// Attack: the numbers of changes are not covered by the head, since others may regroup changes.
    @Test func highestNumberOfAChange_isCorrupt_untilTheOutboxIsEmpty() throws {
        try test.engine.add(Self.shared("a"))
        try test.vault.close()
        try forge("UPDATE sync_outbox SET change = 9223372036854775807")
        let vault = test.another()
        #expect(reason { try vault.engine.add(Self.shared("b")) } == .corrupt)
        #expect(reason { _ = try vault.engine.text(Self.search("b")) } == .itemNotFound)
        try vault.inRing { (ring) throws(KeychainError) in try ring.clearOutgoing() }
        try vault.engine.add(Self.shared("b"))
    }

    @Test(arguments: forgeries) func tablesOfARing_changedByOthers_areNoticedAndAcceptedWithoutThem(_ forgery: String)
        throws
    {
        try take()
        try test.engine.add(Self.shared("a"))
        try test.vault.inRing { (ring) throws(KeychainError) in try ring.write(Data([1]), as: Data([2])) }
        try test.vault.close()
        try forge(forgery)
        #expect(try test.another().status().headFindings == [.changed(.ring)])
        let vault = test.another()
        #expect(reason { try vault.inRing { (ring) throws(KeychainError) in _ = ring.isInRing } } == .rolledBack)
        #expect(reason { try vault.engine.add(Self.shared("b")) } == .rolledBack)
        #expect(try vault.accept() == [.changed(.ring)])
        #expect(try test.another().status().headFindings == [])
        #expect(try !test.another().isInRing)
        #expect(try test.another().engine.text(Self.search("before")) == "v")
        try test.another().engine.add(Self.shared("b"))
    }

    /// A process that has the vault open looks at the head only, which is unchanged.
    @Test func deletion_putIntoTheOutboxOfAnOpenVault_isNotTakenUp() throws {
        try take()
        try forge(Self.forgeries[0])
        #expect(reason { _ = try outgoing() } == .rolledBack)
        #expect(
            reason { try test.vault.inRing { (ring) throws(KeychainError) in _ = try ring.state() } } == .rolledBack)
    }

    @Test func vault_thatWasPutBack_isNotOneOfARingUntilItIsAccepted() throws {
        try take()
        try test.vault.close()
        let old = try Data(contentsOf: URL(fileURLWithPath: test.databaseFile))
        try test.another().engine.add(Self.shared("a"))
        try old.write(to: URL(fileURLWithPath: test.databaseFile))
        let vault = test.another()
        #expect(reason { try vault.inRing { (ring) throws(KeychainError) in _ = ring.isInRing } } == .rolledBack)
        try vault.accept()
        #expect(try test.another().inRing { (ring) throws(KeychainError) in ring.isInRing })
    }

    @Test func incarnation_changesWithEachAcceptance() throws {
        let before = try test.vault.inRing { (ring) throws(KeychainError) in try ring.incarnation() }
        #expect(try test.another().inRing { (ring) throws(KeychainError) in try ring.incarnation() } == before)
        let backup = test.location.folder + "/../backup"
        try test.vault.backup(to: backup)
        _ = try test.vault.restore(from: backup)
        #expect(try test.vault.inRing { (ring) throws(KeychainError) in try ring.incarnation() } != before)
    }

    /// Only a machine ID that is read can be another one, as after copying the vault. Of a folder nothing can be read.
    @Test func machineID_thatCannotBeReadNow_isAnError() throws {
        func incarnation(_ machineIDFile: String) throws -> Data {
            var settings = VaultSettings.patient
            settings.machineIDFile = machineIDFile
            return try test.another(settings).inRing { (ring) throws(KeychainError) in try ring.incarnation() }
        }
        #expect(reason { _ = try incarnation(test.root) } == .unavailable)
        #expect(try !incarnation(test.root + "/absent").isEmpty)
    }

    @Test func keyGeneration_changesWithTheKeysOfTheVault() throws {
        let before = try test.vault.inRing { (ring) throws(KeychainError) in try ring.keyGeneration() }
        try test.vault.rotate()
        #expect(try test.vault.inRing { (ring) throws(KeychainError) in try ring.keyGeneration() } > before)
    }

    // MARK: - Items as bytes

    @Test func item_encodedAndDecoded_isTheSame() throws {
        for value in [nil, Data(), Data("v".utf8), Data(count: 100_000)] {
            var item = Self.item("a")
            item.value = value
            let bytes = SharedItem.encode(item)
            #expect(SharedItem.decode(bytes, accessibility: 6) == item)
            #expect(SharedItem.decode(bytes.dropLast(), accessibility: 6) == nil)
            #expect(SharedItem.decode(bytes, accessibility: 77) == nil)
        }
    }
}
