// SPDX-License-Identifier: Apache-2.0
// What the wrappers cost over the calls of KeychainKit that they make.

import Foundation
import JSKeychain
import Keychain
import KeychainEngine
import KeychainKit
import KeychainServices
import LGTVControl
import Valet

/// The wrappers on the vault of a bench, each with a token of its own.
private struct WrapperBench {
    static let token = "a token of about forty characters, say."
    let store: SecretStore
    let js: JSKeychain
    let valet: Valet
    let value: ValueKeychainStore
    let manager: KeychainManager

    init(_ bench: Bench) throws {
        let vault = bench.services.engine.store
        guard let identifier = Identifier(nonEmpty: "com.example.valet") else { throw BenchError(status: -50) }
        store = SecretStore(service: "com.example.kit", accessibility: .whenUnlocked, store: vault)
        js = JSKeychain().using(vault)
        valet = Valet.valet(with: identifier, accessibility: .whenUnlocked).using(vault)
        value = ValueKeychainStore(accountName: "token").using(vault)
        manager = KeychainManager().using(vault)
        try save(0)
    }

    var saves: [(String, (Int) throws -> Void)] {
        [
            ("kit save", { _ in try store.save(Self.token, for: "token") }),
            ("JSKeychain save", { _ in try js.save(Self.token, service: "com.example.js", account: "token") }),
            ("Valet setString", { _ in try valet.setString(Self.token, forKey: "token") }),
            ("ValueKeychainStore set", { _ in try value.set(Self.token) }),
            (
                "KeychainManager save",
                { _ in try manager.save(Self.token, service: "com.example.tv", account: "token") }
            ),
        ]
    }

    var reads: [(String, (Int) throws -> Void)] {
        [
            ("kit read", { _ in try found(store.read(String.self, for: "token")) }),
            ("JSKeychain read", { _ in try found(js.read(service: "com.example.js", account: "token")) }),
            ("Valet string", { _ in try found(valet.string(forKey: "token")) }),
            ("ValueKeychainStore get", { _ in try found(value.get()) }),
            (
                "KeychainManager load",
                { _ in try found(manager.load(String.self, service: "com.example.tv", account: "token")) }
            ),
        ]
    }

    private func save(_ round: Int) throws { for (_, save) in saves { try save(round) } }

    private func found(_ token: String?) throws {
        guard token == Self.token else { throw BenchError(status: -25300) }
    }
}

func measureWrappers(size: Int, parent: String) throws {
    print("wrappers, \(size) items")
    let bench = try Bench(size: size, parent: parent)
    let wrappers = try WrapperBench(bench)
    var timing = Timing()
    try timing.run(rounds: 9, count: 500, wrappers.reads)
    try timing.run(rounds: 9, count: 100, wrappers.saves)
    report(timing, wrappers.reads.map { ($0.0, $0.0 == "kit read" ? nil : "kit read") })
    report(timing, wrappers.saves.map { ($0.0, $0.0 == "kit save" ? nil : "kit save") })
}
