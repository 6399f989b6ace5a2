// SPDX-License-Identifier: Apache-2.0
// What can be told of a vault from outside.

/// What is in a vault and in the files beside it, and what opens it.
struct VaultState: Equatable, Sendable, Codable {
    /// How the vault compares with its head and with what this machine has seen of it.
    enum Head: String, Codable {
        /// It can be written.
        case asLeft
        /// Restored and not accepted: if the machine remembers a later state, it can be written only after `accept`.
        case mayBeOlder
        /// It can be written only after `accept`.
        case needsAcceptance
        /// It can be written only after a repair of the index, which is enough.
        case needsRepair
    }

    var items: [String: String]
    var openers: Set<Opener>
    var quarantined = 0
    var head = Head.asLeft
    /// The contents of the backup; `nil` if there is none.
    var backup: [String: String]?
    /// What one of the files has to hold that restorations kept; `nil` if nothing was replaced.
    var kept: [String: String]?
    /// The changes that wait to be sent to other machines, as ``Ring/outbox(_:)`` tells them; `nil` if the vault is in no ring.
    var outbox: Set<String>?
    /// Those of the backup.
    var backupOutbox: Set<String>?
    /// Whether the operation also sends what another program has changed.
    var isSending = false
}

extension VaultState {
    /// The secret that unlocks it and authorizes changes; `nil` if it opens with the device key alone.
    var person: Opener? { [.recovery, .newRecovery].first { openers.contains($0) } }

    /// The same after another program stored an item: it is in the vault or in what was replaced, and may be in the backup.
    var withPeer: [VaultState] {
        let items = Self.peerItems(isInRing: outbox != nil)
        var inVault = self
        inVault.items.merge(items) { $1 }
        if outbox != nil { inVault.outbox?.insert("shared-peer written") }
        var sent = inVault
        sent.outbox?.remove("shared-peer written")
        var replaced = self
        // Where there was no vault, the other program made one.
        replaced.kept = (kept ?? [:]).merging(items) { $1 }
        return ([inVault, replaced] + (isSending ? [sent] : [])).flatMap { state in
            var backedUp = state
            backedUp.backup?.merge(items) { $1 }
            return state.backup == nil ? [state] : [state, backedUp]
        }
    }

    private static func peerItems(isInRing: Bool) -> [String: String] {
        isInRing ? ["peer": "written", "shared-peer": "written"] : ["peer": "written"]
    }

    /// The state after an older file of the vault was put back.
    var thatMayBeOlder: VaultState {
        var state = self
        if state.head == .asLeft { state.head = .mayBeOlder }
        return state
    }
}

/// What happened to the vault beside the operation.
enum Situation: String {
    case alone
    /// Another program has stored an item.
    case peer
    /// A file was taken away for a while.
    case changed
    /// A file was taken away for good.
    case maimed
}
