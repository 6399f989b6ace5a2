// SPDX-License-Identifier: Apache-2.0
// Rotating the class keys, in steps that can stop anywhere.

import Foundation
public import KeychainEngine

extension Vault {
    /// Makes new class keys, seals every item again under them, and destroys the old keys. Other processes can read and
    /// write in the meantime.
    ///
    /// It may be interrupted at any moment, also by a crash: another call continues it. Rows that do not open under
    /// their own key are damaged; they are moved to the quarantine with all their bytes, and the keybag keeps their
    /// keys.
    ///
    /// A rotation needs the device key that the vault is bound to. Without it the items of the classes for this device
    /// stay unchanged, with their keys: everything else is rotated, and then this throws.
    ///
    /// - Parameters:
    ///   - progress: Called with the number of rotated items.
    ///   - quarantined: Called with the number of damaged items that a step has moved to the quarantine, also if a later
    ///     step fails.
    /// - Returns: The number of items whose keys are bound to another device key; they stay as they are.
    /// - Throws: `authenticationFailed` if the authority is not one; `rolledBack`, and nothing has begun, if any row differs from the
    ///   last known state, or, and the old keys stay, if one does after a pass; `unavailable` if not all could be rotated.
    @discardableResult
    public func rotate(
        authority: ProtectorSecret? = nil, progress: (Int) -> Void = { _ in }, quarantined: (Int) -> Void = { _ in }
    ) throws(KeychainError) -> Int {
        let authority = try self.authority(authority)
        try compareAllRows(authority)
        return try rotate(by: authority, progress: progress, quarantined: quarantined)
    }

    /// Call it before a rotation, and before it drops keys. A write only counts the rows of a large vault, and adds up those of a small one
    /// only once in a session, so the rotation seals an older row that is in the place of the present one under the new keys. The sum in
    /// the head keeps the difference, also while others write.
    ///
    /// - Throws: `rolledBack`.
    func compareAllRows(_ authority: Authority) throws(KeychainError) {
        let findings = try undisturbed { (session) throws(KeychainError) -> [HeadFinding] in
            guard let session else { return [] }
            let keybag = try session.keybags(vouchedForBy: authority).authentic
            session.knownHead.learn(try ClassKeys(keybag, authority).head)
            return try headFindings(session, .wholeVault)
        }
        guard findings.isEmpty else { throw .rolledBack(findings, location) }
    }

    /// - Parameter authority: One with which all rows were compared.
    @discardableResult
    func rotate(
        by authority: Authority, progress: (Int) -> Void = { _ in }, quarantined: (Int) -> Void
    ) throws(KeychainError) -> Int {
        try beginRotation(authority)
        let end: RotationEnd
        do throws(KeychainError) {
            end = try moveAllRows(authority, progress, quarantined)
        } catch {
            throw error.after(
                "The rotation was started but is not finished.", next: "To continue it, run: keychainctl rotate")
        }
        guard end.closed.isEmpty, end.movable == 0 else { throw try unfinished(end) }
        return end.ofOtherDevices
    }

