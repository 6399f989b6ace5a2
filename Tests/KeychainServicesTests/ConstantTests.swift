// SPDX-License-Identifier: Apache-2.0
// Every public string constant and status code has the value that Apple's has.

import Foundation
import KeychainServices
import Testing

/// One constant: its name, the string this library gives it and the string Apple gives it.
struct Spelling: Sendable {
    let name: String
    let actual: String
    let apple: String

    init(_ name: String, _ actual: CFString, _ apple: String) {
        self.name = name
        self.actual = actual as String
        self.apple = apple
    }
}

/// Constants of one kind, and the groups of names in it that share one string on purpose.
struct Family: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let members: [Spelling]
    let aliases: [Set<String>]

    init(_ name: String, _ members: [Spelling], aliases: [Set<String>] = []) {
        testDescription = name
        self.members = members
        self.aliases = aliases
    }
}

/// One status code: its name, the number this library gives it and the number Apple gives it.
struct StatusRow: Sendable {
    let name: String
    let actual: OSStatus
    let apple: OSStatus

    init(_ name: String, _ actual: OSStatus, _ apple: OSStatus) {
        self.name = name
        self.actual = actual
        self.apple = apple
    }
}

@Suite("Constants")
struct ConstantTests {
    @Test(arguments: families)
    func constants_comparedWithApple_haveTheSameStrings(family: Family) {
        for member in family.members {
            #expect(member.actual == member.apple, "\(member.name)")
        }
    }

    @Test(arguments: families)
    func constants_withinOneFamily_areDistinct(family: Family) {
        for (actual, members) in Dictionary(grouping: family.members, by: \.actual) where members.count > 1 {
            let names = Set(members.map(\.name))
            #expect(family.aliases.contains(names), "\(names.sorted()) share \(actual)")
        }
    }

    @Test func statusCodes_comparedWithApple_haveTheSameNumbers() {
        for row in coreStatusRows + trustStatusRows {
            #expect(row.actual == row.apple, "\(row.name)")
        }
    }

    @Test func statusCodes_exceptAliases_areDistinct() {
        let aliases: [Set<String>] = [
            ["errSecDiskFull", "errSecDskFull"],
            ["errSecInvalidCRLAuthority", "errSecInvaldCRLAuthority"],
            ["errSecInvalidTupleCredentials", "errSecInvalidTupleCredendtials"],
        ]
        let byNumber = Dictionary(grouping: coreStatusRows + trustStatusRows, by: \.actual)
        for (number, rows) in byNumber where rows.count > 1 {
            let names = Set(rows.map(\.name))
            #expect(aliases.contains(names), "\(names.sorted()) share \(number)")
        }
    }

    @Test func trustStatusCodes_takenTogether_fillTheirRange() {
        #expect(Set(trustStatusRows.map(\.actual)) == Set((-67904)...(-67585)))
    }

    @Test func cfBooleans_readAsBool_areTrueAndFalse() {
        #expect(kCFBooleanTrue.boolValue)
        #expect(!kCFBooleanFalse.boolValue)
    }

    @Test func cfError_readWithAccessors_givesItsParts() {
        let error: CFError = NSError(
            domain: NSOSStatusErrorDomain, code: -25300, userInfo: [NSLocalizedDescriptionKey: "gone"])
        #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        #expect(CFErrorGetCode(error) == -25300)
        #expect(CFErrorCopyUserInfo(error).count == 1)
        #expect(CFErrorCopyDescription(error) as String == "gone")
    }

    @Test func cfEqual_ofTwoObjects_comparesByValue() {
        #expect(CFEqual(NSString(string: "a"), kSecAttrAccount) == false)
        #expect(CFEqual(NSString(string: "acct"), kSecAttrAccount))
        #expect(CFEqual(NSNumber(value: 1), NSString(string: "1")) == false)
        #expect(CFEqual(Data([1]) as NSData, NSData(data: Data([1]))))
        let plain = PlainObject()
        #expect(CFEqual(plain, plain))
        #expect(CFEqual(plain, PlainObject()) == false)
    }

    @Test func cfUUID_madeAndRead_isItsText() throws {
        let uuid = try #require(CFUUIDCreate(kCFAllocatorDefault))
        let text = try #require(CFUUIDCreateString(kCFAllocatorDefault, uuid)) as String
        #expect(text == (uuid as UUID).uuidString && text.count == 36)
        #expect(CFEqual(CFUUIDCreateFromString(nil, NSString(string: text.lowercased())), uuid))
        #expect(CFEqual(CFUUIDCreate(nil), uuid) == false)
        #expect(CFUUIDCreateFromString(nil, "text" as CFString) == nil && CFUUIDCreateFromString(nil, nil) == nil)
        #expect(CFUUIDCreateString(nil, nil) == nil)
    }

    @Test func cfBoolean_isItsValueAndNoNumber() {
        #expect(CFBooleanGetValue(kCFBooleanTrue) && !CFBooleanGetValue(kCFBooleanFalse) && !CFBooleanGetValue(nil))
        for flag in [kCFBooleanTrue, kCFBooleanFalse, true as CFBoolean] as [CFBoolean] {
            #expect(CFGetTypeID(flag) == CFBooleanGetTypeID())
        }
        for number in [0, 1, 1.5] as [NSNumber] { #expect(CFGetTypeID(number) == CFNumberGetTypeID()) }
    }

    @Test func cfHash_ofEqualObjects_isTheSame() {
        #expect(CFHash(NSString(string: "acct")) == CFHash(kSecAttrAccount) && CFHash(nil) == 0)
    }

    @Test func cfEqual_withNil_neverTraps() {
        #expect(CFEqual(nil, nil))
        #expect(CFEqual(nil, kSecAttrAccount) == false)
        #expect(CFEqual(kSecAttrAccount, nil) == false)
    }
}

/// An object that compares only by identity.
private final class PlainObject {}
