// SPDX-License-Identifier: Apache-2.0
// The stores that every rule is held against, and fresh services over each.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainVault

/// A store to run the same tests on.
enum StoreKind: String, CaseIterable, Sendable {
    case memory, vault

    /// Services over a fresh, empty store; the caller may use the groups `test` and `test2` unless told otherwise.
    func services(
        dialect: Engine.Dialect = .lenient, groups: [String] = ["test", "test2"],
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws -> Services {
        let engine = Engine(store: try emptyStore(), dialect: dialect, now: now)
        return Services(engine: engine, caller: Caller(groups: groups))
    }

    private func emptyStore() throws -> any ItemStore {
        switch self {
        case .memory: MemoryStore()
        case .vault: try TemporaryVault()
        }
    }
}

/// A vault that lives as long as the services over it.
private final class TemporaryVault: ItemStore {
    private let root: String
    private let vault: Vault

    init() throws {
        // The rules are about meaning, not about disks: memory spares thousands of waits for one.
        let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm/" : NSTemporaryDirectory()
        root = parent + "keychain-rules-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        vault = Vault(try VaultLocation(folder: root + "/vault", deviceKeyFile: root + "/key/device.key"))
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: root) } catch { print("left behind: \(root)") }
    }

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainFailure) -> SelectedItems {
        try vault.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainFailure) -> StoredItem {
        try vault.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainFailure) -> Item
    ) throws(KeychainFailure) -> SelectedItems {
        try vault.update(selection, authorization, change)
    }

    func delete(_ selection: Selection) throws(KeychainFailure) -> Int { try vault.delete(selection) }

    var userVerifier: (any UserVerifier)? { vault.userVerifier }
}

extension Services {
    /// The same store, asked by a program with other access groups.
    func with(groups: [String]) -> Services {
        Services(engine: engine, caller: Caller(groups: groups))
    }

    /// The same store, asked in another dialect.
    func with(dialect: Engine.Dialect) -> Services {
        Services(engine: Engine(store: engine.store, dialect: dialect), caller: caller)
    }
}
