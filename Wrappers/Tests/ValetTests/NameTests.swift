// SPDX-License-Identifier: Apache-2.0
// Names byte by byte: what looks the same is not the same, and what is in another group is not either.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import Testing
import WrapperStores

@testable import Valet

/// Swift's strings take both for equal, keychains do not.
private let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")

@Suite("Names of valets byte by byte")
struct NameTests {
    private let group: Valet.SharedGroupIdentifier
    private let (first, second): (Valet.Identifier, Valet.Identifier)

    init() throws {
        group = try .named("com.example.group")
        (first, second) = (try .named("first"), try .named("second"))
    }

    // MARK: - Text of the same look

    /// The one that was made first would decide where the items of both lie.
    @Test func identifiers_ofTheSameLook_areDifferentValets() throws {
        let valets = [
            Valet.valet(with: try .named(composed), accessibility: .whenUnlocked),
            Valet.valet(with: try .named(decomposed), accessibility: .whenUnlocked),
        ]
        #expect(valets[0] !== valets[1])
        #expect(valets[0] != valets[1])
        for (valet, name) in zip(valets, [composed, decomposed]) {
            #expect(valet.service.description.utf8.contains(name.utf8))
        }
    }

    @Test(arguments: StoreKind.everywhere)
    func keys_ofTheSameLook_areBothMigrated(kind: StoreKind) throws {
        let store = try kind.empty()
        let (old, new) = (try valet(store, "old"), try valet(store))
        for (key, value) in [(composed, "1"), (decomposed, "2")] { try old.setString(value, forKey: key) }
        try new.migrateObjects(from: old, removeOnCompletion: true)
        #expect(try new.string(forKey: composed) == "1")
        #expect(try new.string(forKey: decomposed) == "2")
        #expect(try old.allKeys() == [])
    }

    // MARK: - Equality

    @Test func valets_whoseItemsAreOthers_areNotEqual() throws {
        let memory = MemoryStore()
        let appGroup = try #require(
            Valet.SharedGroupIdentifier(groupPrefix: "group", nonEmptyGroup: group.groupIdentifier))
        let pairs = [
            // The service names the group without its prefix.
            [group, appGroup].map { Valet.sharedGroupValet(with: $0, accessibility: .whenUnlocked) },
            [
                Valet.valet(withExplicitlySet: first, accessibility: .whenUnlocked),
                Valet.iCloudValet(withExplicitlySet: first, accessibility: .whenUnlocked),
            ],
        ].map { $0.map { $0.using(memory) } }
        for pair in pairs {
            #expect(pair[0].service.description == pair[1].service.description)
            #expect(pair[0] != pair[1])
            try pair[0].setString("1", forKey: "key")
            #expect(keychainError { try pair[1].string(forKey: "key") } == .itemNotFound)
        }
    }

    // MARK: - Several valets in one group

    @Test func service_inAGroupWithAnIdentifier_namesBoth() throws {
        let end = "_com.example.group_first_AccessibleWhenUnlocked"
        let start = "_initWithSharedAccessGroupIdentifier:accessibility:"
        let plain = Valet.sharedGroupValet(with: group, identifier: first, accessibility: .whenUnlocked)
        let cloud = Valet.iCloudSharedGroupValet(with: group, identifier: first, accessibility: .whenUnlocked)
        #expect(plain.service.description == "VAL_VALValet" + start + end)
        #expect(cloud.service.description == "VAL_VALSynchronizableValet" + start + end)
        for valet in [plain, cloud] {
            #expect(valet.service.accessGroup == "TEAM.com.example.group")
            #expect(valet.identifier == first)
        }
    }

    @Test(arguments: Valet.SecureEnclaveAccessControl.allCases)
    func service_thatAsksInAGroupWithAnIdentifier_namesBoth(control: Valet.SecureEnclaveAccessControl) {
        let secure = SecureEnclaveValet.sharedGroupValet(with: group, identifier: first, accessControl: control)
        let single = SinglePromptSecureEnclaveValet.sharedGroupValet(
            with: group, identifier: first, accessControl: control)
        let end = "_com.example.group_first_AccessibleWhenPasscodeSetThisDeviceOnly" + control.description
        for service in [secure.service, single.service] {
            #expect(service.description.hasSuffix(end))
            #expect(service.accessGroup == group.description)
            #expect(service.identifier == first)
        }
    }

    @Test(arguments: StoreKind.everywhere)
    func values_ofValetsInOneGroup_areApartByIdentifier(kind: StoreKind) throws {
        let store = try kind.empty()
        let valets = [nil, first, second].map {
            Valet.sharedGroupValet(with: group, identifier: $0, accessibility: .whenUnlocked).using(store)
        }
        for (number, valet) in valets.enumerated() { try valet.setString("\(number)", forKey: "key") }
        for (number, valet) in valets.enumerated() { #expect(try valet.string(forKey: "key") == "\(number)") }
        try valets[1].removeAllObjects()
        #expect(try valets.map { try $0.allKeys().count } == [1, 0, 1])
        #expect(Set(valets).count == 3)
    }

    @Test func group_withoutAnIdentifier_isTheSameAsBefore() {
        let valet = Valet.sharedGroupValet(with: group, accessibility: .whenUnlocked)
        #expect(Valet.sharedGroupValet(with: group, identifier: nil, accessibility: .whenUnlocked) === valet)
        #expect(Valet.sharedGroupValet(with: group, identifier: first, accessibility: .whenUnlocked) != valet)
    }

    @Test func accessibility_thatHasChangedInAGroupWithAnIdentifier_findsItsOwnValuesAgain() throws {
        let memory = MemoryStore()
        let old = [first, second].map {
            Valet.sharedGroupValet(with: group, identifier: $0, accessibility: .whenUnlocked).using(memory)
        }
        for (number, valet) in old.enumerated() { try valet.setString("\(number)", forKey: "key") }
        let new = Valet.sharedGroupValet(with: group, identifier: second, accessibility: .afterFirstUnlock)
            .using(memory)
        #expect(try new.migrateObjectsFromOtherAccessibilities(removeOnCompletion: true) == 1)
        #expect(try content(new) == ["key": "1"])
        #expect(try content(old[0]) == ["key": "0"])
    }
}
