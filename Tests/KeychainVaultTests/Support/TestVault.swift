// SPDX-License-Identifier: Apache-2.0
// A vault in a temporary folder of its own.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

/// A vault that lives as long as one test.
final class TestVault: Sendable {
    private let folder: TemporaryFolder
    let location: VaultLocation
    let vault: Vault
    /// Whether it has been one that somebody has to unlock.
    let isProtected = Guarded(false)

    init(
        _ settings: VaultSettings = .patient, keyFolder: String = "config", in folder: TemporaryFolder? = nil
    ) throws {
        let folder = try folder ?? TemporaryFolder("keychain-test")
        self.folder = folder
        let path = folder.path
        location = try VaultLocation(folder: path + "/vault", deviceKeyFile: "\(path)/\(keyFolder)/device.key")
        vault = Vault(location, settings)
    }

    /// The kernel would keep the keys of an unlocked vault, and lets a user have 20,000 bytes of them. One that does not open any more
    /// is left.
    deinit { if isProtected.withLock({ $0 }) { _ = try? forget() } }

    var root: String { folder.path }
    var engine: Engine { Engine(store: vault) }

    /// The same vault as another process would see it: nothing cached, opened again.
    func reopened() -> Engine { Engine(store: Vault(location, .patient)) }

    var databaseFile: String { location.folder + "/vault.db" }

    /// All files under the test's folder, by path.
    func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
            var isFolder: ObjCBool = false
            let path = root + "/" + name
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                continue
            }
            files[path] = try Data(contentsOf: URL(fileURLWithPath: path))
        }
        return files
    }
}

extension VaultSettings {
    /// A change waits for others as long as they take on a busy machine.
    static var patient: VaultSettings {
        var settings = VaultSettings()
        settings.writerTimeout = .seconds(600)
        return settings
    }
}

extension TestVault {
    /// Puts a file of mode 0600 in place, with its folders.
    func place(_ bytes: Data, at path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try bytes.write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// Accounts and values of the exerciser's items, as a fresh process reads them.
    func state() throws -> [String: String] {
        let query = Query(.genericPassword, [.service: .string("exerciser")]).returning(.value, limit: .all)
        let found = try reopened().requests.find(query, accessGroups: .unrestricted)
        return Dictionary(uniqueKeysWithValues: found.compactMap(Self.entry))
    }

    private static func entry(_ found: StoredItem) -> (String, String)? {
        guard case .string(let account) = found.item.attributes[.account], let value = found.item.value else {
            return nil
        }
        return (account, String(decoding: value, as: UTF8.self))
    }
}

extension Vault {
    func session() throws -> Session { try #require(try openSession()) }
}

extension Query {
    static func genericPassword(_ service: String, _ account: String, value: String? = nil) -> Query {
        var query = Query(.genericPassword, [.service: .string(service), .account: .string(account)])
        query.value = value.map { Data($0.utf8) }
        return query
    }

    func returning(_ returns: Returns, limit: Limit? = nil) -> Query {
        var copy = self
        copy.returns = returns
        copy.limit = limit
        return copy
    }
}

extension Engine {
    func add(_ query: Query) throws(KeychainError) { _ = try add(query, accessGroups: .unrestricted) }

    func value(_ query: Query) throws(KeychainError) -> Data? {
        let outcome = try copyMatching(query.returning(.value), accessGroups: .unrestricted)
        return if case .one(.value(let value)) = outcome { value } else { nil }
    }

    func text(_ query: Query) throws(KeychainError) -> String? {
        try value(query).map { String(decoding: $0, as: UTF8.self) }
    }

    func update(_ query: Query, value: String) throws(KeychainError) {
        try update(query, with: Changes(value: Data(value.utf8)), accessGroups: .unrestricted)
    }

    func delete(_ query: Query) throws(KeychainError) { try delete(query, accessGroups: .unrestricted) }
}

/// The reason of the failure that `body` ends with; `nil` if it succeeds.
func reason(_ body: () throws -> Void) -> KeychainError.Reason? {
    do {
        try body()
        return nil
    } catch let failure as KeychainError {
        return failure.reason
    } catch {
        return .inputOutput
    }
}

/// The calls of a store without a prompt.
extension ItemStore {
    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool
    ) throws(KeychainError) -> SelectedItems {
        try select(selection, limit: limit, includingValues: includingValues, .none)
    }

    func insert(_ item: Item) throws(KeychainError) -> StoredItem { try insert(item, .none) }

    func update(
        _ selection: Selection, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try update(selection, .none, change)
    }
}
