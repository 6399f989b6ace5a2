// SPDX-License-Identifier: Apache-2.0
// Keys that macOS takes out of a dictionary before anything looks at their values.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

struct DroppedKeyTests {
    private static let dates = [
        Row("text", ["mdat": "x"], errSecSuccess), Row("null", ["mdat": NSNull()], errSecSuccess),
        Row("number", ["mdat": 5], errSecSuccess), Row("fraction", ["mdat": 5.5], errSecSuccess),
    ]

    @Test(arguments: StoreKind.allCases, Call.allCases)
    func modificationDate_ofAnyType_isDroppedOnMacOS(_ kind: StoreKind, _ call: Call) throws {
        for row in Self.dates {
            #expect(try call.status(kind, genp(row.entries)) == row.expected, "\(row.name)")
        }
    }

    @Test(arguments: StoreKind.allCases, [Call.find, .update, .delete])
    func synchronizable_ofAnyTypeBesideAReference_isDroppedOnMacOS(_ kind: StoreKind, _ call: Call) throws {
        let services = try kind.services()
        let reference = try #require(services.add(genp(["r_PersistentRef": true])).data)
        let entries: Entries = ["v_PersistentRef": reference, "sync": NSNull()]
        #expect(call.status(services, entries) == errSecSuccess)
    }

    @Test(arguments: StoreKind.allCases)
    func search_limitedToLessThanNone_isRefused(_ kind: StoreKind) throws {
        let services = try kind.services()
        for account in ["a", "b", "c"] { services.add(genp(["acct": account])) }
        var query = Query(.genericPassword)
        query.limit = .atMost(-1)
        let failure = #expect(throws: KeychainError.self) {
            try services.engine.copyMatching(query, accessGroups: services.accessGroups)
        }
        #expect(failure?.reason == .invalidParameter)
    }

    @Test(arguments: StoreKind.allCases, dialects)
    func addition_withoutReturnKeys_makesTheResultNil(_ kind: StoreKind, _ dialect: Engine.Dialect) throws {
        let answer = try kind.services(dialect: dialect).add(genp())
        #expect(answer.status == errSecSuccess)
        #expect(answer.object == nil)
    }
}
