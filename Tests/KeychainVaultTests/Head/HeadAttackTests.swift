// SPDX-License-Identifier: Apache-2.0
// A vault that is put back, or changed behind its back: it says so, can be read, and not changed until it is accepted.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

/// One way to change a closed vault.
struct HeadAttack: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: [HeadFinding]
    /// How many items can be read then.
    let items: Int
    let statements: [String]

    init(_ name: String, _ expected: [HeadFinding], items: Int = 3, _ statements: String...) {
        (testDescription, self.expected, self.items, self.statements) = (name, expected, items, statements)
    }

    private static let columns = "uuid, version, class, generation, major, minor"

    static let all = [
        HeadAttack("a row is deleted", [.missing(.items, 1)], items: 2, "DELETE FROM item WHERE id = 2"),
        HeadAttack(
            "a row is doubled", [.added(.items, 1)],
            "INSERT INTO item SELECT 9, \(columns), zeroblob(16), metadata, value FROM item WHERE id = 1"),
        HeadAttack(
            "a row is doubled in the place of another", [.changed(.items)], items: 2,
            "CREATE TEMP TABLE t AS SELECT * FROM item WHERE id = 1", "DELETE FROM item WHERE id = 2",
            "INSERT INTO item SELECT 2, \(columns), zeroblob(16), metadata, value FROM temp.t"),
        HeadAttack("an entry of the index is deleted", [.missing(.index, 1)], "DELETE FROM lookup WHERE item = 2"),
        HeadAttack("the index is emptied", [.missing(.index, 3)], "DELETE FROM lookup"),
        HeadAttack("an entry is added", [.added(.index, 1)], "INSERT INTO lookup VALUES (zeroblob(16), 1)"),
        HeadAttack(
            "entries of two rows are swapped", [.changed(.index)],
            "UPDATE lookup SET item = 3 - item WHERE item IN (1, 2)"),
        HeadAttack("the format is lowered", [.changedFormat], "PRAGMA user_version = 2"),
        HeadAttack("the format is lowered by one", [.changedFormat], "PRAGMA user_version = 3"),
        HeadAttack("the index of minor parts is dropped", [.changedFormat], "DROP INDEX item_minor"),
        HeadAttack("the head is dropped", [.unreadableHead], "DROP TABLE head"),
        HeadAttack("the head's row is deleted", [.unreadableHead], "DELETE FROM head"),
        HeadAttack("the head is overwritten", [.unreadableHead], "UPDATE head SET bytes = zeroblob(165)"),
        HeadAttack(
            "the head is dropped and the format lowered", [.formerFormat], "DROP TABLE head",
            "PRAGMA user_version = 2"),
        HeadAttack(
            "a row is put into quarantine", [.missing(.items, 1), .added(.quarantine, 1)], items: 2,
            "INSERT INTO quarantine SELECT *, 0 FROM item WHERE id = 1", "DELETE FROM item WHERE id = 1"),
    ]
}

struct HeadAttackTests {
    /// A closed vault with three items, each with a label, and so with one entry of the index.
    static func vaultWithThreeItems() throws -> TestVault {
        let test = try TestVault()
        for number in 1...3 { try add(test, number) }
        try test.vault.close()
        return test
    }

    static func add(_ test: TestVault, _ number: Int) throws {
        var query = Query.genericPassword("service", "account-\(number)", value: "value-\(number)")
        query.attributes[.label] = .string("label-\(number)")
        try test.engine.add(query)
    }

    static func values(_ test: TestVault) throws -> Int {
        try test.another().select(Selection(itemClass: nil), limit: nil, includingValues: true).items.count
    }

    static func doctorsProblems(_ test: TestVault) -> [String] {
        Vault.examine(test.location).filter { $0.severity == .problem && $0.check == "head" }.map(\.message)
    }

    /// What holds for every vault that is not as it was left.
    static func expectReadOnly(
        _ test: TestVault, _ expected: [HeadFinding], items: Int, _ settings: VaultSettings = .cheap
    ) throws {
        let vault = test.another(settings)
        #expect(try vault.headFindings(wholeVault: true) == expected)
        #expect(try vault.status().headFindings == expected)
        #expect(try values(test) == items)
        let refusal = failure { try vault.engine.add(.genericPassword("service", "new", value: "v")) }
        #expect(refusal?.reason == .rolledBack)
        for finding in expected { #expect(refusal?.message.contains(finding.message) ?? false) }
        if items == 3 {
            #expect(reason { try vault.engine.delete(.genericPassword("service", "account-3")) } == .rolledBack)
        }
        #expect(reason { try vault.addProtector(.keyFile()) } == .rolledBack)
        #expect(try values(test) == items)
    }

    static func expectAcceptedInOneStep(
        _ test: TestVault, _ expected: [HeadFinding], _ settings: VaultSettings = .cheap
    ) throws {
        let refused = test.another(settings)
        #expect(reason { try refused.engine.add(.genericPassword("service", "new", value: "v")) } == .rolledBack)
        let vault = test.another(settings)
        #expect(try vault.accept() == expected)
        #expect(try vault.headFindings(wholeVault: true) == [])
        try vault.engine.add(.genericPassword("service", "new", value: "v"))
        // Also for a process that was refused before.
        try refused.engine.add(.genericPassword("service", "newer", value: "v"))
        let later = test.another(settings)
        #expect(try later.headFindings(wholeVault: true) == [])
        #expect(try later.accept() == [])
    }

    @Test(arguments: HeadAttack.all)
    func vault_changedBehindItsBack_isReadOnlyUntilItIsAccepted(_ attack: HeadAttack) throws {
        let test = try Self.vaultWithThreeItems()
        let connection = try Connection(test.databaseFile)
        for statement in attack.statements { try connection.execute(SQL(stringLiteral: statement)) }
        try connection.close()
        try Self.expectReadOnly(test, attack.expected, items: attack.items)
        #expect(Self.doctorsProblems(test).count == 1)
        try Self.expectAcceptedInOneStep(test, attack.expected)
        #expect(Self.doctorsProblems(test).isEmpty)
    }

    @Test func vault_asItWasLeft_hasNothingToAccept() throws {
        let test = try Self.vaultWithThreeItems()
        #expect(try test.another().headFindings(wholeVault: true) == [])
        #expect(try test.another().accept() == [])
        #expect(Self.doctorsProblems(test).isEmpty)
    }
}
