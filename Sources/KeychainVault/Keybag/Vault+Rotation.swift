// SPDX-License-Identifier: Apache-2.0
// Rotating the class keys, in steps that can stop anywhere.

import Foundation
import GRDB
public import KeychainEngine

extension Vault {
    /// Makes new class keys, seals every item again under them, and destroys the old ones. Other processes go on reading and
    /// writing meanwhile.
    ///
    /// It may be interrupted at any moment, also by a crash: calling this again goes on with it. Rows that do not open under
    /// their own key are damaged; they go into quarantine with all their bytes, and the keybag keeps the key that they are
    /// sealed under.
    ///
    /// A rotation needs the device key that the vault is bound to. Without it the items of the classes for this device stay
    /// as they are, and so do their keys: what can be rotated is, and then this throws.
    ///
    /// - Parameter progress: Called with the number of items that are done.
    /// - Returns: The number of items whose keys are bound to another device key; they stay as they are.
    /// - Throws: `authenticationFailed` if the authority is not one; `unavailable` if not all could be rotated.
    @discardableResult
    public func rotate(
        authority: ProtectorSecret? = nil, progress: (Int) -> Void = { _ in }
    ) throws(KeychainError) -> Int {
        try rotate(by: try self.authority(authority), progress: progress)
    }

    @discardableResult
    func rotate(by authority: Authority, progress: (Int) -> Void = { _ in }) throws(KeychainError) -> Int {
        try beginRotation(authority)
        let end: RotationEnd
        do throws(KeychainError) {
            end = try moveAllRows(authority, progress)
        } catch {
            throw error.after(
                "The rotation has begun, and has not ended.", next: "To go on with it: keychainctl rotate")
        }
        guard end.closed.isEmpty, end.movable == 0 else { throw try unfinished(end) }
        return end.ofOtherDevices
    }

    private func moveAllRows(
        _ authority: Authority, _ progress: (Int) -> Void
    ) throws(KeychainError) -> RotationEnd {
        var (done, before) = (0, -1)
        var end = RotationEnd()
        // A writer that read the keybag before may have added a row under an old key, so one pass may not be enough. A pass
        // that moves nothing is the last.
        while done > before {
            before = done
            try moveRows(authority) { count in
                done += count
                progress(done)
                PausePoint.betweenBatches.reached()
            }
            end = try finishRotation(authority)
            if end.movable == 0 { break }
        }
        return end
    }

    private func beginRotation(_ authority: Authority) throws(KeychainError) {
        let keybag = try currentSession().keybags(vouchedForBy: authority).authentic
        guard try keybag.nextRotation(authority, keyUse(), at: Date()) != nil else { return }
        try changeKeybag(authority) { (keybag, authority) throws(KeychainError) in
            try keybag.nextRotation(authority, try keyUse(), at: Date()) ?? keybag
        }
    }

    private func moveRows(_ authority: Authority, _ progress: (Int) -> Void) throws(KeychainError) {
        // Numbers below 1 are none of ours; somebody may have written them.
        var first = Int64.min
        while let step = try rotateBatch(from: first, authority) {
            if step.moved > 0 { progress(step.moved) }
            guard step.last < .max else { return }
            first = step.last + 1
        }
    }

    /// - Returns: `nil` if no row from `rowID` on needs it.
    private func rotateBatch(
        from rowID: Int64, _ authority: Authority
    ) throws(KeychainError) -> (last: Int64, moved: Int)? {
        try writeAnything { session, transaction in
            let keybag = try session.keybags(vouchedForBy: authority).authentic
            let keys = try ClassKeys(keybag, authority)
            session.learnHeadKeys(keys.head)
            let (sealer, table) = (RowSealer(keys, userPublicKey: keybag.userKey?.publicKey), transaction.table)
            let rows = try table.rows(
                sealedOtherwiseThan: keybag.rotatingGenerations(authority), from: rowID, limit: settings.rotationBatch)
            let moved = try rows.filter { try Self.rotate($0, sealer, transaction.items) }.count
            return rows.last.map { ($0.rowID, moved) }
        }
    }

