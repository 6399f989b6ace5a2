// SPDX-License-Identifier: Apache-2.0
// Vaults whose database somebody has changed: what is read of them is what was written, or nothing.

import Foundation
import GRDB
import KeychainCrypto

@testable import KeychainEngine
@testable import KeychainVault

/// A vault of `Tests/Fixtures`, to be damaged and then used.
struct FrozenVault {
    private let database: Data
    private let location: VaultLocation
    private let settings: VaultSettings
    /// What it holds while it is whole.
    private let items: [StoredItem]

    nonisolated(unsafe) private static var all: [FrozenVault] = []

    static func prepare() {
        all = ["vault-1", "vault-2"].map { FrozenVault($0) }
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

    // MARK: - Targets

    /// Changes bytes of the file: overwrites, fills, copies and cuts.
    static func database(_ bytes: Data) {
        var input = FuzzInput(bytes)
        let vault = input.element(of: all)
        var database = vault.database
        for _ in 0..<64 where !input.isEmpty { change(&database, &input) }
        vault.use(database) { _ in }
    }

    /// Changes columns of rows through SQLite, so that all else in the file fits them.
    static func rows(_ bytes: Data) {
        var input = FuzzInput(bytes)
        let vault = input.element(of: all)
        vault.use(vault.database) { path in
            guard let queue = try? DatabaseQueue(path: path) else { return }
            try? queue.writeWithoutTransaction { db in
                for _ in 0..<16 where !input.isEmpty { try? change(db, &input) }
            }
            try? queue.close()
        }
    }

    private static func change(_ database: inout Data, _ input: inout FuzzInput) {
        guard !database.isEmpty else { return }
        let (kind, start) = (input.byte() % 6, input.index(database.count))
        switch kind {
        case 0, 1, 2: replace(&database, start, input.bytes())
        case 3: replace(&database, start, Data(repeating: input.byte(), count: 1 + input.index(4096)))
        case 4:
            let from = input.index(database.count)
            replace(&database, start, Data(database[from...].prefix(1 + input.index(4096))))
        default: database = start < database.count / 2 ? database + input.bytes() : Data(database.prefix(start))
        }
    }

    private static func replace(_ database: inout Data, _ start: Int, _ bytes: Data) {
        let end = min(database.count, start + bytes.count)
        database.replaceSubrange(start..<end, with: bytes.prefix(end - start))
    }

    private static let columns = [
        "item": ["id", "uuid", "version", "class", "generation", "major", "minor", "scope", "metadata", "value"],
        "lookup": ["digest", "item"], "keybag": ["bytes"], "keybag_copy": ["bytes"],
    ]

    private static func change(_ db: Database, _ input: inout FuzzInput) throws {
        let table = input.element(of: columns.keys.sorted())
        let column = input.element(of: columns[table] ?? [])
        let row = "rowid = (SELECT rowid FROM \(table) ORDER BY rowid LIMIT 1 OFFSET \(input.index(30)))"
        let condition = table == "lookup" ? "item = \(input.index(30))" : row
        switch input.byte() % 5 {
        case 0: try db.execute(sql: "UPDATE \(table) SET \(column) = ? WHERE \(condition)", arguments: [input.bytes()])
        case 1:
            try db.execute(
                sql: "UPDATE \(table) SET \(column) = ? WHERE \(condition)", arguments: [input.number(Int64.self)])
        case 2: try db.execute(sql: "DELETE FROM \(table) WHERE \(condition)")
        case 3:
            let other = "(SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(input.index(30)))"
            try db.execute(sql: "UPDATE \(table) SET \(column) = \(other) WHERE \(condition)")
        default:
            let old = try Data.fetchOne(db, sql: "SELECT CAST(\(column) AS BLOB) FROM \(table) WHERE \(condition)")
            guard var bytes = old, !bytes.isEmpty else { return }
            replace(&bytes, input.index(bytes.count), input.bytes())
            try db.execute(sql: "UPDATE \(table) SET \(column) = ? WHERE \(condition)", arguments: [bytes])
        }
    }

    // MARK: - Use

    /// Reads, examines and writes a damaged vault.
    private func use(_ database: Data, _ change: (String) -> Void) {
        Self.lay(database, location)
        change(location.databaseFile)
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
        _ = try? engine.add(new, caller: .unrestricted)
        for found in Self.read(vault) where found.item[.service] != .string("fuzz") {
            require(items.contains(found), "what is read after writing is what was written")
        }
        try? engine.delete(query, caller: .unrestricted)
    }

    private static func read(_ vault: Vault) -> [StoredItem] {
        ItemClass.allCases.flatMap { itemClass in
            var selection = Selection(itemClass: itemClass)
            selection.skipsConstrained = true
            let found = try? vault.select(selection, limit: nil, includingValues: true, .none)
            return found?.items ?? []
        }
    }

    private static func lay(_ database: Data, _ location: VaultLocation) {
        for name in ["-wal", "-shm", "-journal"] { unlink(location.databaseFile + name) }
        unlink(location.databaseFile)
        let descriptor = open(location.databaseFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        _ = database.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}
