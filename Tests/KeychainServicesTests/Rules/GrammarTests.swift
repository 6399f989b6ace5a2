// SPDX-License-Identifier: Apache-2.0
// Which keys and values a dictionary may hold (rules 2.1 and 2.2).

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: grammar of dictionaries")
struct GrammarTests {
    static let refusedKeys: [Row<OSStatus>] = [
        Row("four unknown letters", ["zzzz": "x"], errSecNoSuchAttr),
        Row("four letters outside ASCII", ["éééé": "x"], errSecNoSuchAttr),
        Row("c, other than class", ["classy": "genp"], errSecParam),
        Row("unknown r", ["r_Unknown": true], errSecParam),
        Row("unknown u", ["u_Unknown": true], errSecParam),
        Row("unknown v", ["v_Unknown": Data()], errSecParam),
        Row("another first letter", ["x_Other": "x"], errSecParam),
        Row("the name of the reference's column", ["persistref": Data(count: 16)], errSecParam),
        Row("one letter", ["m": "x"], errSecParam), Row("one letter f", ["f": "x"], errSecParam),
        Row("no letter", ["": "x"], errSecParam),
        Row("tvOS's shared keychain", ["u_UserIndependentKeychain": true], errSecParam),
        Row("system keychain", ["u_SystemKeychain": true], errSecMissingEntitlement),
        Row("attribute that needs an entitlement", ["sysb": 1], errSecMissingEntitlement),
        Row("sharing group", ["ggrp": "family"], errSecMissingEntitlement),
        Row("sharing group and synchronizable", ["ggrp": "family", "sync": true], errSecParam),
        Row("context and credential", ["u_AuthCtx": LAContext(), "u_CredRef": Data()], errSecParam),
        Row("credential that is not data", ["u_CredRef": "x"], errSecParam),
        Row("issuer that is not data", ["class": "cert", "issr": "x"], errSecParam),
    ]

    @Test(arguments: StoreKind.allCases, refusedKeys)
    func key_thatHasNoMeaning_isRefusedByEveryCall(kind: StoreKind, row: Row<OSStatus>) throws {
        for call in Call.allCases {
            for dialect in dialects {
                #expect(try call.status(kind, genp(row.entries), dialect) == row.expected, "\(call) \(dialect)")
            }
        }
    }

    static let ignoredKeys: [Row<Void>] = [
        Row("data protection keychain", ["nleg": true], ()), Row("the other keychain", ["nleg": false], ()),
        Row("data protection of another type", ["nleg": ["x"]], ()), Row("callback", ["f_Callback": 1], ()),
        Row("prompt", ["u_OpPrompt": "Please"], ()), Row("caller", ["u_CallerName": "me"], ()),
        Row("UI allowed", ["u_AuthUI": "u_AuthUIA"], ()), Row("UI refused", ["u_AuthUI": "u_AuthUIF"], ()),
        Row("UI garbage", ["u_AuthUI": 5], ()), Row("no UI", ["u_NoAuthUI": true], ()),
        Row("no UI of another type", ["u_NoAuthUI": "x"], ()), Row("context", ["u_AuthCtx": LAContext()], ()),
        Row("credential", ["u_CredRef": Data([1])], ()), Row("tombstones", ["u_Tomb": true], ()),
        Row("raw token items", ["u_TokenRawItems": true], ()),
    ]

