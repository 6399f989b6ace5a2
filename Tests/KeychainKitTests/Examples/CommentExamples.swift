// SPDX-License-Identifier: Apache-2.0
// The examples of the comments in KeychainKit, word for word: each ends where the expectations begin.

import Foundation
import KeychainKit
import KeychainTesting
import Testing

@Suite("Examples of the comments")
struct CommentExamples: KeychainExamples {
    let memory = MemoryStore()

    var store: KeychainKit.SecretStore { SecretStore(service: "com.example.app") }

    // MARK: - Store

    @Test func store_inItsExample_readsWhatItSaved() throws {
        let store = SecretStore(service: "com.example.app")
        try store.save("s3cret", for: "alice")
        let token = try store.read(String.self, for: "alice")
        #expect(token == "s3cret")
    }

    @Test func contextOfTheEnvironment_inItsExample_asksNobodyUnlessConfigured() throws {
        var store = KeychainKit.SecretStore(
            service: "com.example.app", accessControl: .userPresence, store: MemoryStore(passphrase: "p"))
        store.context = AuthenticationContext()
        try store.save("s3cret", for: "alice")
        #expect(reason { try store.read(String.self, for: "alice") } == .interactionNotAllowed)
    }

    @Test func server_inItsExample_savesAnInternetPassword() throws {
        let logins = SecretStore(server: .init("git.example.com", protocol: .https))
        try logins.save("t0ken", for: "alice")
        #expect(try KeychainCatalog().items([.internetPassword]).map(\.protocol) == [.https])
    }

    @Test func server_inTheExampleOfItsType_hasAPort() throws {
        let logins = SecretStore(server: .init("git.example.com", protocol: .https, port: 8443))
        try logins.save("t0ken", for: "alice")
        #expect(try KeychainCatalog().items([.internetPassword]).map(\.port) == [8443])
    }

    @Test func save_inItsExample_writesTheLabel() throws {
        try store.save("s3cret", for: "alice", attributes: ItemAttributes(label: "Example account"))
        #expect(try store.item(for: "alice")?.label == "Example account")
    }

    @Test func create_inItsExample_adds() throws {
        try store.create("s3cret", for: "alice")
        #expect(throws: KeychainError.self) { try store.create("s3cret", for: "alice") }
    }

    @Test func read_inItsExample_isNilWithoutAnItem() throws {
        let token = try store.read(String.self, for: "alice")
        #expect(token == nil)
    }

    @Test func remove_inItsExample_removes() throws {
        try store.save("s3cret", for: "alice")
        try store.remove(for: "alice")
        #expect(try !store.contains(for: "alice"))
    }

    @Test func contains_inItsExample_isFalseWithoutAnItem() throws {
        var isSignedIn = false
        func signIn() { isSignedIn = true }
        if try !store.contains(for: "alice") { signIn() }
        #expect(isSignedIn)
    }

    @Test func item_inItsExample_hasTheTimeOfItsChange() throws {
        try store.save("s3cret", for: "alice")
        let changed = try store.item(for: "alice")?.modified
        #expect(changed.map { $0 > .distantPast } == true)
    }

    @Test func items_inTheirExample_areListed() throws {
        try store.save("s3cret", for: "alice")
        let accounts = try store.items().compactMap(\.account)
        #expect(accounts == ["alice"])
    }

    @Test func removeAll_inItsExample_leavesNone() throws {
        try store.save("s3cret", for: "alice")
        try store.removeAll()
        #expect(try store.items().isEmpty)
    }

    // MARK: - Several at once

    @Test func update_inItsExample_counts() throws {
        try store.save(1, for: "counter")
        try store.update(Int.self, for: "counter") { $0 = ($0 ?? 0) + 1 }
        #expect(try store.read(for: "counter") == 2)
    }

    @Test func transaction_inItsExample_savesBoth() throws {
        try store.transaction { transaction in
            try transaction.save("new", for: "access-token")
            try transaction.save("newer", for: "refresh-token")
        }
        #expect(try store.items().count == 2)
    }

    @Test func transaction_inTheExampleOfItsType_renames() throws {
        try store.save("s3cret", for: "old name")
        try store.transaction { transaction in
            guard let secret = try transaction.read(SecretValue.self, for: "old name") else { return }
            try transaction.save(secret, for: "new name")
            transaction.remove(for: "old name")
        }
        #expect(try store.items().compactMap(\.account) == ["new name"])
    }

