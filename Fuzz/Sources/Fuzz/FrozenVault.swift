// SPDX-License-Identifier: Apache-2.0
// Vaults whose database was changed: a read returns what was written, or nothing.

import Foundation

@testable import KeychainEngine
@testable import KeychainVault

/// A vault of `Tests/Fixtures`, to be damaged and then used.
struct FrozenVault {
    let database: Data
    let location: VaultLocation
    let settings: VaultSettings
    /// What it holds while it is whole.
    let items: [StoredItem]

    nonisolated(unsafe) private(set) static var all: [FrozenVault] = []

    static func prepare() {
        all = ["vault-1", "vault-2", "vault-3", "vault-4", "vault-5"].map { FrozenVault($0) }
        for vault in all { require(vault.items.count > 5, "the frozen vaults open") }
    }

    private init(_ name: String) {
        let fixture =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../../../Tests/Fixtures/" + name
        let folder = Scratch.folder + "/" + name
        for path in [folder, folder + "/vault", folder + "/config", folder + "/credentials"] { mkdir(path, 0o700) }
        func copy(_ from: String, _ to: String) {
            if let bytes = FileManager.default.contents(atPath: fixture + "/" + from) {
                _ = Scratch.write(bytes, name + "/" + to)
            }
        }
        copy("device.key", "config/device.key")
        copy("credentials/swift-keychain.key", "credentials/swift-keychain.key")
        guard let bytes = FileManager.default.contents(atPath: fixture + "/vault.db"),
            let place = try? VaultLocation(folder: folder + "/vault", deviceKeyFile: folder + "/config/device.key")
        else { fatalError("there is no \(fixture)") }
        (database, location) = (bytes, place)
        var settings = VaultSettings()
        settings.credentialsFolder = folder + "/credentials"
        settings.unlockCache = .process
        // Each run puts the vault back.
        settings.anchors = []
        self.settings = settings
        Self.lay(bytes, place)
        items = Self.read(Vault(place, settings))
    }

    /// The private folder that all of its files lie in.
    var root: String { String(location.folder.dropLast("/vault".count)) }

    // MARK: - Targets

    /// Changes bytes of the file: overwrites, fills, copies and cuts.
    static func database(_ bytes: Data) {
        var input = FuzzInput(bytes)
        let vault = input.element(of: all)
        var database = vault.database
        Tampering.change(&database, &input)
        Self.lay(database, vault.location)
        vault.use()
    }

    /// Changes columns of rows through SQLite, so that all else in the file fits them.
    static func rows(_ bytes: Data) {
        var input = FuzzInput(bytes)
        let vault = input.element(of: all)
        Self.lay(vault.database, vault.location)
        Tampering.changeRows(vault.location.databaseFile, &input)
        vault.use()
    }

    // MARK: - Use

    /// Reads, examines and writes a damaged vault.
    private func use() {
        let vault = Vault(location, settings)
        for found in Self.read(vault) { require(items.contains(found), "what is read is what was written") }
        _ = Vault.examine(location, settings)
        write(vault)
        try? vault.close()
    }

    /// Whether it may be written is the vault's business; what was there is not changed by it.
    private func write(_ vault: Vault) {
        _ = try? vault.accept()
        let engine = Engine(store: vault)
        let query = Query(.genericPassword, [.service: .string("fuzz"), .account: .string("fuzz")])
        var new = query
        new.value = Data("fuzz".utf8)
        _ = try? engine.add(new, accessGroups: .unrestricted)
        for found in Self.read(vault) where found.item[.service] != .string("fuzz") {
            require(items.contains(found), "what is read after writing is what was written")
        }
        try? engine.delete(query, accessGroups: .unrestricted)
    }

    /// Class by class only where one class refuses: each search opens every row.
    static func read(_ vault: Vault) -> [StoredItem] {
        read(vault, nil) ?? ItemClass.allCases.flatMap { read(vault, $0) ?? [] }
    }

    private static func read(_ vault: Vault, _ itemClass: ItemClass?) -> [StoredItem]? {
        var selection = Selection(itemClass: itemClass)
        selection.skipsConstrained = true
        return (try? vault.select(selection, limit: nil, includingValues: true, .none))?.items
    }

    static func lay(_ database: Data, _ location: VaultLocation) {
        for name in ["-wal", "-shm", "-journal"] { unlink(location.databaseFile + name) }
        unlink(location.databaseFile)
        let descriptor = open(location.databaseFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        _ = database.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}
