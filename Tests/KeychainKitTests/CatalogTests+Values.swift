// SPDX-License-Identifier: Apache-2.0
// Values of items in the catalog, and their removal.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import SecretMemory
import Synchronization
import Testing

extension CatalogTests {
    @Test(arguments: StoreKind.allCases) func value_ofAnItem_isItsBytes(kind: StoreKind) throws {
        let catalog = try filled(kind).catalog
        let item = try #require(try catalog.items(matching: ItemFilter(service: "one")).first)
        #expect(try catalog.value(of: item) == Data("s3cret".utf8))
    }

    @Test(arguments: StoreKind.allCases) func value_ofARemovedItem_isNone(kind: StoreKind) throws {
        let catalog = try filled(kind).catalog
        let item = try #require(try catalog.items(matching: ItemFilter(service: "one")).first)
        #expect(try catalog.remove(item))
        #expect(try catalog.value(of: item) == nil)
        #expect(try !catalog.remove(item))
    }

    @Test(arguments: StoreKind.allCases) func value_ofAnItemWithoutOne_isAMismatch(kind: StoreKind) throws {
        let catalog = try filled(kind).catalog
        let item = try #require(try catalog.items([.key]).first)
        #expect(reason { try catalog.value(of: item) } == .typeMismatch)
    }

    @Test(arguments: StoreKind.allCases) func value_ofAnItemThatAsksListedBefore_asksOnce(kind: StoreKind) throws {
        let items = try kind.empty(passphrase: "a few words")
        try SecretStore(service: "one", accessControl: .userPresence, store: items).save("s3cret", for: "alice")
        let questions = Mutex(0)
        var catalog = KeychainCatalog(store: items)
        let context = AuthenticationContext {
            questions.withLock { $0 += 1 }
            return Person(passphrase: "a few words")
        }
        catalog.context = context
        let item = try #require(try catalog.items().first)
        #expect(try catalog.value(of: item) == Data("s3cret".utf8))
        #expect(questions.withLock { $0 } == 1)
    }

    // MARK: - Removing

    @Test(arguments: StoreKind.allCases) func remove_ofOneItem_leavesTheOthers(kind: StoreKind) throws {
        let catalog = try filled(kind).catalog
        let item = try #require(try catalog.items(matching: ItemFilter(server: "git.example.com")).first)
        #expect(try catalog.remove(item))
        #expect(try catalog.items().count == 3)
    }

    @Test(arguments: StoreKind.allCases) func removeAll_matching_countsWhatMatched(kind: StoreKind) throws {
        let catalog = try filled(kind).catalog
        #expect(try catalog.removeAll(matching: ItemFilter(account: "alice")) == 2)
        #expect(Set(try catalog.items().map(\.itemClass)) == [.certificate, .key])
    }

    @Test(arguments: StoreKind.allCases) func removeAll_withoutBlocking_isTheSame(kind: StoreKind) async throws {
        let catalog = try filled(kind).catalog
        #expect(try await catalog.removeAll([.genericPassword], matching: .all) == 1)
        #expect(try await catalog.items().count == 3)
    }

    /// Conditions that a removal does not know: passing over them would remove too much.
    private static let searchOnly: [ItemFilter] = {
        var (byDomain, unprotected) = (ItemFilter.all, ItemFilter.all)
        byDomain.domain = "example.org"
        unprotected.skipsProtected = true
        return [byDomain, unprotected]
    }()

    @Test(arguments: StoreKind.allCases, searchOnly)
    func removeAll_byWhatOnlyASearchKnows_isRefused(kind: StoreKind, filter: ItemFilter) throws {
        let catalog = try filled(kind).catalog
        #expect(reason { try catalog.removeAll(matching: filter) } == .invalidParameter)
        #expect(try catalog.items().count == 4)
    }

    @Test func catalog_whileLocked_isLockedAndStillRemoves() throws {
        let items = MemoryStore()
        try SecretStore(service: "one", store: items).save("s3cret", for: "alice")
        items.lockState = .locked
        let catalog = KeychainCatalog(store: items)
        #expect(reason { try catalog.items() } == .locked)
        #expect(try catalog.removeAll(matching: ItemFilter(service: "one")) == 1)
    }
}
