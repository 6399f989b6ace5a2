// SPDX-License-Identifier: Apache-2.0
// KeychainKit as one of the contenders of `make bench-peers`: it takes a command a line and answers with the time of the call.

import Foundation
import KeychainKit
import KeychainServices
import KeychainVault

/// The commands are those of Benchmarks/Peers/contender.h.
struct PeerContender {
    private let vault: Vault
    /// An item's service has the number of its thousand, so that 1,000 items can be listed in a store of any size.
    private static let itemsPerService = 1000
    /// A secret of 39 bytes that no item has yet.
    private var newValue: Data {
        let number = DispatchTime.now().uptimeNanoseconds % 1_000_000_000
        return Data(String(format: "a token of about forty bytes: %09d", number).utf8)
    }

    init(_ location: VaultLocation) { vault = Vault.at(location) }

    /// Answers one line after the other, until there are no more.
    func serve() {
        answer("ready")
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            let numbers = words.dropFirst().compactMap { Double($0) }
            do { answer(try self.answer(to: words, numbers.map { Int($0) }, seconds: numbers.last ?? 0)) } catch {
                answer("error \(error)".replacingOccurrences(of: "\n", with: " "))
            }
        }
    }

    private func answer(_ words: String) {
        print(words)
        fflush(nil)
    }

    private func answer(to words: [String], _ numbers: [Int], seconds: Double) throws -> String {
        switch (words.first, numbers.count) {
        case ("fill", 3):
            let reached = try fill(numbers[0]..<numbers[1], until: DispatchTime.now() + seconds)
            return "ok 0 \(reached)"
        case ("run", 3):
            let (time, count) = try run(words[1], numbers[0], size: numbers[1], seconds: seconds)
            return "ok \(time) \(count)"
        case (let name?, 1):
            let start = DispatchTime.now().uptimeNanoseconds
            try perform(name, numbers[0])
            return "ok \(DispatchTime.now().uptimeNanoseconds - start)"
        default: throw BenchError(status: errSecParam)
        }
    }

    func perform(_ name: String, _ index: Int) throws {
        let account = "account-\(index)"
        var isDone = true
        switch name {
        case "read": isDone = try store(of: index, remembers: false).read(Data.self, for: account)?.count == 39
        case "again": isDone = try store(of: index).read(Data.self, for: account)?.count == 39
        case "add": try store(of: index).create(newValue, for: account)
        case "update": try store(of: index).save(newValue, for: account)
        case "delete": isDone = try store(of: index).remove(for: account)
        case "list": isDone = try store(of: index).items().count >= 100
        default: throw BenchError(status: errSecParam)
        }
        guard isDone else { throw BenchError(status: errSecItemNotFound) }
    }

    /// - Parameter remembers: Whether a value that was read before may be read without a search. A context prevents it.
    private func store(of index: Int, remembers: Bool = true) -> SecretStore {
        var store = SecretStore(service: "com.example.service-\(index / Self.itemsPerService)", store: vault)
        if !remembers { store.context = AuthenticationContext() }
        return store
    }

    /// Adds items in transactions of one service each, until all are there or the time is over.
    private func fill(_ indexes: Range<Int>, until end: DispatchTime) throws -> Int {
        var next = indexes.lowerBound
        while next < indexes.upperBound, DispatchTime.now() < end {
            let last = min((next / Self.itemsPerService + 1) * Self.itemsPerService, indexes.upperBound)
            try store(of: next).transaction { transaction in
                for index in next..<last { try transaction.save(newValue, for: "account-\(index)") }
            }
            next = last
        }
        return next
    }

    private func run(_ name: String, _ first: Int, size: Int, seconds: Double) throws -> (UInt64, Int) {
        let start = DispatchTime.now()
        var count = 0
        while DispatchTime.now() < start + seconds {
            try perform(name, (first + count * 7919) % size)
            count += 1
        }
        return (DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds, count)
    }
}
