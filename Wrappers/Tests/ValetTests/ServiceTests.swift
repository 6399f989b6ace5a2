// SPDX-License-Identifier: Apache-2.0
// Names: where the items of a valet lie, in the words that items on Apple's platforms have.

import Foundation
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainServices
import Testing

@testable import Valet

@Suite("Names of valets")
struct ServiceTests {
    private let identifier: Valet.Identifier
    private let group: Valet.SharedGroupIdentifier

    init() throws { (identifier, group) = (try .named("com.example.app"), try .named("com.example.group")) }

    @Test(arguments: [
        (Valet.Accessibility.whenUnlocked, "AccessibleWhenUnlocked", "ak", 1),
        (.afterFirstUnlock, "AccessibleAfterFirstUnlock", "ck", 2),
        (.whenPasscodeSetThisDeviceOnly, "AccessibleWhenPasscodeSetThisDeviceOnly", "akpu", 4),
        (.whenUnlockedThisDeviceOnly, "AccessibleWhenUnlockedThisDeviceOnly", "aku", 5),
        (.afterFirstUnlockThisDeviceOnly, "AccessibleAfterFirstUnlockThisDeviceOnly", "cku", 6),
    ])
    func service_ofAValet_namesKindIdentifierAndAccessibility(
        accessibility: Valet.Accessibility, word: String, constant: String, number: Int
    ) {
        let valet = Valet.valet(with: identifier, accessibility: accessibility)
        #expect(
            valet.service.description == "VAL_VALValet_initWithIdentifier:accessibility:_com.example.app_\(word)")
        #expect(accessibility.secAccessibilityAttribute == constant)
        #expect(accessibility.rawValue == number)
    }

    @Test func service_ofASharedGroup_namesTheGroupWithoutItsPrefix() {
        let valet = Valet.sharedGroupValet(with: group, accessibility: .whenUnlocked)
        let start = "VAL_VALValet_initWithSharedAccessGroupIdentifier:accessibility:_"
        #expect(valet.service.description == start + "com.example.group_AccessibleWhenUnlocked")
        #expect(valet.service.accessGroup == "TEAM.com.example.group")
        #expect(valet.identifier.description == "TEAM.com.example.group")
    }

    @Test(arguments: Valet.CloudAccessibility.allCases)
    func service_thatSynchronizes_namesItsOwnKind(accessibility: Valet.CloudAccessibility) {
        let valet = Valet.iCloudValet(with: identifier, accessibility: accessibility)
        let start = "VAL_VALSynchronizableValet_initWithIdentifier:accessibility:_com.example.app_"
        #expect(valet.service.description == start + accessibility.description)
        #expect(accessibility.secAccessibilityAttribute == accessibility.accessibility.secAccessibilityAttribute)
    }

    @Test(arguments: [
        (Valet.SecureEnclaveAccessControl.userPresence, ""),
        (.biometricAny, "_AccessControlTouchIDAnyFingerprint"),
        (.biometricCurrentSet, "_AccessControlTouchIDCurrentFingerprintSet"),
        (.devicePasscode, "_AccessControlDevicePasscode"),
    ])
    func service_thatAsksForSomebody_namesKindAndAccessControl(
        control: Valet.SecureEnclaveAccessControl, suffix: String
    ) {
        let end = "_initWithIdentifier:accessibility:_com.example.app_AccessibleWhenPasscodeSetThisDeviceOnly" + suffix
        #expect(
            SecureEnclaveValet.valet(with: identifier, accessControl: control).service.description
                == "VAL_VALSecureEnclaveValet" + end)
        #expect(
            SinglePromptSecureEnclaveValet.valet(with: identifier, accessControl: control).service.description
                == "VAL_VALSinglePromptSecureEnclaveValet" + end)
        #expect(
            SecureEnclaveValet.sharedGroupValet(with: group, accessControl: control).service.accessGroup
                == group.description)
        #expect(
            SinglePromptSecureEnclaveValet.sharedGroupValet(with: group, accessControl: control).service.accessGroup
                == group.description)
    }

    @Test func service_setExplicitly_isTheIdentifierItself() {
        let valets = [
            Valet.valet(withExplicitlySet: identifier, accessibility: .afterFirstUnlock),
            Valet.iCloudValet(withExplicitlySet: identifier, accessibility: .afterFirstUnlock),
        ]
        for valet in valets { #expect(valet.service.description == "com.example.app") }
        let shared = [
            Valet.sharedGroupValet(withExplicitlySet: group, accessibility: .afterFirstUnlock),
            Valet.iCloudSharedGroupValet(withExplicitlySet: group, accessibility: .afterFirstUnlock),
        ]
        for valet in shared { #expect(valet.service.description == "com.example.group") }
    }

    @Test func items_ofAValet_lieWhereTheOriginalLaysThem() throws {
        let memory = MemoryStore()
        try Valet.iCloudSharedGroupValet(with: group, accessibility: .afterFirstUnlock).using(memory)
            .setString("s3cret", forKey: "token")
        let items = try KeychainCatalog(store: memory).items()
        let item = try #require(items.first)
        #expect(items.count == 1)
        #expect(item.service?.hasPrefix("VAL_VALSynchronizableValet_initWithSharedAccessGroupIdentifier") == true)
        #expect((item.account, item.accessGroup) == ("token", "TEAM.com.example.group"))
        #expect(item.synchronizable)
        #expect(item.accessibility == .afterFirstUnlock)
        #expect(try KeychainCatalog(store: memory).value(of: item) == Data("s3cret".utf8))
    }

    @Test func item_addedWithTheBaseQuery_isFoundByTheValet() throws {
        let valet = Valet.valet(with: try .named("base query test"), accessibility: .afterFirstUnlock)
        defer { remove(valet) }
        var item = valet.baseKeychainQuery.mapValues(\.base)
        item[kSecAttrAccount as String] = "key"
        item[kSecValueData as String] = Data("value".utf8)
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
        #expect(try valet.string(forKey: "key") == "value")
    }

    private func remove(_ valet: Valet) {
        do { try valet.removeAllObjects() } catch { Issue.record(error) }
    }

    @Test(arguments: [nil, ""] as [String?])
    func identifier_thatIsEmpty_isNil(name: String?) {
        #expect(Valet.Identifier(nonEmpty: name) == nil)
        #expect(Valet.SharedGroupIdentifier(appIDPrefix: "TEAM", nonEmptyGroup: name) == nil)
        #expect(Valet.SharedGroupIdentifier(groupPrefix: "group", nonEmptyGroup: name) == nil)
        #expect(Valet.SharedGroupIdentifier(appIDPrefix: "", nonEmptyGroup: "group") == nil)
    }

    @Test func appGroup_hasThePrefixGroup() {
        let group = Valet.SharedGroupIdentifier(groupPrefix: "group", nonEmptyGroup: "app")
        #expect(group?.description == "group.app")
        #if !os(macOS)
            #expect(Valet.SharedGroupIdentifier(groupPrefix: "TEAM", nonEmptyGroup: "app") == nil)
        #endif
    }

    @Test func description_ofAValet_saysWhatItIs() {
        let valet = Valet.iCloudValet(with: identifier, accessibility: .whenUnlocked)
        #expect(valet.description.hasSuffix("> com.example.app AccessibleWhenUnlocked (iCloud)"))
    }

    // MARK: - One object for each

    @Test func valets_ofOneConfiguration_areOneObject() {
        let valet = Valet.valet(with: identifier, accessibility: .whenUnlocked)
        #expect(Valet.valet(with: identifier, accessibility: .whenUnlocked) === valet)
        let secure = SecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
        #expect(SecureEnclaveValet.valet(with: identifier, accessControl: .userPresence) === secure)
        let single = SinglePromptSecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
        #expect(SinglePromptSecureEnclaveValet.valet(with: identifier, accessControl: .userPresence) === single)
    }

    @Test func valets_ofDifferentConfigurations_areNotEqual() throws {
        let valet = Valet.valet(with: identifier, accessibility: .whenUnlocked)
        let others = [
            Valet.valet(with: try .named("other"), accessibility: .whenUnlocked),
            Valet.valet(with: identifier, accessibility: .afterFirstUnlock),
            Valet.iCloudValet(with: identifier, accessibility: .whenUnlocked),
            Valet.sharedGroupValet(with: group, accessibility: .whenUnlocked),
            valet.using(MemoryStore()),
        ]
        for other in others { #expect(other != valet) }
        #expect(Set(others + [valet]).count == 6)
    }

    @Test func valets_overOneStore_areEqual() {
        let memory = MemoryStore()
        let valet = Valet.valet(with: identifier, accessibility: .whenUnlocked)
        #expect(valet.using(memory) == valet.using(memory))
        #expect(valet.using(memory).hashValue == valet.using(memory).hashValue)
        #expect(valet.using(memory) != valet.using(MemoryStore()))
    }

    @Test func valet_nobodyHolds_isGone() throws {
        weak var valet: Valet?
        do {
            let held = Valet.valet(with: try .named("held for a moment"), accessibility: .whenUnlocked)
            valet = held
            #expect(valet != nil)
        }
        #expect(valet == nil)
    }

    @Test func valets_askedForByManyThreadsAtOnce_areOneObject() async throws {
        let identifier = try Valet.Identifier.named("asked for by many")
        let valets = await withTaskGroup(of: Valet.self) { group in
            for _ in 1...100 { group.addTask { Valet.valet(with: identifier, accessibility: .whenUnlocked) } }
            return await group.reduce(into: [Valet]()) { $0.append($1) }
        }
        #expect(Set(valets.map { ObjectIdentifier($0) }).count == 1)
    }
}
