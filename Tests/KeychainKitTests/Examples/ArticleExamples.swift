// SPDX-License-Identifier: Apache-2.0
// The examples of the articles on KeychainKit, word for word: each ends where the expectations begin.

import Foundation
import KeychainKit
import KeychainTesting
import Testing

@Suite("Examples of the articles")
struct ArticleExamples: KeychainExamples {
    let memory = MemoryStore(passphrase: "several words")

    private var store: KeychainKit.SecretStore { SecretStore(service: "com.example.app") }

    // MARK: - Getting started

    @Test func record_inGettingStarted_isReadAsItWasSaved() throws {
        struct Login: Codable {
            var user: String
            var password: SecretValue
        }

        let store = SecretStore(service: "com.example.app")
        try store.save(Login(user: "alice", password: SecretValue("s3cret")), for: "login")
        let login = try store.read(Login.self, for: "login")
        #expect(login?.user == "alice" && login?.password == SecretValue("s3cret"))
    }

    @Test func create_inGettingStarted_adds() throws {
        try store.create("first", for: "device-id")
        #expect(try store.read(for: "device-id") == "first")
    }

    @Test func error_inGettingStarted_saysThatItIsLocked() throws {
        try store.save("s3cret", for: "alice")
        memory.lockState = .locked
        var token: String?
        var message = ""
        do {
            token = try store.read(String.self, for: "alice")
        } catch {
            switch error.reason {
            case .locked: message = "Unlock the keychain, then try again."
            case .cancelled: message = "Not signed in."
            default: message = error.message
            }
        }
        #expect(token == nil)
        #expect(message == "Unlock the keychain, then try again.")
    }

    @Test func list_inGettingStarted_losesWhatIsOld() throws {
        let lastYear = Date.now
        var past = store
        past.now = { .distantPast }
        try past.save("s3cret", for: "alice")
        var future = store
        future.now = { .distantFuture }
        try future.save("s3cret", for: "bob")
        var protected = past
        protected.accessControl = .userPresence
        try protected.save("s3cret", for: "carol")
        for item in try store.items() {
            guard let modified = item.modified, modified < lastYear else { continue }
            try store.remove(for: item.account ?? "")
        }
        #expect(try store.items().map(\.account) == ["bob", "carol"])
    }

    // MARK: - Classes and groups

    @Test func accessibility_inItsArticle_isChangedInPlace() throws {
        var store = SecretStore(service: "com.example.app", accessibility: .afterFirstUnlock)
        try store.save("s3cret", for: "alice")

        store.accessibility = .whenUnlockedThisDeviceOnly
        try store.save("s3cret", for: "alice")
        #expect(try store.items().map(\.accessibility) == [.whenUnlockedThisDeviceOnly])
    }

    @Test func items_inTheArticleOnClasses_getAnotherClass() throws {
        try self.store.save("s3cret", for: "alice")
        let store = SecretStore(service: "com.example.app", accessibility: .afterFirstUnlock)
        try store.move(to: store)
        #expect(try store.item(for: "alice")?.accessibility == .afterFirstUnlock)
    }

    @Test func accessControl_inItsArticle_asksForTheUser() throws {
        var store = SecretStore(service: "com.example.app", accessControl: .userPresence)
        store.prompt = "sign the release"
        try store.save("s3cret", for: "signing-key")
        store.allowsInteraction = false
        let error = #expect(throws: KeychainError.self) { try store.read(String.self, for: "signing-key") }
        #expect(error?.reason == .interactionNotAllowed)
    }

    @Test func group_inItsArticle_isTheItems() throws {
        let shared = SecretStore(service: "com.example.app", accessGroup: "TEAM.com.example.shared")
        try shared.save("s3cret", for: "alice")
        #expect(try store.item(for: "alice")?.accessGroup == "TEAM.com.example.shared")
    }

    @Test func caller_inItsArticle_seesNoOtherGroup() throws {
        try self.store.save("s3cret", for: "alice")
        let widget = AccessGroups(["TEAM.com.example.shared"])
        let store = SecretStore(service: "com.example.app", accessGroups: widget)
        #expect(try !store.contains(for: "alice"))
    }

    // MARK: - Tests

    @Test func session_inTheArticleOnTests_meetsALockedKeychain() throws {
        struct Session {
            var store: SecretStore

            func token() throws(KeychainError) -> String? { try store.read(for: "token") }
        }

        let memory = MemoryStore()
        let session = Session(store: SecretStore(service: "com.example.app", store: memory))
        try session.store.save("s3cret", for: "token")
        memory.lockState = .locked
        let error = #expect(throws: KeychainError.self) { try session.token() }
        #expect(error?.reason == .locked)
    }