    /// - Returns: `false` for a row whose key is not here: that is no damage, and it stays.
    private static func rotate(_ row: SealedRow, _ sealer: RowSealer, _ items: ItemWriter) throws -> Bool {
        do {
            try items.reseal(try sealer.rotated(row))
        } catch let failure as UnreadableRow {
            switch failure {
            case .locked, .ofAnotherDevice, .refused: return false
            case .damaged, .unknownKey: try items.setAside(row.rowID, at: Date())
            }
        }
        return true
    }

    // MARK: - The end

    /// How a rotation stands after a pass.
    private struct RotationEnd {
        /// Items that are still under an old key which is here.
        var movable = 0
        /// The classes whose keys are not here, with their items.
        var closed: [UInt8: Int] = [:]
        var ofOtherDevices = 0
    }

    /// Drops the old keys that no row needs any more, each class by itself. The rows are counted in the transaction that
    /// drops the keys, so that none can be left behind.
    private func finishRotation(_ authority: Authority) throws(KeychainError) -> RotationEnd {
        var hasDropped = false
        let end = try writeAnything(emptyingLog: hasDropped) { session, transaction in
            let keybag = try session.keybags(vouchedForBy: authority).authentic
            session.learnHeadKeys(try ClassKeys(keybag, authority).head)
            let use = try transaction.table.keyUse()
            let dropped = keybag.droppableKeys(use)
            if !dropped.isEmpty {
                try transaction.write(keybag: keybag.dropping(dropped).signed(authority).bytes)
                hasDropped = true
            }
            return Self.end(keybag, use, authority)
        }
        if hasDropped { try close() }
        return end
    }

    private static func end(_ keybag: Keybag, _ use: KeyUse, _ authority: Authority) -> RotationEnd {
        var end = RotationEnd()
        for (keyClass, count) in keybag.pendingRotation(use) where authority.wrappingKeys.opens(keyClass) {
            end.movable += count
        }
        for keyClass in keybag.newestGenerations.keys where !authority.wrappingKeys.opens(keyClass) {
            end.closed[keyClass] = keybag.itemCount(keyClass, use)
        }
        end.ofOtherDevices = keybag.keysOfOtherDevices.reduce(0) { $0 + (use.items[$1.name] ?? 0) }
        return end
    }

    private func unfinished(_ end: RotationEnd) throws(KeychainError) -> KeychainError {
        let count = end.closed.values.reduce(end.movable, +)
        let isHere = try surroundings().deviceKey != nil
        let items = count == 1 ? "1 item for its device alone keeps" : "\(count) items for its device alone keep"
        return KeychainError(
            .unavailable,
            "Not everything was rotated: the device key that this vault is bound to is not "
                + (isHere ? "the one in '\(location.deviceKeyFile)'" : "in '\(location.deviceKeyFile)'")
                + ". \(items) the old keys, which stay in the vault. Put that device key in its place and run again: "
                + "keychainctl rotate. If it is lost, run before: keychainctl protect adopt")
    }

    /// The rows under each key, as they are now.
    func keyUse() throws(KeychainError) -> KeyUse {
        let session = try currentSession()
        return try DatabaseFailure.translating(location.databaseFile) {
            try session.reader.read { try ItemTable($0).keyUse() }
        }
    }
}

extension Keybag {
    /// Of each class that is being rotated and is open: the generations whose rows stay.
    fileprivate func rotatingGenerations(_ authority: Authority) -> [UInt8: Set<UInt32>] {
        let staying = stayingGenerations
        let classes = classKeys.filter { entry in
            newestGenerations[entry.keyClass].map { entry.generation < $0 } == true
        }.map(\.keyClass)
        return staying.filter { classes.contains($0.key) && authority.wrappingKeys.opens($0.key) }
    }

    /// Items of a class, apart from those of another device.
    fileprivate func itemCount(_ keyClass: UInt8, _ use: KeyUse) -> Int {
        let others = Set(keysOfOtherDevices.map(\.name))
        return use.items.reduce(0) { count, entry in
            entry.key.keyClass == keyClass && !others.contains(entry.key) ? count + entry.value : count
        }
    }
}
