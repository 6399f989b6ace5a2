// SPDX-License-Identifier: Apache-2.0
// Many changes at once, and one after the other.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainVault

@Suite(.serialized, .timeLimit(.minutes(60)))
struct BurstTests {
    /// Follows changes until the accounts are these, and returns how many changes that took.
    private static func follow(
        _ changes: SecretChanges, until isDone: (Set<KeychainItem>) -> Bool
    ) async -> Int {
        var (items, count): ([UUID: KeychainItem], Int) = ([:], 0)
        for await change in changes {
            guard let item = change.item else { continue }
            count += 1
            items[item.id] = change.kind == .removed ? nil : item
            if isDone(Set(items.values)) { break }
        }
        return count
    }

    @Test func tenThousandWrites_byAnotherProcess_comeToTheLastState() async throws {
        let vault = try SharedVault()
        let changes = try await vault.store.changes()
        // More than that, of 100 items in 101 transactions; no change is taken meanwhile.
        #expect(try await vault.lines("transact", "101", "100").count == 101)
        let final = Set(try await vault.store.items())
        #expect(final.count == 100)
        let count = await Self.follow(changes) { $0 == final }
        #expect(count >= 100 && count <= 300, "\(count)")
    }

    @Test func tenThousandWrites_whileTheyAreTaken_comeToTheLastState() async throws {
        let store = SecretStore(service: "s", store: MemoryStore())
        let changes = try await store.changes()
        let writing = Thread {
            for number in 0..<10_000 {
                do { try store.save("\(number)", for: "item-\(number % 50)") } catch { Issue.record(error) }
            }
            do { try store.save("end", for: "end") } catch { Issue.record(error) }
        }
        writing.start()
        var latest: [String: KeychainItem] = [:]
        for await change in changes {
            guard let item = change.item, let account = item.account else { continue }
            latest[account] = item
            if latest.count == 51, Set(latest.values) == Set(try await store.items()) { break }
        }
        #expect(latest.count == 51)
        #expect(try await store.read(String.self, for: "item-49") == "9999")
    }

    /// The next one is made only when this one has arrived, so none waits for another; `make bench` says how soon.
    @Test func changes_byAnotherProcess_eachArriveByThemselves() throws {
        let vault = try SharedVault()
        try vault.store.save("first", for: "alice")
        let kinds = try vault.run("observe-another", "alice", "21").lines
        #expect(kinds == Array(repeating: "updated", count: 21))
    }
}
