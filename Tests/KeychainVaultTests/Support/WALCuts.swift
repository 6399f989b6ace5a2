// SPDX-License-Identifier: Apache-2.0
// What an attacker can make of a vault's files: the database as it was after each transaction that is still in the WAL.

import Foundation
import KeychainEngine

@testable import KeychainVault

/// Copies of a vault's files, with the WAL cut behind each of its commits.
struct WALCuts {
    private let folder: String
    private let database: Data
    private let wal: Data

    /// - Parameter folder: Where the copies are to be; it must not exist yet.
    init(_ vault: VaultLocation, in folder: String) throws {
        self.folder = folder
        database = try Data(contentsOf: URL(fileURLWithPath: vault.databaseFile))
        let path = vault.databaseFile + "-wal"
        wal = FileManager.default.fileExists(atPath: path) ? try Data(contentsOf: URL(fileURLWithPath: path)) : Data()
    }

    /// The lengths of the WAL at which a transaction ends, the empty one included. The format is SQLite's: a header of 32
    /// bytes, and frames of 24 bytes and a page; the second word of a frame is zero unless it is the last of a transaction.
    var lengths: [Int] {
        guard wal.count > 32 else { return [0] }
        let frame = 24 + Int(word(8))
        let ends = stride(from: 32, through: wal.count - frame, by: frame).filter { word($0 + 4) != 0 }
        return [0] + ends.map { $0 + frame }
    }

    private func word(_ offset: Int) -> UInt32 {
        wal[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Hands the path of the database of each copy to `body`.
    func forEach(_ body: (String) throws -> Void) throws {
        for length in lengths {
            let copy = folder + "/\(length)"
            try FileManager.default.createDirectory(
                atPath: copy, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for (name, bytes) in [("vault.db", database), ("vault.db-wal", wal.prefix(length))] {
                try bytes.write(to: URL(fileURLWithPath: copy + "/" + name))
                chmod(copy + "/" + name, 0o600)
            }
            try body(copy + "/vault.db")
        }
    }

    /// All keybags that were ever stored, as far as the files still hold them.
    func keybags() throws -> [Keybag] {
        var found: [Keybag] = []
        try forEach { path in
            let queue = try Connection(path)
            for bytes in try KeybagTable(queue).copies() {
                guard let bytes, let keybag = try? Keybag(bytes: bytes), !found.contains(keybag) else { continue }
                found.append(keybag)
            }
            try queue.close()
        }
        return found
    }
}

extension TestVault {
    /// The present rows' values that an attacker can open with a protector and every keybag that the files ever
    /// contained.
    func values(openedBy protector: any Protector, _ deviceKey: DeviceKey?, _ keybags: [Keybag]) throws -> [String] {
        var opened: [String] = []
        for keybag in keybags {
            guard let authority = try keybag.authority(protector, deviceKey) else { continue }
            let sealer = RowSealer(try ClassKeys(keybag, authority))
            try another().session().reader.read { db in
                try ItemTable(db).forEach(.all, .metadataAndValue) { row in
                    do throws(UnreadableRow) {
                        opened.append(String(decoding: try sealer.openValue(row) ?? Data(), as: UTF8.self))
                    } catch {}
                    return true
                }
            }
        }
        return opened
    }
}
