// SPDX-License-Identifier: Apache-2.0
// What another process does with KeychainKit.

import Foundation
import KeychainEngine
import KeychainKit
@_spi(Wrappers) import KeychainSecItem
import KeychainVault

/// The words behind a verb of KeychainKit: FOLDER DEVICE-KEY [ARGUMENT …]. The vault has the settings of any program.
struct KitVerb {
    private let vault: Vault
    private let store: SecretStore
    private let place: [String]
    private let arguments: [String]

    init(_ words: [String]) throws {
        guard words.count >= 2 else { exit(64) }
        let location = try VaultLocation(folder: words[0], deviceKeyFile: words[1])
        vault = Vault.at(location)
        store = SecretStore(service: "exerciser", store: vault)
        place = Array(words.prefix(2))
        arguments = Array(words.dropFirst(2))
    }

    private func number(_ index: Int) -> Int { Int(arguments[index]) ?? 0 }

    /// ACCOUNT VALUE
    func save() { report { try store.save(arguments[1], for: arguments[0]) } }

    /// ACCOUNT
    func saveAtEachLine() {
        while let line = readLine() { report("saved") { try store.save(line, for: arguments[0]) } }
    }

    /// ACCOUNT
    func remove() { report { try store.remove(for: arguments[0]) } }

    /// ACCOUNT STEPS
    func increment() {
        for step in 0..<number(1) {
            report("\(step)") { try store.update(Int.self, for: arguments[0]) { $0 = ($0 ?? 0) + 1 } }
        }
    }

    /// STEPS ITEMS: every step gives all items the same new value, and the odd ones remove half of them.
    func transact() {
        for step in 0..<number(0) {
            report("\(step)") {
                try store.transaction { transaction in
                    for item in 0..<number(1) {
                        if step % 2 == 1, item % 2 == 1 {
                            transaction.remove(for: "item-\(item)")
                        } else {
                            try transaction.save("step-\(step)", for: "item-\(item)")
                        }
                    }
                }
            }
        }
    }

    /// STEPS ITEMS: saves the items in turn.
    func burst() {
        for step in 0..<number(0) {
            report("\(step)") { try store.save("value-\(step)", for: "item-\(step % (Int(arguments[1]) ?? 1))") }
        }
    }

    /// NAME FIRST COUNT VALUE: saves `NAME-FIRST` and those after it as synchronizable items, and tells each that is done.
    func saveShared() {
        var shared = store
        shared.synchronizable = true
        for item in number(1)..<number(1) + number(2) {
            let account = "\(arguments[0])-\(item)"
            report(account) { try shared.save("\(arguments[3]) \(account)", for: account) }
        }
    }

    /// WORKER OPERATIONS THREADS vault|functions
    func hurry() throws {
        var hurry = Hurry(store: store, worker: arguments[0])
        if arguments[3] == "functions" {
            // Add, update and delete one after the other: these functions have no transactions.
            hurry.store = SecretStore(service: "exerciser", store: SecItemStore(try .over(vault, accessGroups: nil)))
            hurry.hasTransactions = false
        }
        hurry.run(operations: number(1), threads: number(2))
    }

    /// ACCOUNT COUNT
    func observeAnother() async throws {
        let writer = ["save-at-each-line"] + place + [arguments[0]]
        try await OneByOne(store: store, account: arguments[0], writer: writer).report(count: number(1))
    }
}
