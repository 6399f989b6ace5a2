// SPDX-License-Identifier: Apache-2.0
// Observers of a place where there is no vault yet, or another one later.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

@Suite struct ObservedPlaceTests {
    /// A vault some folders further down, which the test makes and takes away.
    private static func deepVault(_ test: TestVault) throws -> Vault {
        Vault(
            try VaultLocation(folder: test.root + "/a/b/c/vault", deviceKeyFile: test.root + "/config/device.key"))
    }

    private static func watcher(_ vault: Vault) throws -> Watcher<String?> {
        try Watcher(vault) { try vault.engine.textIfThere(.genericPassword("exerciser", "alice")) }
    }

    private static func write(_ vault: Vault, _ text: String) throws {
        // As another process does it, with nothing kept open.
        let other = Vault(vault.location)
        let query = Query.genericPassword("exerciser", "alice", value: text)
        try other.engine.requests.save(query, accessGroups: .unrestricted)
        try other.close()
    }

    private static func move(_ from: String, _ to: String) throws {
        try FileManager.default.moveItem(atPath: from, toPath: to)
    }

    @Test func vault_thatIsNotThereYet_isObservedAndNotMade() throws {
        let test = try TestVault()
        let vault = try Self.deepVault(test)
        let watcher = try Self.watcher(vault)
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.root).isEmpty)
        try Self.write(vault, "first")
        #expect(watcher.sees { $0 == "first" })
        try Self.write(vault, "second")
        #expect(watcher.sees { $0 == "second" })
    }

    /// The watcher reads meanwhile, which may make the index of the WAL in a folder that is just being emptied.
    private static func remove(_ folder: String) throws {
        for _ in 0..<1000 {
            do {
                return try FileManager.default.removeItem(atPath: folder)
            } catch {
                guard FileManager.default.fileExists(atPath: folder) else { return }
                usleep(1000)
            }
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func vault_removedAndMadeAgain_isObservedStill() throws {
        let test = try TestVault()
        let vault = try Self.deepVault(test)
        try Self.write(vault, "old")
        let watcher = try Self.watcher(vault)
        for text in ["first", "second"] {
            // With an open connection into the folder: then the kernel does not report that it is gone.
            #expect(try vault.engine.textIfThere(.genericPassword("exerciser", "alice")) != nil)
            try Self.remove(vault.location.folder)
            #expect(watcher.sees { $0 == nil })
            try Self.write(vault, text)
            #expect(watcher.sees { $0 == text })
        }
    }

    @Test func foldersAboveTheVault_removedWithItAndMadeAgain_areObservedStill() throws {
        let test = try TestVault()
        let vault = try Self.deepVault(test)
        try Self.write(vault, "old")
        let watcher = try Self.watcher(vault)
        #expect(try vault.engine.textIfThere(.genericPassword("exerciser", "alice")) != nil)
        try Self.remove(test.root + "/a")
        #expect(watcher.sees { $0 == nil })
        try Self.write(vault, "new")
        #expect(watcher.sees { $0 == "new" })
    }

    @Test func vault_replacedByACopy_isObservedStill() throws {
        let test = try TestVault()
        let vault = try Self.deepVault(test)
        let (folder, copy) = (vault.location.folder, test.root + "/copy")
        try Self.write(vault, "old")
        try FileManager.default.copyItem(atPath: folder, toPath: copy)
        try Self.write(vault, "new")
        let watcher = try Self.watcher(vault)
        try Self.move(folder, test.root + "/away")
        try Self.move(copy, folder)
        #expect(watcher.sees { $0 == "old" })
        // The copy is older than what was seen here.
        try vault.accept()
        try Self.write(vault, "newer")
        #expect(watcher.sees { $0 == "newer" })
    }

    @Test func folderAboveTheVault_replaced_isObservedStill() throws {
        let test = try TestVault()
        let vault = try Self.deepVault(test)
        try Self.write(vault, "old")
        let watcher = try Self.watcher(vault)
        try Self.move(test.root + "/a/b", test.root + "/away")
        #expect(watcher.sees { $0 == nil })
        try Self.write(vault, "new")
        #expect(watcher.sees { $0 == "new" })
    }

    @Test func database_replacedInItsFolder_isTold() throws {
        let test = try TestVault()
        let vault = try Self.deepVault(test)
        let (file, copy) = (vault.location.databaseFile, test.root + "/copy")
        try Self.write(vault, "old")
        try FileManager.default.copyItem(atPath: file, toPath: copy)
        try Self.write(vault, "new")
        let watcher = try Self.watcher(vault)
        #expect(rename(copy, file) == 0)
        #expect(watcher.sees { $0 == "old" })
    }

    @Test func otherFiles_aroundAVault_areNoChange() throws {
        let test = try TestVault()
        let vault = try Self.deepVault(test)
        try Self.write(vault, "old")
        let watcher = try Self.watcher(vault)
        for number in 0..<100 {
            for folder in ["", "/a", "/a/b", "/a/b/c", "/a/b/c/vault"] {
                try Data().write(to: URL(fileURLWithPath: test.root + folder + "/file-\(number)"))
            }
        }
        try Self.write(vault, "new")
        #expect(watcher.sees { $0 == "new" })
        #expect(watcher.calls < 10)
    }
}