    private func moveAllRows(
        _ authority: Authority, _ progress: (Int) -> Void, _ quarantined: (Int) -> Void
    ) throws(KeychainError) -> RotationEnd {
        var (done, before) = (0, -1)
        var end = RotationEnd()
        // A writer with the previous keybag may have added a row under an old key, so one pass may not be enough. A
        // pass that moves no row is the last one.
        while done > before {
            before = done
            try moveRows(authority) { step in
                done += step.moved
                progress(done)
                if step.quarantined > 0 { quarantined(step.quarantined) }
                PausePoint.betweenBatches.reached()
            }
            // An older row that was put in the place of another since the first comparison is under the new keys now.
            try compareAllRows(authority)
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

    /// The rows of one transaction.
    private struct RotationStep {
        let last: Int64
        /// Including those in the quarantine.
        let moved: Int
        let quarantined: Int
    }

    private func moveRows(_ authority: Authority, _ progress: (RotationStep) -> Void) throws(KeychainError) {
        // The vault uses no numbers below 1, but an attacker may have written such rows.
        var (first, plan, limit) = (Int64.min, WritePlan(), settings.rotationBatch)
        while true {
            do throws(KeychainError) {
                guard let step = try rotateBatch(plan, from: first, limit, authority) else { return }
                if step.moved > 0 { progress(step) }
                guard step.last < .max else { return }
                first = step.last + 1
            } catch {
                // On a full disk it may use the reserve, which has space for each row.
                guard error.reason == .diskFull, !plan.isRemoval || limit > 1 else { throw error }
                if plan.isRemoval { limit /= 2 } else { plan = .removal }
            }
        }
    }

    /// - Returns: `nil` if no row from `rowID` on needs it.
    private func rotateBatch(
        _ plan: WritePlan, from rowID: Int64, _ limit: Int, _ authority: Authority
    ) throws(KeychainError) -> RotationStep? {
        try write(plan) { transaction in
            let (session, content) = (transaction.session, transaction.content)
            let keybag = try session.keybags(vouchedForBy: authority).authentic
            let keys = try ClassKeys(keybag, authority)
            session.knownHead.learn(keys.head)
            let (sealer, table) = (RowSealer(keys, userPublicKey: keybag.userKey?.publicKey), content.table)
            let rows = try table.rows(
                sealedOtherwiseThan: keybag.rotatingGenerations(authority), from: rowID, limit: limit)
            let outcomes = try rows.map { try Self.rotate($0, sealer, content.items) }
            return rows.last.map { row in
                RotationStep(
                    last: row.rowID, moved: outcomes.count { $0 != .stays },
                    quarantined: outcomes.count { $0 == .quarantined })
            }
        }
    }

    private enum RowOutcome {
        case resealed, quarantined
        /// Its key is not on this machine: it is not damaged.
        case stays
    }

    private static func rotate(_ row: SealedRow, _ sealer: RowSealer, _ items: ItemWriter) throws -> RowOutcome {
        do {
            try items.reseal(try sealer.rotated(row))
            return .resealed
        } catch let failure as UnreadableRow {
            switch failure {
            case .locked, .ofAnotherDevice, .refused: return .stays
            case .damaged, .unknownKey: try items.quarantine(row.rowID, at: Date())
            }
            return .quarantined
        }
    }

    // MARK: - The end

    /// The state of a rotation after a pass.
    private struct RotationEnd {
        /// Items that are still under an old key that is available.
        var movable = 0
        /// The classes that were left out because their keys are not available, with the number of their items.
        var closed: [UInt8: Int] = [:]
        var ofOtherDevices = 0
    }

    /// Drops the old keys that no row needs any more, separately for each class. The rows are counted in the
    /// transaction that drops the keys, so that no row can lose its key.
    private func finishRotation(_ authority: Authority) throws(KeychainError) -> RotationEnd {
        var hasDropped = false
        let end = try write(.removal) { transaction in
            let (session, content) = (transaction.session, transaction.content)
            let keybag = try session.keybags(vouchedForBy: authority).authentic
            session.knownHead.learn(try ClassKeys(keybag, authority).head)
            let use = try content.table.keyUse()
            let dropped = keybag.droppableKeys(use)
            if !dropped.isEmpty {
                try content.write(keybag: keybag.dropping(dropped).signed(authority).bytes)
                (transaction.hasRemoved, hasDropped) = (true, true)
            }
            return Self.end(keybag.dropping(dropped), use, authority)
        }
        if hasDropped { try close() }
        return end
    }

    private static func end(_ keybag: Keybag, _ use: KeyUse, _ authority: Authority) -> RotationEnd {
        var end = RotationEnd()
        for (keyClass, count) in keybag.pendingRotation(use) where authority.wrappingKeys.opens(keyClass) {
            end.movable += count
        }
        for keyClass in keybag.classesLeftOut(authority, use) {
            end.closed[keyClass] = keybag.itemCount(keyClass, use)
        }
        end.ofOtherDevices = keybag.keysOfOtherDevices.reduce(0) { $0 + (use.items[$1.name] ?? 0) }
        return end
    }

    private func unfinished(_ end: RotationEnd) throws(KeychainError) -> KeychainError {
        let count = end.closed.values.reduce(end.movable, +)
        let isHere = try environment().deviceKey != nil
        let items = count == 1 ? "1 item bound to that device stays" : "\(count) items bound to that device stay"
        return KeychainError(
            .unavailable,
            "The rotation is not complete: the device key that this vault is bound to is not "
                + (isHere ? "the one in '\(location.deviceKeyFile)'" : "in '\(location.deviceKeyFile)'")
                + ". \(items) under the old keys, which the vault keeps. Put that device key there, then run: "
                + "keychainctl rotate. If it is lost, first run: keychainctl protect adopt")
    }

    /// The current number of rows under each key.
    func keyUse() throws(KeychainError) -> KeyUse {
        let session = try currentSession()
        return try DatabaseFailure.translating(location.databaseFile) {
            try session.reader.read { try ItemTable($0).keyUse() }
        }
    }
}

extension Keybag {
    /// For each open class in rotation: the generations whose rows stay.
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
