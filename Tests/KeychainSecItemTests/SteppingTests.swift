// SPDX-License-Identifier: Apache-2.0
// Transactions of wrappers, in a keychain that knows none.

import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainSecItem
import Testing

@Suite("Changes in steps")
struct SteppingTests {
    private let notes = Notes()
    private let store: SecItemStore

    init() { store = SecItemStore(SecItemFunctions.services(over: MemoryStore()).noting(notes)) }

    private func secrets(_ service: String) -> SecretStore { ChosenKeychain(store).secrets(service: service) }

    @Test func changesInSteps_ofSeveralItems_areMadeInTheirOrder() throws {
        let (old, new) = (secrets("old"), secrets("new"))
        try old.save("s3cret", for: "alice")
        try old.transactionOrSteps { transaction in
            let secret = try #require(try transaction.read(String.self, for: "alice"))
            try transaction.in(new).save(secret, for: "alice")
            transaction.remove(for: "alice")
        }
        #expect(try new.read(String.self, for: "alice") == "s3cret")
        #expect(try !old.contains(for: "alice"))
        let changing: Set = ["add", "update", "delete"]
        #expect(notes.calls.filter(changing.contains) == ["add", "add", "delete"])
    }

    @Test func changesInSteps_whoseReadsAreOld_runAgain() throws {
        let secrets = secrets("app")
        try secrets.save("old", for: "alice")
        var seen: [String?] = []
        try secrets.transactionOrSteps { transaction in
            seen.append(try transaction.read(String.self, for: "alice"))
            if seen.count == 1 { try secrets.save("newer", for: "alice") }
            try transaction.save("b", for: "bob")
            try transaction.save("c", for: "carol")
        }
        #expect(seen == ["old", "newer"])
    }

    @Test func changesOfSeveralItems_unlessSteppingIsAllowed_areUnsupported() throws {
        let secrets = SecretStore(service: "app", store: store)
        #expect(throws: KeychainError.self) {
            try secrets.transaction { transaction in
                try transaction.save("b", for: "bob")
                try transaction.save("c", for: "carol")
            }
        }
        #expect(try secrets.items().isEmpty)
    }
}
