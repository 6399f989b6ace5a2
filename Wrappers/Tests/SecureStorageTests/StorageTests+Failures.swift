// SPDX-License-Identifier: Apache-2.0
// Failures of a storage: their reasons, and what they leave.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainTesting
import SecureStorage
import Testing
import WrapperStores

extension StorageTests {
    @Test func secretInARecord_saved_isLoaded() async throws {
        let storage = storage(MemoryStore())
        try await storage.save(["password": SecretValue("n33dle")], for: "login")
        #expect(try await storage.load(for: "login") == ["password": SecretValue("n33dle")])
    }

    @Test func value_ofAnotherType_isDecodingFailedAndStays() async throws {
        let storage = storage(MemoryStore())
        try await storage.save(Login(user: "s3cret", tokens: [:]), for: "login")
        await #expect(throws: SecureStorageError.decodingFailed("the value is not of type Array<Int>")) {
            let _: [Int]? = try await storage.load(for: "login")
        }
        #expect(try await storage.load(for: "login") == Login(user: "s3cret", tokens: [:]))
    }

    @Test func value_ofBracketsThatOnlyOpen_isDecodingFailed() async throws {
        let store = MemoryStore()
        let brackets = Data(repeating: UInt8(ascii: "["), count: 513)
        try await SecretStore(service: "app", store: store).save(brackets, for: "key")
        await #expect(throws: SecureStorageError.decodingFailed("the value is not of type Array<Int>")) {
            let _: [Int]? = try await storage(store).load(for: "key")
        }
    }

    @Test func value_whoseFieldIsNoJSON_isEncodingFailedWithItsDepth() async throws {
        await #expect(throws: SecureStorageError.encodingFailed("Dictionary<String, Array<Double>> (at depth 2)")) {
            try await storage(MemoryStore()).save(["s3cret": [1, .infinity]], for: "key")
        }
    }

    @Test func messages_ofCodingFailures_holdNothingOfTheValue() async throws {
        let storage = storage(MemoryStore())
        try await storage.save(["s3cret-key": "s3cret-value"], for: "login")
        do {
            let _: [String: Int]? = try await storage.load(for: "login")
            Issue.record("It was decoded.")
        } catch {
            for words in ["\(error)", error.localizedDescription, String(reflecting: error), "\(error as NSError)"] {
                #expect(!words.contains("s3cret"))
            }
        }
    }

    @Test(arguments: [
        (ScriptedStore.Fault.locked, KeychainEngine.KeychainError.Reason.locked, Int32(-25308)),
        (.corruptItem, .corrupt, -26275), (.full, .diskFull, -34), (.missingEntitlement, .missingEntitlement, -34018),
        (.busy, .busy, -25291), (.timedOut, .timedOut, -25291), (.inputOutput, .inputOutput, -36),
    ])
    func failure_ofTheKeychain_keepsItsCodeAndItsReason(
        fault: ScriptedStore.Fault, reason: KeychainEngine.KeychainError.Reason, status: Int32
    ) async throws {
        let storage = storage(try failing(fault))
        await #expect(throws: SecureStorageError.saveFailed(status)) { try await storage.save("a", for: "token") }
        await #expect(throws: SecureStorageError.loadFailed(status)) {
            let _: String? = try await storage.load(for: "token")
        }
        #expect(storage.lastFailure?.reason == reason)
    }

    @Test func failedDeletion_isDeleteFailed() async throws {
        let storage = storage(try failing(.readOnly))
        await #expect(throws: SecureStorageError.deleteFailed(-25292)) { try await storage.delete(for: "token") }
    }

    @Test func existence_thatCannotBeTold_isFalseWithAReason() throws {
        let storage = storage(try failing(.locked))
        #expect(!storage.exists(for: "token"))
        #expect(storage.lastFailure?.reason == .locked)
    }

    /// An old failure would explain an absence that has nothing to do with it.
    @Test func failure_beforeACallThatDoesNotFail_isForgotten() async throws {
        let store = ScriptedStore()
        let storage = storage(store)
        store.fail(.locked, .next)
        #expect(!storage.exists(for: "token"))
        #expect(storage.lastFailure?.reason == .locked)
        #expect(!storage.exists(for: "token"))
        #expect(storage.lastFailure == nil)
    }

    @Test func failedSaving_leavesTheOldValue() async throws {
        let store = ScriptedStore()
        let storage = storage(store)
        try await storage.save("old", for: "token")
        store.fail(.full, .every, on: [.update, .insert])
        await #expect(throws: SecureStorageError.saveFailed(-34)) { try await storage.save("new", for: "token") }
        store.reset()
        #expect(try await storage.load(for: "token") == "old")
    }

    @Test(arguments: [
        (SecureStorageError.notFound, -25300), (.loadFailed(-25308), -25308), (.saveFailed(-34), -34),
        (.deleteFailed(-36), -36), (.decodingFailed(""), -26275), (.encodingFailed(""), -50),
    ])
    func error_asNSError_hasTheCodeOfTheSystem(error: SecureStorageError, code: Int) {
        let bridged = error as any Error as NSError
        #expect((bridged.code, bridged.domain) == (code, "NSOSStatusErrorDomain"))
        #expect(bridged.localizedDescription == error.errorDescription)
        #expect(bridged.localizedFailureReason == error.failureReason)
    }

    @Test(arguments: [
        (SecureStorageError.encodingFailed("here"), "Failed to encode value: here"),
        (.decodingFailed("there"), "Failed to decode value: there"),
        (.saveFailed(-34), "Failed to save to keychain (status: -34)"),
        (.loadFailed(-25308), "Failed to load from keychain (status: -25308)"),
        (.deleteFailed(-36), "Failed to delete from keychain (status: -36)"),
        (.notFound, "Item not found in keychain"),
    ])
    func error_described_hasTheWordsOfTheOriginal(error: SecureStorageError, words: String) {
        #expect(error.localizedDescription == words)
    }

    @Test(arguments: [
        (SecureStorageError.saveFailed(-34), "Free some space"), (.loadFailed(-25308), "Unlock"),
        (.deleteFailed(-36), "Check the disk"),
    ])
    func failureReason_saysWhatToDo(error: SecureStorageError, word: String) {
        #expect(error.failureReason?.contains(word) == true, "\(error.failureReason ?? "none")")
    }
}
