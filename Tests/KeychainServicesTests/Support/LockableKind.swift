// SPDX-License-Identifier: Apache-2.0
// Stores that can be locked, and services over each.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainServices
import KeychainVault
import SecretMemory

/// A keychain with a passphrase, and the way to put it into each state.
final class LockableKeychain: Sendable {
    let services: Services
    private let setState: @Sendable (LockState) throws -> Void
    private let end: @Sendable () -> Void

    fileprivate init(
        _ store: any ItemStore, _ groups: [String], setState: @escaping @Sendable (LockState) throws -> Void,
        end: @escaping @Sendable () -> Void = {}
    ) {
        services = Services(engine: Engine(store: store), caller: Caller(groups: groups))
        self.setState = setState
        self.end = end
    }

    deinit { end() }

    func enter(_ state: LockState) throws { try setState(state) }
}

/// A store to run the same tests on.
enum LockableKind: String, CaseIterable, Sendable {
    case memory, vault

    static let passphrase = "correct horse battery"

    /// A keychain that is unlocked.
    func keychain(groups: [String] = ["test", "test2"]) throws -> LockableKeychain {
        switch self {
        case .memory:
            let store = MemoryStore(passphrase: Self.passphrase)
            return LockableKeychain(store, groups, setState: { store.lockState = $0 })
        case .vault:
            return try Self.vault(groups)
        }
    }

    private static func vault(_ groups: [String]) throws -> LockableKeychain {
        let root = NSTemporaryDirectory() + "keychain-lock-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var settings = VaultSettings()
        settings.scryptCost = .cheap
        let location = try VaultLocation(folder: root + "/vault", deviceKeyFile: root + "/key/device.key")
        let vault = Vault(location, settings)
        let secret = try Self.secret
        try vault.addProtector(secret)
        for slot in try vault.status().slots where slot.kind?.word == "device-key" {
            try vault.removeProtector(slot.id, authority: secret)
        }
        // No slow derivation: these tests unlock hundreds of times.
        let key = ProtectorSecret(try kind("key-file"), .random(count: 32))
        try vault.addProtector(key, authority: secret)
        try vault.unlock(key)
        return LockableKeychain(
            vault, groups,
            setState: { state in
                try vault.lock(forgettingFirstUnlock: true)
                guard state > .beforeFirstUnlock else { return }
                try vault.unlock(key)
                if state == .locked { try vault.lock() }
            },
            end: {
                do {
                    try vault.lock(forgettingFirstUnlock: true)
                    try FileManager.default.removeItem(atPath: root)
                } catch {
                    print("left behind: \(root)")
                }
            })
    }

    private static var secret: ProtectorSecret {
        get throws { ProtectorSecret(try kind("passphrase"), SecretBytes(text: passphrase)) }
    }

    private static func kind(_ word: String) throws -> ProtectorKind {
        guard let kind = ProtectorKind(word: word) else { throw CocoaError(.featureUnsupported) }
        return kind
    }
}

extension ScryptCost {
    /// A tenth of a second: these tests are not about guessing.
    static let cheap = ScryptCost(floor: ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1), target: nil)
}

extension SecretBytes {
    convenience init(text: String) {
        self.init(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
    }
}
