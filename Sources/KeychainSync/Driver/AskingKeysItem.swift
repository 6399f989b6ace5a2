// SPDX-License-Identifier: Apache-2.0
// The keys with which this machine asks to be let in, as an item of the vault.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainSyncCore
import KeychainVault

/// The keys are stored before the machine asks, and removed when it has entered a ring. The other machine may add it to the ring while
/// it is interrupted. With other keys the next attempt would be another machine, and the first one a member that does not exist.
enum AskingKeysItem {
    private static let service = RingKeyItem.group + " joining"

    private static let selection: Selection = {
        var conditions = Attributes()
        conditions[.service] = .string(service)
        conditions[.synchronizable] = .number(0)
        return Selection(itemClass: .genericPassword, conditions: conditions, groups: [RingKeyItem.group])
    }()

    /// The keys of an interrupted attempt.
    ///
    /// - Returns: `nil` if there are none for this invitation. Those of a vault that was copied or restored, or that has other keys now,
    ///   may be known to others, and do not count.
    /// - Throws: `newerFormat` if a newer version has stored them, for any invitation: what else is in there is not known here, and would
    ///   be lost with the item.
    static func read(
        _ invitation: InvitationID, _ transaction: RingTransaction
    ) throws(KeychainError) -> AskingKeys? {
        var found = try transaction.items.select(selection, limit: 1, includingValues: true, .none)
        defer { found.wipeValues() }
        guard let stored = found.items.first else {
            if let failure = found.failure { throw failure }
            return nil
        }
        guard let keys = try Self.keys(stored.item.value, transaction),
            case .string(invitation.hex) = stored.item.attributes[.account]
        else { return nil }
        return keys
    }

    private static func keys(_ value: Data?, _ transaction: RingTransaction) throws(KeychainError) -> AskingKeys? {
        guard var bytes = value.map({ [UInt8]($0) }) else { return nil }
        defer { bytes.wipe() }
        let state = try Self.state(transaction)
        guard bytes.starts(with: state) else { return nil }
        var keys = Array(bytes.dropFirst(state.count))
        defer { keys.wipe() }
        do throws(Refusal) {
            return try AskingKeys(keys)
        } catch {
            guard error == .newerFormat else { return nil }
            throw .newerAskingKeys
        }
    }

    /// Stores the keys in place of any others.
    static func write(
        _ keys: AskingKeys, for invitation: InvitationID, _ transaction: RingTransaction
    ) throws(KeychainError) {
        try remove(transaction)
        var bytes = keys.bytes()
        defer { bytes.wipe() }
        var content = try state(transaction)
        content.append(contentsOf: bytes.bytes)
        var item = RingKeyItem.item(
            content, service: service, account: invitation.hex, label: "Keys of this machine for joining a ring")
        content.wipe()
        defer { item.value?.wipe() }
        _ = try transaction.items.insert(item, .none)
    }

    static func remove(_ transaction: RingTransaction) throws(KeychainError) {
        _ = try transaction.items.delete(selection, .none)
    }

    /// What tells a vault from a copy of it, and from itself before it got other keys.
    private static func state(_ transaction: RingTransaction) throws(KeychainError) -> Data {
        var writer = ByteWriter(capacity: 256)
        writer.append(try transaction.incarnation())
        writer.append(bigEndian: try transaction.keyGeneration())
        return writer.data
    }
}

extension KeychainError {
    fileprivate static let newerAskingKeys = KeychainError(
        .newerFormat,
        "A newer version of swift-keychain has asked to join a ring from this machine, and has stored the keys for that. Use that version to "
            + "join. To give these keys up instead, run: keychainctl rotate; then join here.")
}
