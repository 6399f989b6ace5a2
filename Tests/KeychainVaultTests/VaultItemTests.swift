// SPDX-License-Identifier: Apache-2.0
// What a vault keeps.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct VaultItemTests {
    @Test func item_addedAndReopened_keepsItsValue() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("example.com", "alice", value: "correct horse"))
        #expect(try test.reopened().text(.genericPassword("example.com", "alice")) == "correct horse")
    }

    @Test func search_withoutVault_findsNothingAndMakesNothing() throws {
        let test = try TestVault()
        #expect(reason { _ = try test.engine.value(.genericPassword("s", "a")) } == .itemNotFound)
        #expect(!FileManager.default.fileExists(atPath: test.location.folder))
    }

    @Test func item_updated_isReadWithItsNewValue() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "old"))
        try test.engine.update(.genericPassword("s", "a"), value: "new")
        #expect(try test.reopened().text(.genericPassword("s", "a")) == "new")
    }

    @Test func item_deleted_isGone() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try test.engine.delete(.genericPassword("s", "a"))
        #expect(reason { _ = try test.reopened().value(.genericPassword("s", "a")) } == .itemNotFound)
    }

    @Test func item_addedTwice_isDuplicate() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(reason { try test.engine.add(.genericPassword("s", "a", value: "w")) } == .duplicateItem)
        #expect(try test.engine.text(.genericPassword("s", "a")) == "v")
    }

    @Test func items_searchedByService_areAllFound() throws {
        let test = try TestVault()
        for account in ["a", "b", "c"] { try test.engine.add(.genericPassword("s", account, value: account)) }
        try test.engine.add(.genericPassword("other", "a", value: "x"))
        let query = Query(.genericPassword, [.service: .string("s")]).returning(.value, limit: .all)
        guard case .many(let results) = try test.engine.copyMatching(query, accessGroups: .unrestricted) else {
            Issue.record("not a list")
            return
        }
        #expect(results.count == 3)
    }

    @Test func value_ofTwentyMegabytes_isReadBack() throws {
        let test = try TestVault()
        let value = Data((0..<20 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        var query = Query.genericPassword("s", "big")
        query.value = value
        try test.engine.add(query)
        #expect(try test.reopened().value(.genericPassword("s", "big")) == value)
    }
}
