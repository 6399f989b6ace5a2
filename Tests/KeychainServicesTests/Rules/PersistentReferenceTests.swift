// SPDX-License-Identifier: Apache-2.0
// Persistent references: their form, and what they find (rules 7.1 and 7.2).

import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: persistent references")
struct PersistentReferenceTests {
    private func servicesWithItem(_ kind: StoreKind) throws -> (Services, reference: Data) {
        let services = try kind.services()
        let item = genp(["acct": "a", "v_Data": secret, "r_PersistentRef": true])
        return (services, try #require(services.add(item).data))
    }

    static let bytes: [Row<OSStatus>] = [
        Row("20 bytes", ["v_PersistentRef": Data("genp".utf8) + Data(count: 16)], errSecItemNotFound),
        Row("12 bytes", ["v_PersistentRef": Data("genp".utf8) + Data(count: 8)], errSecItemNotFound),
        Row("no bytes", ["v_PersistentRef": Data()], errSecParam),
        Row("4 bytes", ["v_PersistentRef": Data("genp".utf8)], errSecParam),
        Row("19 bytes", ["v_PersistentRef": Data("genp".utf8) + Data(count: 15)], errSecParam),
        Row("unknown class", ["v_PersistentRef": Data("zzzz".utf8) + Data(count: 16)], errSecParam),
        Row("AppleShare", ["v_PersistentRef": Data("apls".utf8) + Data(count: 16)], errSecNoSuchClass),
        Row("token", ["v_PersistentRef": Data("tkpr".utf8) + Data(count: 40)], errSecUnimplemented),
        Row("text", ["v_PersistentRef": "genp"], errSecParam), Row("null", ["v_PersistentRef": NSNull()], errSecParam),
    ]

    @Test(arguments: StoreKind.allCases, bytes)
    func reference_isReadByItsForm(kind: StoreKind, row: Row<OSStatus>) throws {
        for call in [Call.find, .update, .delete] {
            #expect(try call.status(kind, row.entries) == row.expected, "\(call)")
        }
    }

    @Test(arguments: StoreKind.allCases, ["genp", "inet", "cert", "keys"])
    func reference_startsWithTheClass(kind: StoreKind, itemClass: String) throws {
        let reference = try #require(kind.services().add(["class": itemClass, "r_PersistentRef": true]).data)
        #expect(reference.prefix(4) == Data(itemClass.utf8))
        #expect(reference.count == 20)
    }

    @Test(arguments: StoreKind.allCases)
    func reference_needsNoClass(kind: StoreKind) throws {
        let (services, reference) = try servicesWithItem(kind)
        #expect(services.find(["v_PersistentRef": reference, "r_Data": true]).data == secret)
        #expect(services.find(genp(["v_PersistentRef": reference, "r_Data": true])).data == secret)
    }

    @Test(arguments: StoreKind.allCases)
    func reference_ofTheOldForm_inAnAdditionIsRefused(kind: StoreKind) throws {
        let old = Data("genp".utf8) + Data(count: 8)
        #expect(try kind.services().add(genp(["v_PersistentRef": old])).status == errSecParam)
    }

    @Test(
        arguments: StoreKind.allCases,
        [(Call.find, errSecItemNotFound), (.update, errSecParam), (.delete, errSecParam)])
    func reference_ofTheOldFormWithAttributes_isRefusedByChanges(
        kind: StoreKind, row: (call: Call, expected: OSStatus)
    ) throws {
        let old = Data("genp".utf8) + Data(count: 8)
        #expect(try row.call.status(kind, genp(["v_PersistentRef": old, "acct": "a"])) == row.expected)
    }

    @Test(arguments: StoreKind.allCases)
    func reference_chosenByTheCaller_isIgnoredByAdditions(kind: StoreKind) throws {
        let chosen = Data("genp".utf8) + Data(count: 16)
        let answer = try kind.services().add(genp(["v_PersistentRef": chosen, "r_PersistentRef": true]))
        #expect(answer.data?.count == 20)
        #expect(answer.data != chosen)
    }

    @Test(arguments: StoreKind.allCases)
    func reference_ofAnItemAddedAgain_isAnother(kind: StoreKind) throws {
        let (services, reference) = try servicesWithItem(kind)
        #expect(services.delete(genp()) == errSecSuccess)
        #expect(services.find(["v_PersistentRef": reference]).status == errSecItemNotFound)
        #expect(services.add(genp(["acct": "a", "r_PersistentRef": true])).data != reference)
    }

    static let changes: [Row<Void>] = [
        Row("primary key", ["acct": "b"], ()), Row("group", ["agrp": "test2"], ()),
        Row("synchronizable", ["sync": true], ()),
        Row("secret", ["v_Data": secret], ()), Row("accessibility", ["pdmn": "dk"], ()),
    ]

    @Test(arguments: StoreKind.allCases, changes)
    func reference_isKeptByUpdates(kind: StoreKind, row: Row<Void>) throws {
        let (services, reference) = try servicesWithItem(kind)
        #expect(services.update(genp(), to: row.entries) == errSecSuccess)
        #expect(services.find(["v_PersistentRef": reference, "r_Data": true]).data == secret)
        #expect(services.find(genp(["sync": "syna", "r_PersistentRef": true])).data == reference)
    }

    @Test(arguments: StoreKind.allCases, [["acct": "a"], ["agrp": "test"]])
    func reference_withAnAttribute_isRefusedBySearches(kind: StoreKind, attribute: [String: String]) throws {
        let (services, reference) = try servicesWithItem(kind)
        #expect(services.find(attribute.asEntries(reference)).status == errSecParam)
    }

    @Test(arguments: StoreKind.allCases, [Call.find, .update, .delete])
    func reference_toAForeignGroup_isNotFound(kind: StoreKind, call: Call) throws {
        let (services, reference) = try servicesWithItem(kind)
        #expect(call.status(services.with(groups: ["other"]), ["v_PersistentRef": reference]) == errSecItemNotFound)
    }

    @Test(arguments: StoreKind.allCases)
    func reference_withAnAttributeThatTheItemLacks_changesNothing(kind: StoreKind) throws {
        let (services, reference) = try servicesWithItem(kind)
        #expect(services.delete(["v_PersistentRef": reference, "acct": "b"]) == errSecItemNotFound)
        #expect(services.count(genp()) == 1)
    }
}

extension [String: String] {
    fileprivate func asEntries(_ reference: Data) -> Entries {
        (self as Entries).adding(["v_PersistentRef": reference])
    }
}
