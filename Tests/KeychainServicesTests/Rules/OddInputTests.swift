// SPDX-License-Identifier: Apache-2.0
// Every key with every odd value: answered with a status, never with a trap.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: odd input")
struct OddInputTests {
    static let names: [String] =
        ItemClass.allCases.flatMap { $0.schema.rules.map(\.attribute.description) } + [
            "class", "nleg", "acls", "accc", "zzzz", "r_Data", "r_Attributes", "r_Ref", "r_PersistentRef", "v_Data",
            "v_PersistentRef", "v_Ref", "m_Limit", "m_Policy", "m_Issuers", "m_ValidOnDate", "m_TrustedOnly",
            "m_EmailAddressIfPresent", "m_HostOrSubdomainOfHost", "m_ItemList", "u_AuthUI", "u_NoAuthUI", "u_AuthCtx",
            "u_CredRef", "u_ItemList", "u_Keychain", "f_x", "m", "", "\u{0}", "\u{1F600}\u{1F600}", "\u{1F600}",
        ]

    static var values: [Any] {
        [
            "", "x", "\u{0}", "\u{1F600}", "syna", "genp", "m_LimitAll", String(repeating: "x", count: 100_000), true,
            false, 0, -1, 1, Int.min, Int.max, UInt.max, Double.nan, Double.infinity, -0.0, 1e300, Float(0.5),
            NSDecimalNumber.notANumber, NSDecimalNumber(string: "1e100"), Data(), Data([0]), Data(count: 12),
            Data(count: 16), Data("genp".utf8) + Data(count: 16), Date.distantPast, Date.distantFuture,
            Date(timeIntervalSinceReferenceDate: .nan), Date(timeIntervalSinceReferenceDate: .infinity), NSNull(),
            [Any](), ["x"], Entries(), ["x": "y"], NSSet(), UUID(), URL(filePath: "/"), NSObject(), 5 as Int?? as Any,
            Substring("x"), Character("x"), { () -> Void in },
        ]
    }

    /// What a dictionary can be answered with, if the store works.
    static let statuses: Set<OSStatus> = [
        errSecSuccess, errSecParam, errSecNoSuchAttr, errSecNoSuchClass, errSecUnimplemented, errSecDecode,
        errSecItemNotFound, errSecDuplicateItem, errSecMissingEntitlement, errSecNotAvailable,
    ]

    @Test(arguments: dialects)
    func everyKey_withEveryOddValue_isAnswered(dialect: Engine.Dialect) throws {
        let services = try StoreKind.memory.services(dialect: dialect)
        for name in Set(Self.names) {
            for value in Self.values {
                for call in Call.allCases {
                    let status = call.status(services, genp([name: value]))
                    #expect(Self.statuses.contains(status), "\(call) \(name) \(value)")
                }
            }
        }
    }

    @Test(arguments: dialects)
    func everyChange_toEveryOddValue_isAnswered(dialect: Engine.Dialect) throws {
        for name in Set(Self.names) {
            for value in Self.values {
                let services = try StoreKind.memory.services(dialect: dialect)
                services.add(genp())
                #expect(Self.statuses.contains(services.update(genp(), to: [name: value])), "\(name) \(value)")
                let all = genp(["r_Attributes": true, "sync": "syna", "m_Limit": "m_LimitAll"])
                #expect(services.find(all).dictionaries != nil, "\(name) \(value)")
            }
        }
    }
}
