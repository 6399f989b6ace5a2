// SPDX-License-Identifier: Apache-2.0
// Which programs may use items, and when (rules 4.2, 5.1, 5.3 and 5.4).

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: access groups")
struct AccessGroupTests {
    @Test(arguments: StoreKind.allCases)
    func item_addedWithoutAGroup_getsTheCallersFirst(kind: StoreKind) throws {
        let services = try kind.services(groups: ["first", "second"])
        services.add(genp())
        #expect(try services.attributes(genp())["agrp"] as? String == "first")
    }

    @Test(arguments: StoreKind.allCases)
    func item_addedByAnUnrestrictedCaller_getsTheSharedGroup(kind: StoreKind) throws {
        let services = Services(engine: try kind.services().engine, accessGroups: .unrestricted)
        services.add(genp())
        services.add(genp(["agrp": "any"]))
        #expect(try services.attributes(genp(["agrp": "default"]))["agrp"] as? String == "default")
        #expect(services.count(genp()) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func query_withoutAGroup_searchesAllOfTheCallers(kind: StoreKind) throws {
        let services = try kind.services(groups: ["A", "B", "C"])
        for group in ["A", "B", "C"] { services.add(genp(["agrp": group])) }
        #expect(services.count(genp()) == 3)
        #expect(services.with(groups: ["A", "C"]).count(genp()) == 2)
        #expect(services.count(genp(["agrp": "B"])) == 1)
    }

    @Test(arguments: StoreKind.allCases, [Call.find, .update, .delete])
    func item_inAForeignGroup_isNotFound(kind: StoreKind, call: Call) throws {
        let services = try kind.services(groups: ["A"])
        services.add(genp())
        #expect(call.status(services.with(groups: ["B"]), genp()) == errSecItemNotFound)
    }

