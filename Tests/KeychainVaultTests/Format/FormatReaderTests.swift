// SPDX-License-Identifier: Apache-2.0
// What this package writes, the reader written from Docs/FORMAT.md reads.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

@Suite(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
struct FormatReaderTests {
    @Test(arguments: FormatSample.all)
    func item_written_isReadAsItIs(_ sample: FormatSample) throws {
        let test = try TestVault()
        let stored = try test.vault.insert(sample.item)
        let reading = try FormatReader.read(test.location)
        #expect(reading.items == [stored.printed(row: 1)], "\(reading.errors) \(reading.found)")
        #expect(reading.status == 0)
    }

    @Test func item_withAnEmptyListOfConstraints_isReadAsItIs() throws {
        let test = try TestVault()
        let stored = try test.vault.insert(FormatSample.withEmptyConstraints().item)
        #expect(try FormatReader.read(test.location).items == [stored.printed(row: 1)])
    }

    @Test func itemsOfAllKinds_inOneVault_areReadInTheirOrder() throws {
        let test = try TestVault()
        let stored = try FormatSample.all.map { try test.vault.insert($0.item) }
        let expected = stored.enumerated().map { $1.printed(row: Int64($0) + 1) }
        #expect(try FormatReader.read(test.location).items == expected)
    }

    @Test func item_addedThroughTheEngine_isRead() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("service", "account", value: "secret"))
        let reading = try FormatReader.read(test.location)
        #expect(reading.items.map { $0["value"] } == [.text(Data("secret".utf8).base64EncodedString())])
    }

    @Test func item_updated_isReadInItsNewVersion() throws {
        let test = try TestVault()
        let stored = try test.vault.insert(FormatSample.all[0].item)
        var changed = stored.item
        changed.value = Data("changed".utf8)
        changed.attributes[.label] = .string("label")
        changed.accessControl = AccessControl(.afterFirstUnlockThisDeviceOnly)
        _ = try test.vault.update(Selection(itemClass: nil, id: stored.reference)) { _ in changed }
        let expected = StoredItem(id: stored.id, version: 2, item: changed)
        #expect(try FormatReader.read(test.location).items == [expected.printed(row: 1)])
    }

    @Test func item_deleted_isNotRead() throws {
        let test = try TestVault()
        let stored = try FormatSample.all.prefix(3).map { try test.vault.insert($0.item) }
        _ = try test.vault.delete(Selection(itemClass: nil, id: stored[1].reference))
        let expected = [stored[0].printed(row: 1), stored[2].printed(row: 3)]
        #expect(try FormatReader.read(test.location).items == expected)
    }

    @Test func vault_whoseFilesWereClosed_isRead() throws {
        let (test, copy) = (try TestVault(), try TestVault())
        let stored = try test.vault.insert(FormatSample.all[0].item)
        // A copy of the database and its WAL, as a crash leaves them.
        for (path, bytes) in try test.files() where !path.hasSuffix("-shm") {
            try copy.place(bytes, at: path.replacingOccurrences(of: test.root, with: copy.root))
        }
        #expect(try FormatReader.read(copy.location).items == [stored.printed(row: 1)])
    }

    @Test func slots_ofANewVault_areOneForTheDeviceKey() throws {
        let test = try TestVault()
        _ = try test.vault.insert(FormatSample.all[0].item)
        let slots = try #require(try test.vault.openSession()).keybag.slots
        let expected = slots.map { slot in
            JSON.object(["kind": .number(1), "id": .hex(slot.id.bytes), "created": .number(slot.created)])
        }
        #expect(try FormatReader.read(test.location).found["slots"] == .list(expected))
    }

    @Test func vaultID_isTheOneOfTheKeybag() throws {
        let test = try TestVault()
        _ = try test.vault.insert(FormatSample.all[0].item)
        let id = try #require(try test.vault.openSession()).keybag.vaultID
        #expect(try FormatReader.read(test.location).found["vault"] == .hex(id.bytes))
    }
}
