// SPDX-License-Identifier: Apache-2.0
// Proofs of a store that is gone: another store may get its address.

import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@Suite("store identity")
struct StoreIdentityTests {
    private static let passphrase = "correct horse"

    /// Lets a store prove something, releases it, and makes another one at its address.
    private static func atTheSameAddress(_ prove: (MemoryStore) throws -> Void) throws -> MemoryStore {
        func address() throws -> ObjectIdentifier {
            let store = MemoryStore(passphrase: passphrase)
            try prove(store)
            return ObjectIdentifier(store)
        }
        // Another thread may take the address first, and keep it.
        for _ in 0..<1_000 {
            let address = try address()
            var others: [MemoryStore] = []
            for _ in 0..<100 {
                let store = MemoryStore(passphrase: passphrase)
                if ObjectIdentifier(store) == address { return store }
                others.append(store)
            }
        }
        return try #require(nil, "no store got the address of a former one")
    }

    @Test func recentProof_ofAStoreThatIsGone_isNotThatOfTheNextOneAtItsAddress() throws {
        let store = try Self.atTheSameAddress {
            RecentProof.remember(SecretBytes.random(count: 32), $0, keptFor: .seconds(300))
        }
        #expect(RecentProof.key(store, within: .seconds(300)) == nil)
    }

    @Test func context_thatKnowsAStoreThatIsGone_asksForTheNextOneAtItsAddress() throws {
        let person = Person(passphrase: Self.passphrase)
        let context = AuthenticationContext { person }
        let store = try Self.atTheSameAddress { try context.evaluate($0, reason: "test") }
        let asked = person.questions.count
        try context.evaluate(store, reason: "test")
        #expect(person.questions.count == asked + 1)
    }
}