    @Test(arguments: StoreKind.allCases, ["a", "A ", "A.B", "", "*"])
    func group_thatIsNotExactlyAnOwnOne_isForeign(kind: StoreKind, group: String) throws {
        for call in Call.allCases {
            #expect(call.status(try kind.services(groups: ["A"]), genp(["agrp": group])) == errSecMissingEntitlement)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func emptyGroup_thatIsListed_isAGroupLikeAnyOther(kind: StoreKind) throws {
        let services = try kind.services(groups: ["A", ""])
        #expect(services.add(genp(["agrp": ""])).status == errSecSuccess)
        #expect(services.count(genp(["agrp": ""])) == 1)
        #expect(services.count(genp(["agrp": "A"])) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func tokenGroupAlone_mayBeSearchedAndNotWritten(kind: StoreKind) throws {
        let services = try kind.services(groups: ["com.apple.token"])
        for entries in [genp(), genp(["agrp": "com.apple.token"])] {
            #expect(services.find(entries).status == errSecItemNotFound)
            for call in [Call.add, .update, .delete] {
                #expect(call.status(services, entries) == errSecMissingEntitlement, "\(call)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func tokenGroup_listedFirst_isNotTheGroupOfNewItems(kind: StoreKind) throws {
        let services = try kind.services(groups: ["com.apple.token", "A"])
        services.add(genp())
        #expect(try services.attributes(genp())["agrp"] as? String == "A")
    }

    /// The statuses of adding, searching, updating and deleting.
    static let oddGroups: [Row<[OSStatus]>] = [
        Row("number", ["agrp": 5], [errSecParam, errSecParam, errSecMissingEntitlement, errSecMissingEntitlement]),
        Row(
            "data", ["agrp": Data("test".utf8)],
            [errSecMissingEntitlement, errSecSuccess, errSecMissingEntitlement, errSecMissingEntitlement]),
    ]

    @Test(arguments: StoreKind.allCases, oddGroups)
    func group_thatIsNoString_isBadOrForeign(kind: StoreKind, row: Row<[OSStatus]>) throws {
        for (index, call) in Call.allCases.enumerated() {
            #expect(try call.status(kind, genp(row.entries)) == row.expected[index], "\(call)")
        }
    }
}

@Suite("Rules: accessibility and access control")
struct AccessControlTests {
    @Test(arguments: StoreKind.allCases, ["ak", "ck", "dk", "aku", "cku", "dku"])
    func accessibility_isStoredAndFoundBy(kind: StoreKind, name: String) throws {
        let services = try kind.services()
        #expect(services.add(genp(["pdmn": name])).status == errSecSuccess)
        #expect(try services.attributes(genp(["pdmn": name]))["pdmn"] as? String == name)
    }

    @Test(arguments: StoreKind.allCases)
    func accessibilityThatNeedsAPasscode_withoutOne_isNotAvailable(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(genp(["pdmn": "akpu"])).status == errSecNotAvailable)
        #expect(services.count(genp()) == 0)
    }

    @Test(arguments: StoreKind.allCases, ["f", "zz", "", "AK"])
    func accessibility_thatNothingIsStoredIn_isRefused(kind: StoreKind, name: String) throws {
        #expect(try kind.services().add(genp(["pdmn": name])).status == errSecParam)
    }

    // MARK: SecAccessControlCreateWithFlags

    static let refusedFlags: [SecAccessControlCreateFlags] = [
        [.or, .and], [.biometryAny, .biometryCurrentSet], [.userPresence, .biometryAny], [.userPresence, .or],
        [.userPresence, .and], [.userPresence, .devicePasscode], [.userPresence, .companion],
    ]

    @Test(arguments: refusedFlags)
    func flags_thatContradictEachOther_giveAnErrorObject(flags: SecAccessControlCreateFlags) throws {
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, &error)
        #expect(control == nil)
        let object = try #require(error).takeRetainedValue()
        #expect(object.domain == NSOSStatusErrorDomain)
        #expect(object.code == Int(errSecParam))
    }

    static let acceptedFlags: [SecAccessControlCreateFlags] = [
        [], .or, .and, .userPresence, .biometryAny, .touchIDAny, .biometryCurrentSet, .touchIDCurrentSet,
        .devicePasscode, .companion, .watch, .privateKeyUsage, .applicationPassword, [.or, .devicePasscode],
        [.biometryAny, .devicePasscode, .or], [.biometryAny, .devicePasscode, .and],
        [.biometryAny, .devicePasscode, .and, .applicationPassword],
        [.userPresence, .applicationPassword, .privateKeyUsage], SecAccessControlCreateFlags(rawValue: 1 << 20),
    ]

    @Test(arguments: acceptedFlags)
    func flags_thatGoTogether_giveAnObjectAndNoError(flags: SecAccessControlCreateFlags) {
        var error: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, &error) != nil)
        #expect(error == nil)
    }

    static let bits: [(SecAccessControlCreateFlags, UInt)] = [
        (.userPresence, 1), (.biometryAny, 2), (.touchIDAny, 2), (.biometryCurrentSet, 8), (.touchIDCurrentSet, 8),
        (.devicePasscode, 16), (.companion, 32), (.watch, 32), (.or, 16384), (.and, 32768),
        (.privateKeyUsage, 1_073_741_824), (.applicationPassword, 2_147_483_648),
    ]

    @Test(arguments: bits)
    func flag_hasApplesNumber(flag: SecAccessControlCreateFlags, number: UInt) {
        #expect(flag.rawValue == number)
    }

    @Test(arguments: ["zz", "", "f"])
    func protection_thatIsUnknown_givesNoObject(name: String) {
        #expect(SecAccessControlCreateWithFlags(nil, NSString(string: name), [], nil) == nil)
    }

    @Test func protection_thatIsNoString_givesNoObject() {
        #expect(SecAccessControlCreateWithFlags(nil, NSNumber(value: 1), [], nil) == nil)
    }

    @Test(arguments: ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"])
    func objects_ofTheSameConditions_areEqual(name: String) throws {
        let make = { SecAccessControlCreateWithFlags(nil, NSString(string: name), .userPresence, nil) }
        let control = try #require(make())
        #expect(control == make())
        #expect(control.hash == make()?.hash)
        #expect(control != SecAccessControlCreateWithFlags(nil, NSString(string: name), [], nil))
        #expect(control.description == "<SecAccessControl: \(name) userPresence>")
    }

    // MARK: In dictionaries

    /// The user cannot be asked, and no passphrase is set.
    static let unsatisfied: [(SecAccessControlCreateFlags, OSStatus)] = [
        (.userPresence, errSecNotAvailable), (.devicePasscode, errSecNotAvailable),
        (.biometryAny, errSecNotAvailable), (.biometryCurrentSet, errSecNotAvailable),
        (.companion, errSecNotAvailable), ([.biometryAny, .or, .devicePasscode], errSecNotAvailable),
        (.applicationPassword, errSecInteractionNotAllowed), (.privateKeyUsage, errSecSuccess),
    ]

    @Test(arguments: StoreKind.allCases, unsatisfied)
    func constrainedItem_thatCannotBeKeptAsAsked_isNotStored(
        kind: StoreKind, row: (flags: SecAccessControlCreateFlags, status: OSStatus)
    ) throws {
        let services = try kind.services()
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, row.flags, nil))
        #expect(services.add(genp(["accc": control])).status == row.status)
        #expect(services.count(genp()) == (row.status == errSecSuccess ? 1 : 0))
    }

    @Test(arguments: StoreKind.allCases, Call.allCases)
    func accessibility_withACreatedObject_isRefusedEvenIfTheyAgree(kind: StoreKind, call: Call) throws {
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        #expect(try call.status(kind, genp(["pdmn": "ak", "accc": control])) == errSecParam)
    }

    @Test(arguments: StoreKind.allCases)
    func accessibility_withTheObjectReturnedForIt_isAccepted(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["pdmn": "ck"]))
        let returned = try #require(services.attributes(genp())["accc"] as? SecAccessControl)
        #expect(services.find(genp(["pdmn": "ck", "accc": returned])).status == errSecSuccess)
        #expect(services.add(genp(["acct": "b", "pdmn": "ck", "accc": returned])).status == errSecSuccess)
        #expect(services.update(genp(), to: ["pdmn": "ck", "accc": returned]) == errSecSuccess)
        #expect(services.find(genp(["pdmn": "ak", "accc": returned])).status == errSecParam)
    }

    @Test(arguments: StoreKind.allCases)
    func accessibility_setWithADisagreeingObject_isRefused(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp())
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        #expect(services.update(genp(), to: ["pdmn": "ak", "accc": control]) == errSecParam)
    }

    @Test(arguments: StoreKind.allCases)
    func searchReturningAttributes_givesAnObjectForEveryItem(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["acct": "a", "pdmn": "ck"]))
        services.add(genp(["acct": "b", "pdmn": "ck"]))
        let list = services.find(genp(["r_Attributes": true, "m_Limit": "m_LimitAll"])).dictionaries ?? []
        let objects = list.compactMap { $0["accc"] as? SecAccessControl }
        #expect(objects.count == 2)
        #expect(objects.first == objects.last)
    }
}
