// SPDX-License-Identifier: Apache-2.0
// Items of locked and damaged keychains, many threads, and what calls cost.

import Foundation
import JSKeychain
@_spi(Wrappers) import KeychainKit
import KeychainTesting
import Synchronization
import Testing
import WrapperStores

extension ItemTests {
    @Test func lockedKeychain_isAnErrorAndExistsSaysWhy() throws {
        let vault = try LockableVault()
        let keychain = JSKeychain().using(vault.vault)
        try keychain.save("1")
        try keychain.save("2", service: "app", account: "refresh", accessibility: .afterFirstUnlock)
        try vault.setLockState(.locked)
        #expect(keychainError { try keychain.value() } == .unhandledError(status: -25308))
        #expect(!keychain.exists(service: "app", account: "alice"))
        #expect(keychain.lastFailure?.reason == .locked)
        #expect(keychainError { try keychain.listAll() } == .unhandledError(status: -25308))
        let refresh: String = try keychain.read(service: "app", account: "refresh")
        try keychain.save("3", service: "app", account: "refresh", accessibility: .afterFirstUnlock)
        #expect(refresh == "2" && keychain.exists(service: "app", account: "refresh"))
        try keychain.delete(service: "app", account: "alice")
        try keychain.deleteAll(service: "app")
        try vault.setLockState(.unlocked)
        #expect(try keychain.listAll().isEmpty)
    }

    /// A program can do the same about it as about broken JSON; `lastFailure` tells them apart.
    @Test func item_thatIsDamagedInTheKeychain_isInvalidData() throws {
        let store = ScriptedStore()
        let keychain = JSKeychain().using(store)
        try keychain.save("1")
        store.fail(.corruptItem, .every, on: [.select])
        #expect(keychainError { try keychain.value() } == .invalidData)
        #expect(keychain.lastFailure?.reason == .corrupt)
        #expect(!keychain.exists(service: "app", account: "alice"))
    }

    // MARK: - Many threads

    @Test func coders_usedByManyThreads_workForEach() throws {
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        (encoder.dateEncodingStrategy, decoder.dateDecodingStrategy) = (.iso8601, .iso8601)
        let keychain = JSKeychain(encoder: encoder, decoder: decoder).using(MemoryStore())
        let failures = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            let date = Date(timeIntervalSince1970: Double(number))
            do {
                try keychain.save(date, service: "app", account: "\(number)")
                let read: Date = try keychain.read(service: "app", account: "\(number)")
                if read != date { failures.withLock { $0 += 1 } }
            } catch {
                failures.withLock { $0 += 1 }
            }
        }
        #expect(failures.withLock { $0 } == 0)
    }

    @Test func call_thatIsCancelled_endsWithThat() async throws {
        let keychain = JSKeychain().using(MemoryStore())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await keychain.save("1", service: "app", account: "alice")
        }
        await #expect(throws: JSKeychainError.unhandledError(status: -128)) { try await task.value }
    }

    // MARK: - Cost

    /// It looks for an item of either kind, and adds one: in one transaction, where there are any.
    @Test(arguments: StoreKind.everywhere)
    func newItem_saved_isOneSearchAndOneInsertion(kind: StoreKind) throws {
        let store = ScriptedStore(over: try kind.empty())
        try JSKeychain().using(store).save("1")
        let calls = store.calls
        #expect(calls.filter { $0.kind != .transaction }.map(\.kind) == [.select, .insert])
        #expect(calls.filter { $0.kind == .transaction }.count == (store.transactional == nil ? 0 : 1))
    }

    /// Before it saves over an item it looks of which kind that is. What that costs `make bench` says.
    @Test func wrapper_asksTheStoreLittleMoreThanWithoutIt() throws {
        let (plain, wrapped) = (ScriptedStore(), ScriptedStore())
        let (keychain, secrets) = (JSKeychain().using(wrapped), plain.secrets(service: "plain"))
        for number in 1...3 {
            try secrets.save(Data("\"\(number)\"".utf8), for: "alice")
            _ = try secrets.read(Data.self, for: "alice")
            try keychain.save("\(number)")
            #expect(try keychain.value() == "\(number)")
        }
        // Two of the three items are saved over.
        #expect(wrapped.calls.count <= plain.calls.count + 2, "\(wrapped.calls.count) instead of \(plain.calls.count)")
        #expect(!plain.calls.isEmpty)
    }
}
