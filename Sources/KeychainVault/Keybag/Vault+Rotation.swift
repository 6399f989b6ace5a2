// SPDX-License-Identifier: Apache-2.0
// Rotating the class keys, in steps that can stop anywhere.

import Foundation
import GRDB
public import KeychainEngine

extension Vault {
    /// Makes new class keys, seals every item anew under them, and destroys the old ones. Other processes go on reading and
    /// writing meanwhile.
    ///
    /// It may be broken off at any moment, also by a crash: the keybag itself says that a rotation is under way, and calling
    /// this again goes on with it. Rows that do not open are set aside, bytes and all, since they would keep the old keys.
    ///
    /// - Parameter progress: Called with the number of items that are done.
    /// - Throws: `authenticationFailed` if the authority is not one.
    public func rotate(
        authority: ProtectorSecret? = nil, progress: (Int) -> Void = { _ in }
    ) throws(KeychainError) {
        try rotate(by: try self.authority(authority), progress: progress)
    }

    func rotate(by authority: Authority, progress: (Int) -> Void = { _ in }) throws(KeychainError) {
        if try currentSession().keybags(vouchedForBy: authority).authentic.rotatingClasses.isEmpty {
            try changeKeybag(authority) { (keybag, authority) throws(KeychainError) in
                try keybag.rotating(authority, at: Date())
            }
        }
        var done = 0
        repeat {
            var last: Int64 = 0
            while let step = try rotateBatch(after: last, authority) {
                (last, done) = (step.last, done + step.count)
                progress(done)
                PausePoint.betweenBatches.reached()
            }
        } while try !finishRotation(authority)
    }

    /// - Returns: `nil` if no row above `rowID` needs it.
    private func rotateBatch(
        after rowID: Int64, _ authority: Authority
    ) throws(KeychainError) -> (last: Int64, count: Int)? {
        try writeAnything { session, db in
            let keybag = try session.keybags(vouchedForBy: authority).authentic
            let keys = try ClassKeys(keybag, authority.wrappingKeys, .unlocked)
            let (sealer, table) = (RowSealer(keys, userPublicKey: keybag.userKey?.publicKey), ItemTable(db))
            let rows = try table.rows(
                sealedOtherwiseThan: keybag.newestGenerations, after: rowID, limit: settings.rotationBatch)
            for row in rows { try Self.rotate(row, sealer, table) }
            return rows.last.map { ($0.rowID, rows.count) }
        }
    }

    private static func rotate(_ row: SealedRow, _ sealer: RowSealer, _ table: ItemTable) throws {
        do {
            try table.reseal(try sealer.rotated(row))
        } catch is UnreadableRow {
            try table.setAside(row.rowID, at: Date())
        }
    }

    /// - Returns: `false` if a row has come under an old key meanwhile.
    private func finishRotation(_ authority: Authority) throws(KeychainError) -> Bool {
        var isFinished = true
        do throws(KeychainError) {
            try changeKeybag(
                authority,
                within: { old, _, table in
                    // In the transaction that destroys the old keys, so that no row can be left behind with them.
                    let left = try table.rows(sealedOtherwiseThan: old.newestGenerations, after: 0, limit: 1)
                    isFinished = left.isEmpty
                    guard isFinished else { throw KeychainError(.busy, "Items are still under the old keys.") }
                },
                { (keybag, authority) throws(KeychainError) in try keybag.finishingRotation(authority) })
        } catch {
            guard isFinished else { return false }
            throw error
        }
        return true
    }
}

extension Keybag {
    /// Of the classes that are being rotated.
    fileprivate var newestGenerations: [UInt8: UInt32] {
        let rotating = rotatingClasses
        return keys.filter { rotating.contains($0.keyClass) }
            .reduce(into: [:]) { $0[$1.keyClass] = max($0[$1.keyClass] ?? 0, $1.generation) }
    }
}