    @Test(arguments: StoreKind.allCases, ignoredKeys)
    func key_thatOnlyConcernsApple_isAcceptedByEveryCall(kind: StoreKind, row: Row<Void>) throws {
        for call in Call.allCases {
            for dialect in dialects {
                #expect(try call.status(kind, genp(row.entries), dialect) == errSecSuccess, "\(call) \(dialect)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases, ["u_Keychain", "acls"])
    func key_ofTheOlderKeychain_isDroppedOnMacOSAndRefusedOnIOS(kind: StoreKind, name: String) throws {
        let refusal = name == "acls" ? errSecNoSuchAttr : errSecParam
        for call in Call.allCases {
            #expect(try call.status(kind, genp([name: NSObject()])) == errSecSuccess, "\(call)")
            #expect(try call.status(kind, genp([name: "x"]), .strict) == refusal, "\(call)")
        }
    }

    @Test(arguments: StoreKind.allCases, Call.allCases)
    func key_thatIsANumber_isNoSuchAttribute(kind: StoreKind, call: Call) throws {
        let dictionary = ["class": "genp", 5: "x"] as [AnyHashable: Any] as NSDictionary
        #expect(call.status(try kind.services(), dictionary) == errSecNoSuchAttr)
    }

    @Test(arguments: StoreKind.allCases, Call.allCases)
    func key_thatIsNeitherStringNorNumber_isRefused(kind: StoreKind, call: Call) throws {
        let dictionary = ["class": "genp", Date(): "x"] as [AnyHashable: Any] as NSDictionary
        #expect(call.status(try kind.services(), dictionary) == errSecParam)
    }

    @Test(arguments: StoreKind.allCases)
    func dictionary_ofMoreThan128Entries_isRefused(kind: StoreKind) throws {
        let services = try kind.services()
        var entries = genp()
        for number in 0..<127 { entries["f_callback\(number)"] = 0 }
        #expect(services.find(entries).status == errSecItemNotFound)
        #expect(services.find(entries.adding(["f_callback": 0])).status == errSecParam)
    }

    static let classes: [Row<OSStatus>] = [
        Row("none", ["acct": "a"], errSecParam), Row("not a string", ["class": 5], errSecParam),
        Row("null", ["class": NSNull()], errSecParam), Row("unknown", ["class": "zzzz"], errSecNoSuchClass),
        Row("empty", ["class": ""], errSecNoSuchClass), Row("AppleShare", ["class": "apls"], errSecNoSuchClass),
    ]

    @Test(arguments: StoreKind.allCases, classes)
    func itemClass_thatIsNotStored_isRefusedByEveryCall(kind: StoreKind, row: Row<OSStatus>) throws {
        for call in Call.allCases {
            #expect(try call.status(kind, row.entries) == row.expected, "\(call)")
        }
    }

    @Test(arguments: StoreKind.allCases, Call.allCases)
    func itemClass_thatIsNoStringBesideAReference_isNoSuchClass(kind: StoreKind, call: Call) throws {
        let reference = Data("genp".utf8) + Data(count: 16)
        #expect(try call.status(kind, ["class": 5, "v_PersistentRef": reference]) == errSecNoSuchClass)
    }

    static let values: [Row<OSStatus>] = [
        Row("null", ["labl": NSNull()], errSecParam), Row("array", ["labl": ["x"]], errSecParam),
        Row("dictionary", ["labl": ["x": "y"]], errSecParam), Row("set", ["labl": NSSet(object: "x")], errSecParam),
        Row("URL", ["labl": URL(filePath: "/")], errSecParam), Row("UUID", ["labl": UUID()], errSecParam),
        Row("object", ["labl": NSObject()], errSecParam), Row("no text", ["labl": Date()], errSecParam),
        Row("fraction", ["crtr": 3.5], errSecDecode), Row("above 64 bits", ["crtr": UInt64.max], errSecDecode),
        Row("not a number", ["crtr": Double.nan], errSecDecode),
        Row("whole floating point", ["crtr": 3.0], errSecSuccess),
        Row("infinite date", ["class": "keys", "sdat": Date(timeIntervalSinceReferenceDate: .infinity)], errSecParam),
    ]

    @Test(arguments: StoreKind.allCases, values)
    func value_ofAnAttribute_isTakenOnlyInTypesThatAttributesHave(kind: StoreKind, row: Row<OSStatus>) throws {
        for call in Call.allCases {
            let item = genp(row.entries)
            #expect(try call.status(kind, item, item: item) == row.expected, "\(call)")
        }
    }
}
