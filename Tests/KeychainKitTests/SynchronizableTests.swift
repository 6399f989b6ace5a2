// SPDX-License-Identifier: Apache-2.0
// Items that synchronize, beside those that do not.

import Foundation
import KeychainKit
import KeychainTestSupport
import Testing

@Suite("Synchronizable items")
struct SynchronizableTests {
    private func stores(_ kind: StoreKind) throws -> (local: SecretStore, synchronizable: SecretStore) {
        let items = try kind.empty()
        return (
            SecretStore(service: "one", store: items), SecretStore(service: "one", synchronizable: true, store: items)
        )
    }

    @Test(arguments: StoreKind.allCases) func items_synchronizableAndNot_areTwo(kind: StoreKind) throws {
        let (local, synchronizable) = try stores(kind)
        try local.save("local", for: "alice")
        try synchronizable.save("synchronizable", for: "alice")
        #expect(try local.read(String.self, for: "alice") == "local")
        #expect(try synchronizable.read(String.self, for: "alice") == "synchronizable")
        #expect(
            try [local.item(for: "alice"), synchronizable.item(for: "alice")].map(\.?.synchronizable) == [false, true])
    }

    @Test(arguments: StoreKind.allCases) func list_ofOneKind_leavesOutTheOther(kind: StoreKind) throws {
        let (local, synchronizable) = try stores(kind)
        try local.save("local", for: "alice")
        try synchronizable.save("synchronizable", for: "bob")
        #expect(try local.items().map(\.account) == ["alice"])
        #expect(try synchronizable.items().map(\.account) == ["bob"])
        #expect(try local.items(matching: ItemFilter(synchronizable: true)).isEmpty)
    }

    @Test(arguments: StoreKind.allCases) func removeAll_ofOneKind_leavesTheOther(kind: StoreKind) throws {
        let (local, synchronizable) = try stores(kind)
        try local.save("local", for: "alice")
        try synchronizable.save("synchronizable", for: "alice")
        #expect(try local.removeAll() == 1)
        #expect(try synchronizable.contains(for: "alice"))
    }
}