    @Test func passphrase_inTheArticleOnTests_letsItemsAskForTheUser() throws {
        let memory = MemoryStore(passphrase: "several words")
        var store = SecretStore(service: "com.example.app", accessControl: .userPresence, store: memory)
        store.allowsInteraction = false
        try store.save("s3cret", for: "token")
        #expect(throws: KeychainError.self) { try store.read(String.self, for: "token") }
    }

    // MARK: - Time

    @Test func asynchronousCall_inItsArticle_reads() async throws {
        let store = store
        func signIn() async throws -> Bool {
            try await store.read(SecretValue.self, for: "token") != nil
        }
        #expect(try await !signIn())
    }

    @Test func synchronousCall_inAsynchronousCode_isMadeInAClosure() async throws {
        let store = store
        let token = try { try store.read(String.self, for: "token") }()
        #expect(token == nil)
    }

    @Test func timeout_inItsArticle_leavesTimeToRead() async throws {
        var store = store
        store.timeout = Timeout(operation: .seconds(2), userInteraction: .seconds(120))
        // A busy machine may take longer.
        store.clock = TestClock()
        #expect(try await store.read(String.self, for: "token") == nil)
    }

    @Test func asking_inItsArticle_isSwitchedOff() throws {
        var store = store
        store.accessControl = .userPresence
        try store.save("s3cret", for: "token")
        store.allowsInteraction = false
        let error = #expect(throws: KeychainError.self) { try store.read(String.self, for: "token") }
        #expect(error?.reason == .interactionNotAllowed)
    }

    // MARK: - Transactions

    @Test func update_inItsArticle_givesTheNewCount() throws {
        try store.save(1, for: "launches")
        let count = try store.update(Int.self, for: "launches") { launches in
            launches = (launches ?? 0) + 1
            return launches ?? 0
        }
        #expect(count == 2)
    }

    @Test func transaction_inItsArticle_keepsThePreviousToken() throws {
        try store.save("t0ken-1", for: "token")
        try store.transaction { transaction in
            let old = try transaction.read(String.self, for: "token")
            try transaction.save("t0ken-2", for: "token")
            if let old { try transaction.save(old, for: "previous-token") }
        }
        #expect(try store.read(for: "previous-token") == "t0ken-1")
    }

    @Test func otherService_inItsArticle_takesPart() throws {
        let archive = SecretStore(service: "com.example.archive")
        try store.save("t0ken-1", for: "token")
        try store.transaction { transaction in
            guard let old = try transaction.read(String.self, for: "token") else { return }
            try transaction.in(archive).save(old, for: "token")
        }
        #expect(try archive.read(for: "token") == "t0ken-1")
    }

    // MARK: - Migration

    @Test func item_inTheArticleOnSecItem_hasItsAttributes() throws {
        let store = SecretStore(service: "com.example.app", accessibility: .afterFirstUnlock)
        try store.save(Data("s3cret".utf8), for: "alice", attributes: ItemAttributes(label: "Example account"))
        #expect(try store.item(for: "alice")?.accessibility == .afterFirstUnlock)
        #expect(try store.item(for: "alice")?.label == "Example account")
    }

    @Test func jsonText_inTheArticleOnWrappers_becomesText() throws {
        try store.save(try JSONEncoder().encode("s3cret"), for: "token")
        try store.update(Data.self, for: "token") { bytes in
            guard let old = bytes else { return }
            bytes = Data(try JSONDecoder().decode(String.self, from: old).utf8)
        }
        #expect(try store.read(for: "token") == "s3cret")
    }

    @Test func items_inTheArticleOnWrappers_moveToAnotherGroup() throws {
        try SecretStore(service: "com.example.app", accessGroup: "com.example.app").save("s3cret", for: "alice")
        let old = SecretStore(service: "com.example.app", accessGroup: "com.example.app")
        let shared = SecretStore(service: "com.example.app", accessGroup: "com.example.shared")
        try old.move(to: shared)
        #expect(try store.items().map(\.accessGroup) == ["com.example.shared"])
    }

    @Test func closures_inTheArticleOnWrappers_saveOneRecord() async throws {
        struct User: Codable, Equatable {
            var name: String
        }
        let store = store
        let getUser: @Sendable () async throws -> User? = { try await store.read(User.self, for: "user") }
        let setUser: @Sendable (User) async throws -> Void = { try await store.save($0, for: "user") }
        try await setUser(User(name: "alice"))
        #expect(try await getUser() == User(name: "alice"))
    }

    @Test func record_inTheArticleOnWrappers_getsItsNewShape() throws {
        struct OldLogin: Codable {
            var name: String
        }
        struct Login: Codable {
            var user: String
        }
        try store.save(OldLogin(name: "alice"), for: "login")
        let migration = SecretMigration(to: Login.self)
            .from(OldLogin.self) { Login(user: $0.name) }
        let login = try store.read(migration, for: "login")
        #expect(login?.user == "alice")
        #expect(try store.read(Login.self, for: "login")?.user == "alice")
    }
}
