// SPDX-License-Identifier: Apache-2.0
// The same token, kept by each wrapper on one vault.

import Foundation
import JSKeychain
import Keychain
@_spi(Wrappers) import KeychainKit
import KeychainVault
import LGTVControl
import Valet

/// The wrappers on a vault in a folder of its own, each with a token of its own.
final class WrapperBench {
    static let token = "a token of about forty characters, say."
    private let folder: String
    let store: SecretStore
    let js: JSKeychain
    let valet: Valet
    let value: ValueKeychainStore
    let manager: KeychainManager

    init(parent: String) throws {
        folder = parent + "/keychain-bench-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let vault = Vault.at(try VaultLocation(folder: folder + "/vault", deviceKeyFile: folder + "/key/device.key"))
        guard let identifier = Identifier(nonEmpty: "com.example.valet") else { throw BenchError.wrongToken }
        store = SecretStore(service: "com.example.kit", accessibility: .whenUnlocked, store: vault)
        js = JSKeychain().using(vault)
        valet = Valet.valet(with: identifier, accessibility: .whenUnlocked).using(vault)
        value = ValueKeychainStore(accountName: "token").using(vault)
        manager = KeychainManager().using(vault)
        try fill()
        for (_, save) in saves { try save() }
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(folder)") }
    }

    /// Others beside the tokens, so that finding them is no matter of course.
    private func fill() throws {
        try store.transaction { items in
            for number in 0..<1000 { try items.save(Self.token, for: "other-\(number)") }
        }
    }

    var saves: [(name: String, call: () throws -> Void)] {
        [
            ("kit save", { [self] in try store.save(Self.token, for: "token") }),
            ("JSKeychain save", { [self] in try js.save(Self.token, service: "com.example.js", account: "token") }),
            ("Valet setString", { [self] in try valet.setString(Self.token, forKey: "token") }),
            ("ValueKeychainStore set", { [self] in try value.set(Self.token) }),
            (
                "KeychainManager save",
                { [self] in try manager.save(Self.token, service: "com.example.tv", account: "token") }
            ),
        ]
    }

    var reads: [(name: String, call: () throws -> Void)] {
        [
            ("kit read", { [self] in try found(store.read(String.self, for: "token")) }),
            ("JSKeychain read", { [self] in try found(js.read(service: "com.example.js", account: "token")) }),
            ("Valet string", { [self] in try found(valet.string(forKey: "token")) }),
            ("ValueKeychainStore get", { [self] in try found(value.get()) }),
            (
                "KeychainManager load",
                { [self] in try found(manager.load(String.self, service: "com.example.tv", account: "token")) }
            ),
        ]
    }

    private func found(_ token: String?) throws {
        guard token == Self.token else { throw BenchError.wrongToken }
    }
}

enum BenchError: Error { case wrongToken }
