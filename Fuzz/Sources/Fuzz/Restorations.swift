// SPDX-License-Identifier: Apache-2.0
// Backups that were changed: either they are rejected and nothing happens, or they are restored and nothing is lost.

import Foundation

@testable import KeychainEngine
@testable import KeychainVault

/// A vault that is in use, and backups of an earlier state of it.
struct Restorations {
    private let frozen: FrozenVault
    /// The vault in use: one item more than the backup.
    private let present: Data
    private let items: [StoredItem]
    /// Includes items that are not read here because they require the user.
    private let itemCount: Int

    nonisolated(unsafe) private static var all: [Restorations] = []

    static func prepare() {
        FrozenVault.prepare()
        all = FrozenVault.all.map { Restorations($0) }
    }

    private init(_ frozen: FrozenVault) {
        self.frozen = frozen
        FrozenVault.lay(frozen.database, frozen.location)
        let vault = Vault(frozen.location, frozen.settings)
        var item = Query(.genericPassword, [.service: .string("fuzz"), .account: .string("later")])
        item.value = Data("later".utf8)
        guard (try? Engine(store: vault).add(item, accessGroups: .unrestricted)) != nil, (try? vault.close()) != nil,
            let bytes = FileManager.default.contents(atPath: frozen.location.databaseFile)
        else { fatalError("a frozen vault takes an item") }
        present = bytes
        items = FrozenVault.read(Vault(frozen.location, frozen.settings))
        itemCount = (try? vault.backup(to: frozen.root + "/present"))?.itemCount ?? 0
        require(items.count == frozen.items.count + 1, "the item was added")
    }

    // MARK: - Target

    static func backup(_ bytes: Data) {
        var input = FuzzInput(bytes)
        let options = input.byte()
        let restoration = input.element(of: all)
        let file = restoration.frozen.root + "/backup"
        FrozenVault.lay(restoration.present, restoration.frozen.location)
        restoration.writeBackup(file, changingRows: options & 1 == 1, &input)
        restoration.restore(file, force: options & 2 == 2)
    }

    private func writeBackup(_ file: String, changingRows: Bool, _ input: inout FuzzInput) {
        for suffix in ["", "-wal", "-shm"] { unlink(file + suffix) }
        var database = frozen.database
        if !changingRows { Tampering.change(&database, &input) }
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let written = database.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        require(written == database.count, "the backup is written")
        if changingRows { Tampering.changeRows(file, &input) }
    }

    private func restore(_ file: String, force: Bool) {
        let vault = Vault(frozen.location, frozen.settings)
        let (given, namesBefore) = (FileManager.default.contents(atPath: file), names())
        let examined = try? vault.examineBackup(file)
        let done = try? vault.restore(from: file, force: force)
        require(FileManager.default.contents(atPath: file) == given, "a backup is only read")
        let found = FrozenVault.read(vault)
        if let done {
            require(examined != nil, "what is restored is whole")
            require(found.allSatisfy(frozen.items.contains), "what is read was in the backup")
            check(done, vault)
        } else {
            require(found == items, "a restoration that is refused changes nothing")
            require(names() == namesBefore, "a restoration that is refused leaves nothing")
        }
        try? vault.close()
    }

    /// What was replaced is whole, and stays.
    private func check(_ done: VaultRestoration, _ vault: Vault) {
        guard let replaced = done.replaced, let kept = try? vault.examineBackup(replaced) else {
            fatalError("broken promise: what was replaced is kept")
        }
        require(kept.itemCount == itemCount && kept.damagedCount == 0, "what was replaced is whole")
        require((try? vault.restore(from: replaced, force: true)) != nil, "what was replaced is restored")
        require(FrozenVault.read(vault) == items, "what was replaced is read again")
        for name in names() where name.contains(".replaced-") { unlink(frozen.location.folder + "/" + name) }
    }

    /// But SQLite's own, which a read makes.
    private func names() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: frozen.location.folder)) ?? []
        return names.filter { !VaultLocation.companionNames.contains($0) }.sorted()
    }
}
