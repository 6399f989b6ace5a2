// SPDX-License-Identifier: Apache-2.0
// Whether an item exists, when it requires a user who cannot be asked.

import KeychainEngine
import KeychainKit
import KeychainTestSupport
import SecretMemory
import Testing

@Suite("Presence of protected items")
struct PresenceTests {
    private func store(_ kind: StoreKind, _ accessControl: AccessControl.Flags) throws -> SecretStore {
        var store = SecretStore(
            service: "app", accessControl: accessControl, store: try kind.empty(passphrase: "p"))
        let context = AuthenticationContext { nil }
        context.setApplicationPassword(SecretBytes(text: "right"))
        store.context = context
        try store.save("s3cret", for: "alice")
        return store
    }

    @Test(arguments: StoreKind.allCases)
    func item_whosePasswordTheContextHasWrong_isThere(kind: StoreKind) throws {
        var store = try store(kind, .applicationPassword)
        let wrong = AuthenticationContext { nil }
        wrong.setApplicationPassword(SecretBytes(text: "wrong"))
        store.context = wrong
        #expect(try store.contains(for: "alice"))
        #expect(try !store.contains(for: "bob"))
    }

    @Test(arguments: StoreKind.allCases)
    func item_lookedForWithAContextThatIsNoLongerValid_isThere(kind: StoreKind) throws {
        let store = try store(kind, .userPresence)
        store.context?.invalidate()
        #expect(try store.contains(for: "alice"))
    }

    @Test(arguments: StoreKind.allCases)
    func item_lookedForAfterTooManyWrongAnswers_isThere(kind: StoreKind) throws {
        var store = try store(kind, .userPresence)
        let guessing = Person(passphrase: "wrong")
        for _ in 1...2 {
            store.context = AuthenticationContext { guessing }
            #expect(reason { try store.read(String.self, for: "alice") } == .authenticationFailed)
        }
        #expect(try store.contains(for: "alice"))
    }

    @Test func item_thatAsksForAPassphraseThatIsGone_isThere() throws {
        let memory = MemoryStore(passphrase: "p")
        let store = SecretStore(service: "app", accessControl: .userPresence, store: memory)
        try store.save("s3cret", for: "alice")
        memory.setPassphrase(nil)
        #expect(try store.contains(for: "alice"))
    }
}
