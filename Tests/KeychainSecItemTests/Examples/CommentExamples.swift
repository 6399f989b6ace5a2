// SPDX-License-Identifier: Apache-2.0
// The examples of the comments in KeychainSecItem, word for word: each ends where the expectations begin.

import KeychainEngine
import KeychainKit
import KeychainSecItem
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Examples of the comments on SecItemStore")
struct CommentExamples {
    private let memory = MemoryStore(passphrase: "several words")

    @Test func engine_inItsExample_writesByTheFunctions() throws {
        let engine = Engine(store: SecItemStore())
        let secrets = SecretStore(service: "com.example.app", store: engine.store)
        try secrets.save("s3cret", for: "alice")
        #expect(try SecretStore(service: "com.example.app", store: memory).read(for: "alice") == "s3cret")
    }

    @Test func context_inItsExample_isTheProgramsOwn() throws {
        var functions = SecItemFunctions.system
        functions.authenticationContext = { _ in  // one of the program's own
            let context = LAContext()
            context.interactionNotAllowed = true
            return context
        }
        let store = SecItemStore(functions)
        try secrets(in: SecItemStore()).save("s3cret", for: "alice")
        #expect(try secrets(in: SecItemStore()).read(for: "alice") == "s3cret")
        let error = #expect(throws: KeychainError.self) { try secrets(in: store).read(String.self, for: "alice") }
        #expect(error?.reason == .interactionNotAllowed)
    }

    /// Secrets that require the user, with a simulated user who answers.
    private func secrets(in store: any ItemStore) -> SecretStore {
        var secrets = SecretStore(service: "com.example.app", accessControl: .userPresence, store: store)
        secrets.context = AuthenticationContext { Person(passphrase: "several words") }
        return secrets
    }
}

// The examples name the system's keychain; here that is one in memory.
// swift-format-ignore: AlwaysUseLowerCamelCase
extension CommentExamples {
    private struct Functions {
        let system: KeychainSecItem.SecItemFunctions
    }

    private var SecItemFunctions: Functions { Functions(system: .services(over: memory)) }

    private func SecItemStore(_ functions: KeychainSecItem.SecItemFunctions? = nil) -> KeychainSecItem.SecItemStore {
        KeychainSecItem.SecItemStore(functions ?? .services(over: memory))
    }
}
