// SPDX-License-Identifier: Apache-2.0
// What KeychainKit's calls cost, beside SecItem's and the floors.

import Foundation
import KeychainKit
import KeychainServices

/// A record of the size that credentials have.
private struct Credentials: Codable {
    var user = "alice@example.com"
    var token = "a token of about forty characters, say."
    var expires = 1_800_000_000
}

/// KeychainKit on the vault of a bench, in services of its own beside the bench's.
struct KitBench {
    let bench: Bench
    private let store: SecretStore
    private let records: SecretStore
    private let lists: SecretStore
    /// Reads the same items under a name that is never remembered.
    private let unchecked: SecretStore
    private let value = Data("a token of about forty characters, say.".utf8)

    init(_ bench: Bench) throws {
        self.bench = bench
        let vault = bench.services.engine.store
        store = SecretStore(service: "com.example.service", store: vault)
        records = SecretStore(service: "com.example.records", store: vault)
        lists = SecretStore(service: "com.example.list", store: vault)
        var unchecked = store
        unchecked.context = AuthenticationContext()
        self.unchecked = unchecked
        try records.save(Credentials(), for: "alice")
        try lists.transaction { transaction in
            for index in 0..<1000 { try transaction.save(value, for: "account-\(index)") }
        }
    }

    private func account(_ index: Int) -> String { "account-\(index % bench.size)" }

    func read(_ index: Int) throws {
        guard try store.read(Data.self, for: account(index)) != nil else {
            throw BenchError(status: errSecItemNotFound)
        }
    }

    /// An item that was read before and has not changed since.
    func readAgain(_ index: Int) throws {
        guard try store.read(Data.self, for: account(index % 64)) != nil else {
            throw BenchError(status: errSecItemNotFound)
        }
    }

    /// The first read of an item after a change of the vault: the change is made elsewhere, so that it is not measured.
    func readFirst(_ index: Int) throws {
        guard try unchecked.read(Data.self, for: account(index)) != nil else {
            throw BenchError(status: errSecItemNotFound)
        }
    }

    /// The same through `SecItemCopyMatching`.
    func secItemAgain(_ index: Int) throws { try bench.secItemCopyMatching(index % 64) }

    /// A match key has no effect on passwords, but such a search is never remembered.
    func secItemFirst(_ index: Int) throws {
        var result: AnyObject?
        let status = bench.services.copyMatching(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.service",
                kSecAttrAccount: account(index), kSecReturnData: true, kSecMatchCaseInsensitive: false,
            ] as NSDictionary, &result)
        guard status == errSecSuccess, result is Data else { throw BenchError(status: status) }
    }

    func readRecord(_: Int) throws {
        guard try records.read(Credentials.self, for: "alice") != nil else {
            throw BenchError(status: errSecItemNotFound)
        }
    }

    func saveNew(_ index: Int) throws { try store.save(value, for: "new-\(index)") }

    func saveOver(_ index: Int) throws { try store.save(value, for: account(index)) }

    func increment(_: Int) throws { try records.update(Int.self, for: "counter") { $0 = ($0 ?? 0) + 1 } }

    func secItemUpdate(_ index: Int) throws {
        let status = bench.services.update(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.service",
                kSecAttrAccount: account(index),
            ] as NSDictionary, [kSecValueData: value] as NSDictionary)
        guard status == errSecSuccess else { throw BenchError(status: status) }
    }

    func list(_: Int) throws {
        guard try lists.items().count == 1000 else { throw BenchError(status: errSecItemNotFound) }
    }

    func secItemList(_: Int) throws {
        guard try secItemDictionaries().count == 1000 else { throw BenchError(status: errSecItemNotFound) }
    }

    /// The same with one entry of each dictionary, and with all of them.
    func secItemListAndAccounts(_: Int) throws {
        for case let item as NSDictionary in try secItemDictionaries() {
            guard item[kSecAttrAccount] is String else { throw BenchError(status: errSecItemNotFound) }
        }
    }

    func secItemListAndEntries(_: Int) throws {
        guard let items = try secItemDictionaries() as? [[String: Any]], items.allSatisfy({ $0.count > 8 }) else {
            throw BenchError(status: errSecItemNotFound)
        }
    }

    private func secItemDictionaries() throws -> NSArray {
        var result: AnyObject?
        let status = bench.services.copyMatching(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.list",
                kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ] as NSDictionary, &result)
        guard status == errSecSuccess, let list = result as? NSArray else { throw BenchError(status: status) }
        return list
    }

    func transaction(_ index: Int) throws {
        try store.transaction { transaction in
            for item in 0..<100 { try transaction.save(value, for: "batch-\(index)-\(item)") }
        }
    }

    /// Items that were read before, one after the other, from a task.
    func readWithoutBlocking(_ count: Int) async throws -> Double {
        try await Self.read(store, (0..<count).map { account($0 % 64) })
    }

    /// Items that are searched, with the change of threads that each takes.
    func readFirstWithoutBlocking(_ count: Int) async throws -> Double {
        try await Self.read(unchecked, (0..<count).map { account($0 &* 7919) })
    }

    /// - Returns: Microseconds of each read.
    private static func read(_ store: SecretStore, _ accounts: [String]) async throws -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        for account in accounts {
            guard try await store.read(Data.self, for: account) != nil else {
                throw BenchError(status: errSecItemNotFound)
            }
        }
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1000 / Double(accounts.count)
    }
}

