// SPDX-License-Identifier: Apache-2.0
// Changed files: never another value, always an explicit outcome, and the rest of the vault stays usable.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct TamperTests {
    /// A vault with two items, and a way to change its tables behind its back.
    struct Victim {
        let test: TestVault
        let database: Connection

        init() throws {
            test = try TestVault()
            try test.engine.add(.genericPassword("s", "a", value: "value of a"))
            try test.engine.add(.genericPassword("s", "b", value: "value of b"))
            database = try Connection(test.databaseFile)
        }

        func blob(_ column: String, of account: String) throws -> Data {
            let id = try rowID(of: account)
            return try database.blob("SELECT \(column) FROM item WHERE id = ?", [.number(id)]) ?? Data()
        }

        func set(_ column: String, of account: String, to value: SQLValue) throws {
            let id = try rowID(of: account)
            try set(column, ofRow: id, to: value)
        }

        func set(_ column: String, ofRow id: Int64, to value: SQLValue) throws {
            try database.execute("UPDATE item SET \(column) = ? WHERE id = ?", [value, .number(id)])
        }

        func rowID(of account: String) throws -> Int64 {
            let query = Query.genericPassword("s", account).returning(.persistentReference)
            guard
                case .one(.persistentReference(let reference)) = try test.engine.copyMatching(
                    query, accessGroups: .unrestricted), let id = reference.id
            else { return 0 }
            return try #require(try test.vault.openSession()).keyState.sealer().rowID(of: id)
        }

        /// The value, or "!" and the reason why there is none.
        func outcome(_ account: String) -> String {
            reasonOrText { try test.engine.text(.genericPassword("s", account)) }
        }
    }

    @Test(arguments: ["metadata", "value"])
    func sealedBlob_withAnyByteFlipped_isCorrupt(_ column: String) throws {
        let victim = try Victim()
        let original = try victim.blob(column, of: "a")
        let id = try victim.rowID(of: "a")
        for index in original.indices {
            for mask in [0x01, 0x80, 0xFF] as [UInt8] {
                var changed = original
                changed[index] ^= mask
                try victim.set(column, ofRow: id, to: .blob(changed))
                #expect(victim.outcome("a") == "!corrupt", "byte \(index) with \(mask)")
            }
        }
        #expect(victim.outcome("b") == "value of b")
        try victim.set(column, ofRow: id, to: .blob(original))
        #expect(victim.outcome("a") == "value of a")
    }

    @Test(arguments: ["metadata", "value"])
    func sealedBlob_cutAtAnyLength_isCorrupt(_ column: String) throws {
        let victim = try Victim()
        let original = try victim.blob(column, of: "a")
        let id = try victim.rowID(of: "a")
        for length in 0..<original.count {
            try victim.set(column, ofRow: id, to: .blob(original.prefix(length)))
            #expect(victim.outcome("a") == "!corrupt", "length \(length)")
        }
    }

    @Test(arguments: ["metadata", "value", "uuid"])
    func column_swappedBetweenRows_isCorrupt(_ column: String) throws {
        let victim = try Victim()
        let (a, b) = (try victim.rowID(of: "a"), try victim.rowID(of: "b"))
        let (ofA, ofB) = (try victim.blob(column, of: "a"), try victim.blob(column, of: "b"))
        try victim.set(column, ofRow: a, to: .blob(ofB))
        try victim.set(column, ofRow: b, to: .blob(ofA))
        #expect(victim.outcome("a") == "!corrupt")
        #expect(victim.outcome("b") == "!corrupt")
    }

    @Test func keyDigests_swappedBetweenRows_areCorrupt() throws {
        let victim = try Victim()
        let (a, b) = (try victim.rowID(of: "a"), try victim.rowID(of: "b"))
        let (ofA, ofB) = (try victim.blob("minor", of: "a"), try victim.blob("minor", of: "b"))
        try victim.set("scope", ofRow: a, to: .blob(Data(count: 16)))
        try victim.set("minor", ofRow: a, to: .blob(ofB))
        try victim.set("minor", ofRow: b, to: .blob(ofA))
        #expect(victim.outcome("a") == "!corrupt")
        #expect(victim.outcome("b") == "!corrupt")
    }

    @Test func metadataAndValue_swappedInOneRow_areCorrupt() throws {
        let victim = try Victim()
        let id = try victim.rowID(of: "a")
        let (metadata, value) = (try victim.blob("metadata", of: "a"), try victim.blob("value", of: "a"))
        try victim.set("metadata", ofRow: id, to: .blob(value))
        try victim.set("value", ofRow: id, to: .blob(metadata))
        #expect(victim.outcome("a") == "!corrupt")
    }

    @Test func value_ofAnEarlierVersion_isCorrupt() throws {
        let victim = try Victim()
        let earlier = try victim.blob("value", of: "a")
        try victim.test.engine.update(.genericPassword("s", "a"), value: "newer")
        try victim.set("value", of: "a", to: .blob(earlier))
        #expect(victim.outcome("a") == "!corrupt")
    }

    @Test(arguments: ["version", "class", "generation"])
    func number_changedInARow_isCorrupt(_ column: String) throws {
        let victim = try Victim()
        let id = try victim.rowID(of: "a")
        for number in [0, 2, 7, 255, 256, -1, Int64.max, Int64.min] {
            try victim.set(column, ofRow: id, to: .number(number))
            #expect(victim.outcome("a") == "!corrupt", "\(number)")
        }
    }

    @Test func row_indexedUnderAnothersKey_isCorrupt() throws {
        let victim = try Self.victimWithBIndexedUnderTheKeyOfA()
        #expect(victim.outcome("a") == "!corrupt")
    }

    /// Else the row would keep the key from its owner for good.
    @Test func row_indexedUnderAnothersKey_isQuarantinedWhenThatOneIsAdded() throws {
        let victim = try Self.victimWithBIndexedUnderTheKeyOfA()
        try victim.test.engine.add(.genericPassword("s", "a", value: "new"))
        #expect(victim.outcome("a") == "new")
        #expect(try victim.test.vault.status().quarantinedCount == 1)
    }

    private static func victimWithBIndexedUnderTheKeyOfA() throws -> Victim {
        let victim = try Victim()
        let columns = ["minor", "scope"]
        let digests = try columns.map { try victim.blob($0, of: "a") }
        let b = try victim.rowID(of: "b")
        try victim.test.engine.delete(.genericPassword("s", "a"))
        for (column, digest) in zip(columns, digests) { try victim.set(column, ofRow: b, to: .blob(digest)) }
        return victim
    }

    @Test func row_ofAnotherVault_isCorrupt() throws {
        let (victim, other) = (try Victim(), try Victim())
        let id = try victim.rowID(of: "a")
        for column in ["metadata", "value"] {
            try victim.set(column, ofRow: id, to: .blob(other.blob(column, of: "a")))
        }
        #expect(victim.outcome("a") == "!corrupt")
    }

    @Test func damagedItem_addedAgain_isReplacedAndQuarantined() throws {
        let victim = try Victim()
        try victim.set("value", of: "a", to: .blob(Data(count: 152)))
        try victim.test.engine.add(.genericPassword("s", "a", value: "new"))
        #expect(victim.outcome("a") == "new")
        #expect(try victim.test.vault.status().quarantinedCount == 1)
    }

    @Test func damagedItem_deleted_isQuarantinedAndThenAbsent() throws {
        let victim = try Victim()
        try victim.set("metadata", of: "a", to: .blob(Data(count: 284)))
        try victim.test.engine.delete(.genericPassword("s", "a"))
        #expect(victim.outcome("a") == "!itemNotFound")
        #expect(try victim.test.vault.status().quarantinedCount == 1)
    }

    @Test func damagedItem_thatMayNotBeMeant_survivesADeletion() throws {
        let victim = try Victim()
        try victim.set("metadata", of: "a", to: .blob(Data(count: 284)))
        var query = Query.genericPassword("s", "a")
        query.attributes[.comment] = .string("some comment")
        #expect(reason { try victim.test.engine.delete(query) } == .corrupt)
        #expect(try victim.test.vault.status().damagedCount == 1)
        #expect(try victim.test.vault.status().quarantinedCount == 0)
    }

    @Test func deletion_ofAClassWithOnlyADamagedItem_isCorruptAndNotAbsent() throws {
        let victim = try Victim()
        try victim.set("metadata", of: "a", to: .blob(Data(count: 284)))
        #expect(reason { try victim.test.engine.delete(Query(.internetPassword)) } == .corrupt)
    }

    @Test func damagedItem_amongOthers_isCountedAndLeavesTheListUsable() throws {
        let victim = try Victim()
        try victim.set("metadata", of: "a", to: .blob(Data(count: 284)))
        let query = Query(.genericPassword).returning(.value, limit: .all)
        #expect(
            try victim.test.engine.copyMatching(query, accessGroups: .unrestricted)
                == .many([.value(Data("value of b".utf8))]))
        #expect(try victim.test.vault.status().damagedCount == 1)
    }

    /// Every byte with `KEYCHAIN_FAULTS=all`, otherwise a sample.
    @Test func databaseFile_withAnyByteFlipped_neverShowsAnotherValue() throws {
        let victim = try Victim()
        try victim.database.truncateWAL()
        try victim.database.close()
        let original = try Data(contentsOf: URL(fileURLWithPath: victim.test.databaseFile))
        let step = ProcessInfo.processInfo.environment["KEYCHAIN_FAULTS"] == "all" ? 1 : 37
        for index in stride(from: 0, to: original.count, by: step) {
            let test = try TestVault()
            for (path, bytes) in try victim.test.files() {
                try test.place(bytes, at: path.replacingOccurrences(of: victim.test.root, with: test.root))
            }
            var changed = original
            changed[index] ^= 0xFF
            try changed.write(to: URL(fileURLWithPath: test.databaseFile))
            for account in ["a", "b"] {
                let found = reasonOrText { try test.engine.text(.genericPassword("s", account)) }
                #expect(found == "value of \(account)" || found.hasPrefix("!"), "byte \(index): \(found)")
            }
        }
    }
}

/// The text, or the failure's reason after an exclamation mark.
func reasonOrText(_ body: () throws -> String?) -> String {
    do {
        return try body() ?? "!nothing"
    } catch {
        return "!" + ((error as? KeychainError)?.reason.rawValue ?? "unknown")
    }
}
