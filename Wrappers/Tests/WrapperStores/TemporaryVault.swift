// SPDX-License-Identifier: Apache-2.0
// A vault whose files exist as long as a store refers to it.

public import Foundation
public import KeychainEngine
@_spi(Wrappers) import KeychainVault
import SecretMemory

/// A vault that its device key opens, with or without a passphrase.
public final class TemporaryVault: TransactionalStore {
    private let folder: TemporaryFolder
    private let vault: Vault

    /// - Parameter writerTimeout: How long a change waits for others.
    public init(passphrase: String? = nil, writerTimeout: Duration = .seconds(600)) throws {
        folder = try TemporaryFolder("keychain-kit")
        var settings = VaultSettings.quick
        settings.writerTimeout = writerTimeout
        let (place, deviceKeyFile) = (folder.path + "/vault", folder.path + "/device.key")
        vault = .unshared(try VaultLocation(folder: place, deviceKeyFile: deviceKeyFile), settings)
        guard let passphrase else { return }
        guard let kind = ProtectorKind(word: "passphrase") else { throw CocoaError(.featureUnsupported) }
        try vault.addProtector(ProtectorSecret(kind, SecretBytes(text: passphrase)))
    }

    /// What writers lock.
    public var lockFile: String { folder.path + "/vault/vault.lock" }

    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try vault.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    public func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try vault.insert(item, authorization)
    }

    public func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try vault.update(selection, authorization, change)
    }

    public func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try vault.delete(selection, authorization)
    }

    public func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try vault.transaction(authorization, body)
    }

    public var lockState: LockState {
        get throws(KeychainError) { try vault.lockState }
    }

    public func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        try vault.observe(body)
    }

    public func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences {
        try vault.differences(selections, from: known)
    }

    public var userVerifier: (any UserVerifier)? { vault.userVerifier }
}
