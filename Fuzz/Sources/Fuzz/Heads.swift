// SPDX-License-Identifier: Apache-2.0
// What says how a vault was left: its head, and the anchor that a machine keeps.

import Foundation
import SecretMemory

@testable import KeychainCrypto
@testable import KeychainVault

enum Heads {
    private static let vaultID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    private static let keys = HeadKeys(indexKey: Data(repeating: 7, count: 32).secret, vaultID: vaultID)

    // MARK: - Heads

    /// As it is, and sealed with the right key, or nothing behind that would ever be read.
    static func head(_ bytes: Data) {
        require(Head(sealed: bytes, keys) == nil, "no head opens that was not sealed")
        let sealed = seal(Array(bytes))
        guard let head = try? Head(bytes: bytes) else {
            require(Head(sealed: sealed, keys) == nil, "what is no head is none when it was sealed")
            return
        }
        require(Data(head.bytes) == bytes, "a head has one spelling")
        require(Head(sealed: sealed, keys) == head, "a head is sealed and opened")
        require(Head(sealed: sealed.dropLast(), keys) == nil, "a head that was cut does not open")
        require(Head(sealed: (sealed + [0]).dropFirst(), keys) == nil, "a head that was moved does not open")
        require(!head.isOlder(than: head.mark), "a head is not older than itself")
    }

    private static func seal(_ bytes: [UInt8]) -> Data {
        guard let sealed = try? keys.seal(bytes) else { fatalError("a head is not sealed") }
        return sealed
    }

    // MARK: - Anchors

    nonisolated(unsafe) private static var store: AnchorStore?
    nonisolated(unsafe) private static var folder = ""
    private static let newest = HeadMark(epoch: .max, sequence: .max)

    static func prepare() {
        let root = Scratch.folder
        for name in ["/vault", "/config", "/config/seen"] { mkdir(root + name, 0o700) }
        guard let location = try? VaultLocation(folder: root + "/vault", deviceKeyFile: root + "/config/device.key")
        else { fatalError("there is no place for an anchor") }
        folder = location.stateFolder
        var settings = VaultSettings()
        settings.anchors = [.file]
        store = AnchorStore(location, settings, vaultID: vaultID)
    }

    /// With the right code, too.
    static func anchor(_ bytes: Data) {
        let message = bytes.prefix(72)
        var coded = message
        message.withUnsafeBytes { bytes in keys.anchorCode(bytes) { coded.append(contentsOf: $0) } }
        for record in [bytes, coded] { check(record) }
        // The file is a new one each time: its store holds it open.
        prepare()
        if let store { check(bytes, store) }
    }

    /// A vault at a path that is always the same, or no record of the corpus would ever fit.
    private static let places: [Anchor.Place] = ["/nowhere/vault", "/nowhere/other"].compactMap { folder in
        (try? VaultLocation(folder: folder, deviceKeyFile: "/nowhere/key/device.key"))
            .map { Anchor.Place($0, vaultID: vaultID) }
    }

    private static func check(_ record: Data) {
        guard let mark = Anchor.mark(record, places[0], keys) else { return }
        require(Data(Anchor.bytes(mark, places[0], keys)) == record, "an anchor has one spelling")
        require(Anchor.mark(record, places[1], keys) == nil, "an anchor is of one place")
        let seen = SeenAnchors(
            place: places[0], records: [record, Data(), Data(Anchor.bytes(newest, places[0], keys))])
        require(seen.newest(keys) == newest, "the newest record counts")
    }

    private static func check(_ bytes: Data, _ store: AnchorStore) {
        let path = folder + "/" + store.place.name
        unlink(path)
        _ = Scratch.write(bytes, "config/seen/" + store.place.name)
        let found = store.read().records
        require(found == (bytes.count < Anchor.length ? [] : [bytes.prefix(Anchor.length)]), "a file is one record")
        let record = Anchor.bytes(newest, store.place, keys)
        store.write(record)
        require(store.read().newest(keys) == newest, "the next write replaces what was there")
    }
}
