// SPDX-License-Identifier: Apache-2.0
// Everything that reads bytes from elsewhere, by name.

import Foundation

/// What libFuzzer's own `main` would call; ours hands it over.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ length: Int) -> CInt { FuzzTarget.run(bytes, length) }

/// A reader of untrusted bytes. Each name is a folder of `Fuzz/Corpus`.
enum FuzzTarget: String, CaseIterable {
    // What is stored, and read again
    case item, keybag, head, anchor, database, rows, backup, reference
    case unlockEntry = "unlock-entry"
    case wrappingKeys = "wrapping-keys"
    case deviceKey = "device-key"
    // What callers and users give
    case query, environment, passphrase
    case recoveryKey = "recovery-key"
    // What other programs and files say
    case assuan, entitlements
    case propertyList = "property-list"

    /// The one that runs. Set once, before there is any other thread.
    nonisolated(unsafe) private(set) static var current = FuzzTarget.item

    /// Done once, before the first input.
    func prepare() {
        Self.current = self
        switch self {
        case .anchor: Heads.prepare()
        case .database, .rows: FrozenVault.prepare()
        case .backup: Restorations.prepare()
        default: break
        }
    }

    static func run(_ bytes: UnsafePointer<UInt8>?, _ length: Int) -> CInt {
        current.run(Data(UnsafeRawBufferPointer(start: bytes, count: length)))
        return 0
    }

    private func run(_ bytes: Data) {
        switch self {
        case .item: StoredBytes.item(bytes)
        case .keybag: StoredBytes.keybag(bytes)
        case .head: Heads.head(bytes)
        case .anchor: Heads.anchor(bytes)
        case .reference: StoredBytes.reference(bytes)
        case .unlockEntry: StoredBytes.unlockEntry(bytes)
        case .wrappingKeys: StoredBytes.wrappingKeys(bytes)
        case .deviceKey: StoredBytes.deviceKey(bytes)
        case .database: FrozenVault.database(bytes)
        case .rows: FrozenVault.rows(bytes)
        case .backup: Restorations.backup(bytes)
        case .query: Dictionaries.query(bytes)
        case .environment: GivenText.environment(bytes)
        case .passphrase: GivenText.passphrase(bytes)
        case .recoveryKey: GivenText.recoveryKey(bytes)
        case .assuan: Conversations.assuan(bytes)
        case .entitlements: PropertyLists.entitlements(bytes)
        case .propertyList: PropertyLists.file(bytes)
        }
    }
}
