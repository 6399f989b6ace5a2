// SPDX-License-Identifier: Apache-2.0
// Lists come in one order, whatever the keychain.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainTestSupport
import Testing

@Suite("The order of lists")
struct ListOrderTests {
    /// By access group, account and service.
    private static let inOrder: [[String]] = [
        ["a", "B", "two"], ["a", "a", "one"], ["a", "a", "two"], ["a", "ab", "one"],
        ["b", "A", "two"], ["b", "b", "one"],
    ]

    private func filled(_ kind: StoreKind) throws -> any ItemStore {
        let items = try kind.empty()
        for name in Self.inOrder.shuffled() {
            try SecretStore(service: name[2], accessGroup: name[0], store: items).save("s3cret", for: name[1])
        }
        return items
    }

    private func names(_ items: [KeychainItem]) -> [[String]] {
        items.map { [$0.accessGroup, $0.account ?? "", $0.service ?? ""] }
    }

    @Test(arguments: StoreKind.everywhere)
    func catalog_listed_isInTheOrderOfThePrimaryKey(kind: StoreKind) throws {
        #expect(names(try KeychainCatalog(store: filled(kind)).items()) == Self.inOrder)
    }

    @Test(arguments: StoreKind.everywhere)
    func listingEntries_listed_areInTheOrderOfThePrimaryKey(kind: StoreKind) throws {
        let found = try KeychainCatalog(store: filled(kind)).listingEntries(.genericPassword, matching: .all)
        #expect(names(found) == Self.inOrder)
    }

    @Test(arguments: StoreKind.everywhere)
    func store_listed_isInTheOrderOfThePrimaryKey(kind: StoreKind) throws {
        let found = try SecretStore(service: "one", store: filled(kind)).items()
        #expect(names(found) == Self.inOrder.filter { $0[2] == "one" })
    }
}