func measureKit(size: Int, parent: String) async throws {
    print("KeychainKit, \(size) items")
    let bench = try Bench(size: size, parent: parent)
    let kit = try KitBench(bench)
    let pick = { (number: Int) in (number &* 7919) % size }
    var timing = Timing()
    try timing.run(
        rounds: 9, count: 500,
        [
            ("read floor + open", { _ = try bench.floor.read(pick($0), opening: true) }),
            ("kit read, first", { try kit.readFirst(pick($0)) }),
            ("kit read, again", { try kit.readAgain($0) }),
            ("kit read of a record", { try kit.readRecord($0) }),
            ("SecItemCopyMatching, first", { try kit.secItemFirst(pick($0)) }),
            ("SecItemCopyMatching, again", { try kit.secItemAgain($0) }),
        ])
    try timing.run(
        rounds: 9, count: 100,
        [
            ("add floor", { try bench.floor.add(size + $0, sealing: false) }),
            ("kit save, new", { try kit.saveNew($0) }),
            ("SecItemAdd", { try bench.secItemAdd(size + $0) }),
            ("kit save, over", { try kit.saveOver(pick($0)) }),
            ("SecItemUpdate", { try kit.secItemUpdate(pick($0)) }),
            ("kit update (compare and swap)", { try kit.increment($0) }),
        ])
    try timing.run(
        rounds: 9, count: 5,
        [
            ("list floor + open, 1000", { _ in _ = try bench.floor.list(1000) }),
            ("kit list, 1000", { try kit.list($0) }),
            ("SecItemCopyMatching, 1000", { try kit.secItemList($0) }),
            ("SecItemCopyMatching, 1000, accounts", { try kit.secItemListAndAccounts($0) }),
            ("SecItemCopyMatching, 1000, all entries", { try kit.secItemListAndEntries($0) }),
            ("transaction floor, 100", { try bench.floor.add((1 + $0) << 24..<(1 + $0) << 24 + 100, sealing: false) }),
            (
                "transaction floor + seal, 100",
                { try bench.floor.add((1 + $0) << 32..<(1 + $0) << 32 + 100, sealing: true) }
            ),
            ("kit transaction, 100", { try kit.transaction($0) }),
        ])
    let rows: [(String, String?)] = [
        ("read floor + open", nil), ("kit read, first", "read floor + open"), ("kit read, again", "read floor + open"),
        ("SecItemCopyMatching, first", "read floor + open"), ("SecItemCopyMatching, again", "read floor + open"),
        ("kit read of a record", "kit read, again"), ("add floor", nil),
        ("kit save, new", "add floor"),
        ("SecItemAdd", "add floor"), ("kit save, over", "SecItemUpdate"), ("SecItemUpdate", "add floor"),
        ("kit update (compare and swap)", "SecItemUpdate"), ("list floor + open, 1000", nil),
        ("kit list, 1000", "list floor + open, 1000"), ("SecItemCopyMatching, 1000", "list floor + open, 1000"),
        ("SecItemCopyMatching, 1000, accounts", "list floor + open, 1000"),
        ("SecItemCopyMatching, 1000, all entries", "list floor + open, 1000"),
        ("transaction floor, 100", nil), ("transaction floor + seal, 100", "transaction floor, 100"),
        ("kit transaction, 100", "transaction floor, 100"),
    ]
    report(timing, rows)
    try await reportReadsWithoutBlocking(kit, timing)
}

private func reportReadsWithoutBlocking(_ kit: KitBench, _ timing: Timing) async throws {
    let again = Timing.median(try await medians(9) { try await kit.readWithoutBlocking(500) })
    let first = Timing.median(try await medians(9) { try await kit.readFirstWithoutBlocking(500) })
    for (name, micros) in [("kit read, again", again), ("kit read, first", first)] {
        Row(name: name + ", asynchronous", micros: micros, floor: name, base: timing.median(name)).print()
    }
}

private func medians(_ rounds: Int, _ body: () async throws -> Double) async throws -> [Double] {
    var results: [Double] = []
    for _ in 0..<rounds { results.append(try await body()) }
    return results
}
