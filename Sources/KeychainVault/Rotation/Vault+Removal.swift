// SPDX-License-Identifier: Apache-2.0
// Removing a protector, and the items that depend on it.

public import Foundation
import KeychainCrypto
public import KeychainEngine
import SecretMemory

extension Vault {
    /// Removes a protector. If the vault was unlocked, it is locked afterwards.
    ///
    /// One transaction removes the slot and gives the vault a new root key and new class keys, which the removed secret
    /// never opened: with an older copy of the vault it opens the contents of that copy, but nothing that is stored
    /// later. Then all items are sealed again under the new keys, which takes time in a large vault. If that is
    /// interrupted, the slot is still removed, and ``rotate(authority:progress:quarantined:)`` continues.
    ///
    /// New keys must be wrapped for all other protectors, so their secrets must be available: the device key, a
    /// credential, key files, and a passphrase or recovery key.
    ///
    /// Does not protect against an older copy of the vault together with a passphrase or recovery key that was removed
    /// or changed while there is another one: the user key stays the same. The index key also stays the same, so an
    /// attacker who had it can continue to guess services and accounts.
    ///
    /// - Parameters:
    ///   - erasingItems: Whether items may be erased that cannot be opened in another way: with the last passphrase
    ///     those that exist only while one is set, with the last passphrase or recovery key those that require the
    ///     user.
    ///   - keepingKeys: Whether to remove it even if a secret is missing that new keys require. Then the removed secret
    ///     and an older copy of the vault still open later items.
    ///   - others: The secrets of other protectors, besides the authority and what is found on this machine.
    ///   - progress: Called with the number of items that are sealed again.
    ///   - quarantined: Called with the number of damaged items that a step of the rotation has moved to the quarantine.
    /// - Returns: Whether the vault has new keys.
    /// - Throws: `unsupported` for the last one, or if items would be erased and `erasingItems` is false;
    ///   `authenticationFailed` or `unavailable` if a secret is missing and `keepingKeys` is false, or if the items
    ///   could not all be sealed again: the message says which; `rolledBack` if any row differs from the last known state.
    @discardableResult
    public func removeProtector(
        _ id: UUID, erasingItems: Bool = false, keepingKeys: Bool = false, authority secret: ProtectorSecret? = nil,
        others: [ProtectorSecret] = [],
        progress: (Int) -> Void = { _ in }, quarantined: (Int) -> Void = { _ in }
    ) throws(KeychainError) -> Bool {
        let authority = try self.authority(secret)
        let erasure = Erasure(isAllowed: erasingItems, authority: authority)
        var atHand = try Protectors.atHand(environment())
        for secret in [secret].compactMap(\.self) + others { atHand.append(try protector(secret)) }
        if let sealer = settings.sealer { atHand.append(TPMProtector(sealer: sealer, pin: nil)) }
        try compareAllRows(authority)
        var renewed: Authority?
        try changeKeybag(authority, within: erasure.perform) { (keybag, authority) throws(KeychainError) in
            let removal = try keybag.removing(
                id, authority, atHand, keepingKeys: keepingKeys, try keyUse(), at: Date())
            renewed = removal.renewed
            return removal.keybag
        }
        do throws(KeychainError) {
            try forgetUnlocking()
            guard let renewed else { return false }
            try rotate(by: renewed, progress: progress, quarantined: quarantined)
            return true
        } catch {
            let renewal = renewed == nil ? "" : " and does not open anything that is stored from now on"
            throw error.after(
                "The protector was removed\(renewal). A later step failed.",
                next: "To see the state of the vault, run: keychainctl status")
        }
    }

    /// The items that are erased with a slot.
    struct Erasure {
        let isAllowed: Bool
        let authority: Authority

        private static let passcodeClass = Accessibility.whenPasscodeSetThisDeviceOnly.number

        /// - Throws: `unsupported` if items would be erased and must not be.
        func perform(from old: Keybag, to new: Keybag, _ transaction: WriteTransaction) throws {
            let (table, items) = (transaction.table, transaction.items)
            try check(from: old, to: new, table)
            if old.hasPassphrase, !new.hasPassphrase { try items.deleteAll(of: Self.passcodeClass) }
            for rowID in try doomedByUserKey(old, new, table).rows { try items.deleteClosed(rowID) }
        }

        /// - Throws: The same, and nothing is erased.
        func check(from old: Keybag, to new: Keybag, _ table: ItemTable) throws {
            if old.hasPassphrase, !new.hasPassphrase {
                try check(try table.count(of: Self.passcodeClass), "exist only while a passphrase is set")
            }
            let doomed = try doomedByUserKey(old, new, table)
            try check(doomed.rows.count, "require authentication")
            guard doomed.closed == 0 || isAllowed else { throw KeychainError.notChecked(doomed.closed) }
        }

        /// The rows that require the user, if the user key is removed.
        private func doomedByUserKey(_ old: Keybag, _ new: Keybag, _ table: ItemTable) throws -> RowsForUser {
            guard old.userKey != nil, new.userKey == nil else { return RowsForUser() }
            return try table.rowsAskingForTheUser(RowSealer(ClassKeys(old, authority)))
        }

        private func check(_ count: Int, _ what: String) throws(KeychainError) {
            guard count == 0 || isAllowed else {
                throw KeychainError(
                    .unsupported,
                    "Items that \(what), and could not be opened afterwards: \(count). Nothing was changed. To erase "
                        + "them, add: --erase-items")
            }
        }
    }
}

/// The rows whose values only the user key opens.
private struct RowsForUser {
    var rows: [Int64] = []
    /// How many rows the present keys do not open, so that it is not known whether they require the user.
    var closed = 0
}

extension ItemTable {
    fileprivate func rowsAskingForTheUser(_ sealer: RowSealer) throws -> RowsForUser {
        var found = RowsForUser()
        try forEach(.all, .metadata) { row in
            do throws(UnreadableRow) {
                if try sealer.open(row).item.accessControl.needs.contains(.user) { found.rows.append(row.rowID) }
            } catch {
                switch error {
                case .locked, .ofAnotherDevice: found.closed += 1
                // What is damaged stays.
                default: break
                }
            }
            return true
        }
        return found
    }
}

extension KeychainError {
    fileprivate static func notChecked(_ count: Int) -> KeychainError {
        KeychainError(
            .unsupported,
            "Items that the keys at hand do not open: \(count). Those of them that require authentication could not be opened "
                + "afterwards. Nothing was changed. Make the device key available, or, to give them up, add: --erase-items"
        )
    }
}