    @Test func otherStore_inItsExample_takesPartInTheTransaction() throws {
        let (archive, token) = (SecretStore(service: "com.example.archive"), "s3cret")
        try store.transaction { transaction in
            try transaction.in(archive).save(token, for: "alice")
        }
        #expect(try archive.read(for: "alice") == token)
    }

    // MARK: - Items

    @Test func filter_inItsExample_findsByAttribute() throws {
        try store.save("", for: "alice", attributes: ItemAttributes(isNegative: true))
        try store.save("s3cret", for: "bob")
        let negatives = try store.items(matching: ItemFilter(attributes: ItemAttributes(isNegative: true)))
        #expect(negatives.map(\.account) == ["alice"])
    }

    @Test func item_inTheExampleOfItsType_isListedIfItRequiresNoAuthentication() throws {
        let store = KeychainKit.SecretStore(service: "com.example.app", store: MemoryStore(passphrase: "p"))
        try store.save("s3cret", for: "alice")
        var protected = store
        protected.accessControl = .userPresence
        try protected.save("s3cret", for: "bob")
        let unprotected = try store.items().filter { !$0.requiresAuthentication }.map(\.account)
        #expect(unprotected == ["alice"])
    }

    @Test func catalog_inItsExample_findsTheItemsOfAServer() throws {
        try SecretStore(server: .init("git.example.com", port: 8443)).save("t0ken", for: "alice")
        let catalog = KeychainCatalog()
        let logins = try catalog.items(matching: ItemFilter(server: "git.example.com"))
        #expect(logins.map(\.port) == [8443])
    }

    @Test func certificates_inTheirExample_areNoPasswords() throws {
        try store.save("s3cret", for: "alice")
        let catalog = KeychainCatalog()
        let certificates = try catalog.items([.certificate])
        #expect(certificates.isEmpty)
    }

    @Test func item_inTheExamplesOfTheCatalog_isReadAndRemoved() throws {
        try store.save("s3cret", for: "alice")
        let catalog = KeychainCatalog()
        let item = try #require(try catalog.items().first)
        let secret = try catalog.value(of: item)
        try catalog.remove(item)
        #expect(secret == Data("s3cret".utf8))
        #expect(try catalog.items().isEmpty)
    }

    @Test func removal_inTheExampleOfTheCatalog_leavesOtherServers() throws {
        try SecretStore(server: .init("git.example.com")).save("t0ken", for: "alice")
        try SecretStore(server: .init("example.com")).save("t0ken", for: "bob")
        let catalog = KeychainCatalog()
        try catalog.removeAll(matching: ItemFilter(server: "git.example.com"))
        #expect(try catalog.items().map(\.account) == ["bob"])
    }

    @Test func text_inItsExample_isTheAccount() throws {
        try store.save("s3cret", for: "alice")
        let item = try #require(try store.item(for: "alice"))
        let name = item.displayText(of: .account) ?? "-"
        #expect(name == "alice")
    }

    @Test func protocol_inItsExample_isFourCharacters() {
        let gopher: InternetProtocol = "goph"
        #expect(gopher.rawValue == "goph")
    }

    // MARK: - Values

    @Test func coder_inItsExample_makesPropertyLists() throws {
        let store = SecretStore(service: "com.example.app", coder: .propertyList)
        try store.save(["a": 1], for: "alice")
        #expect(try store.read(Data.self, for: "alice")?.prefix(6) == Data("bplist".utf8))
    }

    @Test func secretValue_inItsExample_showsItsBytes() throws {
        var shown = 0
        func authenticate(_ bytes: UnsafeRawBufferPointer) { shown = bytes.count }
        try store.save("s3cret", for: "alice")
        if let password = try store.read(SecretValue.self, for: "alice") {
            password.withUnsafeBytes { bytes in authenticate(bytes) }
        }
        #expect(shown == 6)
    }

    // MARK: - Time

    @Test func timeout_inItsExample_isTheStores() throws {
        var store = SecretStore(service: "com.example.app")
        store.timeout = Timeout(operation: .seconds(1), userInteraction: .seconds(60))
        // A busy machine may take longer.
        store.clock = TestClock()
        #expect(try store.read(String.self, for: "alice") == nil)
    }

    @Test func now_inItsExample_datesItems() throws {
        var store = store
        store.now = { Date(timeIntervalSinceReferenceDate: 1) }
        try store.save("s3cret", for: "alice")
        #expect(try store.item(for: "alice")?.created == Date(timeIntervalSinceReferenceDate: 1))
    }
}
