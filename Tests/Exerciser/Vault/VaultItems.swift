// SPDX-License-Identifier: Apache-2.0
// What another process does with the items of a vault.

import Foundation
import KeychainEngine
import Synchronization

struct VaultItems {
    let engine: Engine

    /// Runs the steps that `ScriptedState` in the tests predicts, and tells each one that is done.
    func script(steps: Int) {
        for step in 0..<steps {
            report("\(step)") {
                switch step % 5 {
                case 0, 1, 2: try add("account-\(step)", "value-\(step)")
                case 3: try update("account-\(step - 2)", "updated-\(step)")
                default: try delete("account-\(step - 3)")
                }
            }
        }
    }

    /// Random additions, updates and deletions on a few keys that all workers share and a few of its own.
    func swarm(worker: Int, operations: Int) {
        var generator = SplitMix(state: UInt64(worker) &+ 1)
        for operation in 0..<operations {
            let isShared = generator.next() % 2 == 0
            let key = (isShared ? "shared-" : "worker-\(worker)-") + "\(generator.next() % 5)"
            let value = "\(worker):\(operation)"
            let verb = ["add", "update", "delete"][Int(generator.next() % 3)]
            let start = DispatchTime.now().uptimeNanoseconds
            let outcome = outcome(verb, key, value)
            print(verb, key, value, start, DispatchTime.now().uptimeNanoseconds, outcome)
        }
    }

    /// Updates one item with the numbers from 1.
    func count(_ account: String, to last: Int) {
        for number in 1...max(1, last) {
            let start = DispatchTime.now().uptimeNanoseconds
            let outcome = outcome("update", account, "\(number)")
            print("update", account, number, start, DispatchTime.now().uptimeNanoseconds, outcome)
        }
    }

    private func outcome(_ verb: String, _ key: String, _ value: String) -> String {
        do {
            switch verb {
            case "add": try add(key, value)
            case "update": try update(key, value)
            default: try delete(key)
            }
            return "ok"
        } catch let failure as KeychainError {
            return failure.reason.rawValue
        } catch {
            return "unknown"
        }
    }

    func add(_ account: String, _ value: String) throws {
        var query = query(account)
        query.value = Data(value.utf8)
        _ = try engine.add(query, accessGroups: .unrestricted)
    }

    func update(_ account: String, _ value: String) throws {
        try engine.update(query(account), with: Changes(value: Data(value.utf8)), accessGroups: .unrestricted)
    }

    func delete(_ account: String) throws {
        try engine.delete(query(account), accessGroups: .unrestricted)
    }

    /// Deletes an item in a transaction that may also add one: the vault does not know beforehand.
    func delete(_ account: String, adding other: String?) throws {
        try engine.transaction(as: query(account)) { (requests) throws(KeychainError) in
            _ = try requests.delete(query(account), accessGroups: .unrestricted)
            guard let other else { return }
            var query = query(other)
            query.value = Data("value".utf8)
            _ = try requests.add(query, accessGroups: .unrestricted)
        }
    }

    func read(_ account: String) throws -> String {
        var query = query(account)
        query.returns = .value
        guard case .one(.value(let value)) = try engine.copyMatching(query, accessGroups: .unrestricted) else {
            return ""
        }
        return String(decoding: value, as: UTF8.self)
    }

    func addMany(_ count: Int) throws {
        try engine.transaction(as: Query(.genericPassword)) { (requests) throws(KeychainError) in
            for number in 1...max(1, count) {
                var query = query("many-\(number)")
                query.value = Data("value".utf8)
                _ = try requests.add(query, accessGroups: .unrestricted)
            }
        }
    }

    func deleteAll() throws {
        try engine.delete(Query(.genericPassword, [.service: .string("exerciser")]), accessGroups: .unrestricted)
    }

    func deleteEach(_ prefix: String, count: Int) {
        for item in 0..<count { report { try delete("\(prefix)-\(item)") } }
    }

    func count() throws -> Int {
        var query = Query(.genericPassword, [.service: .string("exerciser")])
        (query.returns, query.limit) = (.attributes, .all)
        return try engine.requests.find(query, accessGroups: .unrestricted).count
    }

    /// Adds items until its input ends: the name and the time of each that is acknowledged.
    func addUntilTold(_ name: String) {
        let isToldToEnd = Mutex(false)
        Thread.detachNewThread {
            _ = FileHandle.standardInput.readDataToEndOfFile()
            isToldToEnd.withLock { $0 = true }
        }
        var number = 0
        while !isToldToEnd.withLock({ $0 }) {
            report("\(name)-\(number) \(DispatchTime.now().uptimeNanoseconds)") { try add("\(name)-\(number)", "v") }
            number += 1
        }
    }

    /// Reads, tells so by a file, waits for another file, and reads again.
    func readTwice(_ account: String, signal: String) {
        report { print(try read(account)) }
        guard FileManager.default.createFile(atPath: signal + ".first", contents: nil) else { return }
        waitUntil { FileManager.default.fileExists(atPath: signal + ".go") }
        report { print(try read(account)) }
    }

    private func query(_ account: String) -> Query {
        Query(.genericPassword, [.service: .string("exerciser"), .account: .string(account)])
    }
}

/// A small seeded generator, so that a failing run can be run again.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
