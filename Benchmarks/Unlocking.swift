// SPDX-License-Identifier: Apache-2.0
// What locking and unlocking cost, and what a read costs in a vault that a passphrase opens.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainServices
import KeychainVault
import SecretMemory

/// A vault without a device key slot, beside one of the same items that the device key opens.
final class ProtectedBench {
    let bench: Bench
    let vault: Vault
    private let passphrase: ProtectorSecret
    private let keyFile: ProtectorSecret

    init(size: Int, parent: String) throws {
        bench = try Bench(size: size, parent: parent)
        vault = Vault.at(bench.location)
        passphrase = ProtectorSecret(.passphrase, Self.secret("a passphrase of some words"))
        keyFile = ProtectorSecret(.keyFile, .random(count: 32))
        try vault.addProtector(passphrase)
        for slot in try vault.status().slots where slot.kind == .deviceKey {
            try vault.removeProtector(slot.id, authority: passphrase)
        }
        // Afterwards: the removal makes new keys, for which the secret of every other protector is needed.
        try vault.addProtector(keyFile, authority: passphrase)
        try vault.unlock(keyFile)
    }

    deinit {
        do { try vault.lock(forgettingFirstUnlock: true) } catch { print("left unlocked: \(vault.location.folder)") }
    }

    func unlockByPassphrase() throws { try vault.unlock(passphrase) }
    func unlockByKey() throws { try vault.unlock(keyFile) }
    func lock() throws { try vault.lock() }

    /// What a process does that finds the vault unlocked by another one.
    func openByCache() throws { try bench.open() }

    private static func secret(_ text: String) -> SecretBytes {
        SecretBytes(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
    }
}

func measureUnlocking(size: Int, parent: String) throws {
    print("locking and unlocking, \(size) items, keys kept in: \(VaultSettings().cacheInUse.rawValue)")
    let open = try Bench(size: size, parent: parent)
    let protected = try ProtectedBench(size: size, parent: parent)
    var timing = Timing()
    let pick = { (number: Int) in (number &* 7919) % size }
    try timing.run(
        rounds: 9, count: 500,
        [
            ("read floor + open", { _ = try open.floor.read(pick($0), opening: true) }),
            ("read, device key", { try open.read(pick($0)) }),
            ("read, unlocked by passphrase", { try protected.bench.read(pick($0)) }),
        ])
    try timing.run(
        rounds: 9, count: 21,
        [
            ("open and read one, device key", { _ in try open.open() }),
            ("open and read one, unlocked elsewhere", { _ in try protected.openByCache() }),
            ("lock", { _ in try protected.lock() }),
            ("unlock by key file", { _ in try protected.unlockByKey() }),
        ])
    try timing.run(rounds: 3, count: 3, [("unlock by passphrase", { _ in try protected.unlockByPassphrase() })])
    let rows: [(String, String?)] = [
        ("read floor + open", nil), ("read, device key", "read floor + open"),
        ("read, unlocked by passphrase", "read, device key"), ("open and read one, device key", nil),
        ("open and read one, unlocked elsewhere", "open and read one, device key"), ("lock", nil),
        ("unlock by key file", nil), ("unlock by passphrase", nil),
    ]
    for (name, floor) in rows {
        Row(name: name, micros: timing.median(name), floor: floor, base: floor.map(timing.median) ?? 1).print()
    }
    try protected.unlockByKey()
    let store = SecretStore(service: "com.example.service", store: protected.vault)
    try Scaling(store: store, names: (0..<64).map { "account-\($0)" }).printThreads("unlocked", [2, 8])
}
