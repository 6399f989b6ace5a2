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
}

extension VaultState {
    /// The secret that unlocks it and authorizes changes; `nil` if it opens with the device key alone.
    var person: Opener? { [.recovery, .newRecovery].first { openers.contains($0) } }

    /// The same after another program stored an item: it is in the vault or in what was replaced, and may be in the backup.
    var withPeer: [VaultState] {
        var inVault = self
        inVault.items["peer"] = "written"
        var replaced = self
        // Where there was no vault, the other program made one.
        replaced.kept = (kept ?? [:]).merging(["peer": "written"]) { $1 }
        return [inVault, replaced].flatMap { state in
            var backedUp = state
            backedUp.backup?["peer"] = "written"
            return state.backup == nil ? [state] : [state, backedUp]
        }
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
