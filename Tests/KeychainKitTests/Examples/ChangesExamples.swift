// SPDX-License-Identifier: Apache-2.0
// The examples on changes, of comments and articles, word for word. Their loops end when their task is cancelled.

import Foundation
import KeychainKit
import Testing

@Suite("Examples on changes", .timeLimit(.minutes(60)))
struct ChangesExamples: KeychainExamples {
    let memory = MemoryStore()

    private var store: KeychainKit.SecretStore { SecretStore(service: "com.example.app") }

    /// Runs an example while its item is changed again and again, until the example ends its task.
    private func whileChanging(_ example: @escaping @Sendable () async throws -> Void) async throws {
        let store = store
        let writing = Task {
            while !Task.isCancelled { try await store.save(UUID().uuidString, for: "alice") }
        }
        defer { writing.cancel() }
        try await Task { try await example() }.value
    }

    private static func endTask() { withUnsafeCurrentTask { $0?.cancel() } }

    // MARK: - Changes

    @Test func update_inItsExample_arrives() async throws {
        let store = store
        try await store.save("s3cret", for: "alice")
        try await whileChanging {
            func reload() { Self.endTask() }
            for await change in try await store.changes(for: "alice") where change.kind == .updated { reload() }
        }
    }

    @Test func value_inTheExampleOfChanges_isReadAfterEach() async throws {
        let store = store
        try await whileChanging {
            var shown = 0
            func show(_ token: String?) {
                shown += 1
                if shown == 2 { Self.endTask() }
            }
            let changes = try await store.changes(for: "alice")
            show(try await store.read(String.self, for: "alice"))
            for await _ in changes { show(try await store.read(String.self, for: "alice")) }
            #expect(shown == 2)
        }
    }

    @Test func changes_inTheExampleOfTheCatalog_arrive() async throws {
        let catalog = KeychainCatalog()
        try await whileChanging {
            func log(_ kind: String) { Self.endTask() }
            for await change in try await catalog.changes() { log(change.kind.rawValue) }
        }
    }

    @Test func changes_inTheirArticle_areToldApart() async throws {
        let store = store
        try await whileChanging {
            func reload() { Self.endTask() }
            func showLockState() {}
            for await change in try await store.changes() {
                switch change.kind {
                case .added, .updated, .removed: reload()
                case .locked, .unlocked: showLockState()
                }
            }
        }
    }

    // MARK: - Values

    @Test func values_inTheirExample_followEachOther() async throws {
        let store = store
        try await whileChanging {
            var tokens: [String?] = []
            func connect(with token: String?) {
                tokens.append(token)
                if tokens.count == 3 { Self.endTask() }
            }
            for try await token in try await store.values(String.self, for: "alice") { connect(with: token) }
            #expect(Set(tokens).count == 3)
        }
    }

    @Test @MainActor func view_inItsExample_hasATitle() async throws {
        let token = ObservedSecret(String.self, for: "alice", in: SecretStore(service: "com.example.app"))
        let title = token.isLocked ? "Locked" : token.value == nil ? "Signed out" : "Signed in"
        #expect(title == "Signed out")
    }

    // MARK: - Properties

    @Test func property_inItsExample_isSaved() throws {
        var connections = 0
        func connect(with token: String) { connections += 1 }
        struct Session {
            @Secret var token: String?

            init(_ store: SecretStore) { _token = Secret(for: "token", in: store) }
        }

        let session = Session(SecretStore(service: "com.example.app"))
        try session.$token.save("s3cret")
        if let token = session.token { connect(with: token) }
        #expect(connections == 1)
    }
}
