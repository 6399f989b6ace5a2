// SPDX-License-Identifier: Apache-2.0
// Transactions that change nothing: they need nothing but leave to read.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import KeychainTesting
import KeychainVault
import Testing

@Suite("Transactions that only read")
struct ReadingTransactionTests {
    @Test func reading_ofAKeychainThatCannotBeWritten_works() throws {
        let memory = MemoryStore()
        let keychain = ScriptedStore(over: memory)
        keychain.fail(.readOnly, .every, on: [.insert, .update, .delete, .transaction])
        let writing = SecretStore(service: "app", store: memory)
        for account in ["alice", "bob"] { try writing.save(account, for: account) }
        let read = try SecretStore(service: "app", store: keychain).transaction { transaction in
            try [transaction.read(String.self, for: "alice"), transaction.read(String.self, for: "bob")]
        }
        #expect(read == ["alice", "bob"])
    }

    @Test func reading_withoutAVault_makesNone() throws {
        let vault = try SharedVault()
        let found = try vault.store.transaction { transaction in
            try ["alice", "bob"].filter { try transaction.contains(for: $0) }
        }
        #expect(found.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: vault.location.folder))
    }

    @Test(arguments: StoreKind.allCases)
    func reading_ofSeveralThatAreChangedMeanwhile_runsAgain(kind: StoreKind) throws {
        let store = SecretStore(service: "app", store: try kind.empty())
        var runs = 0
        let read = try store.transaction { transaction in
            runs += 1
            let first = try transaction.read(Int.self, for: "first")
            if runs == 1 {
                try store.save(1, for: "first")
                try store.save(1, for: "second")
            }
            return [first, try transaction.read(Int.self, for: "second")]
        }
        #expect(read == [1, 1])
    }
}
