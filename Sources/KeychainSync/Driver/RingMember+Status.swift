// SPDX-License-Identifier: Apache-2.0
// What a machine knows of its ring.

import Foundation
package import KeychainEngine
package import KeychainSyncCore
import KeychainVault

/// A ring as this machine knows it. Looking at it needs no carrier.
package struct RingStatus: Sendable {
    package struct Member: Sendable {
        package let id: MemberID
        package let name: String
        package let role: Role
        package let isThisMachine: Bool
        /// When it last said what it has, in milliseconds since 1970 by the clock of this machine; `nil`: never yet.
        package let lastSeen: UInt64?
    }

    package let ring: RingID
    package let place: CarrierPlace
    /// Without those that were removed.
    package let members: [Member]
    /// Whether this machine is one of them.
    package let isMember: Bool
    /// Items that all machines have, as far as this one knows.
    package let items: Int
    /// Changes of this machine that are not on the carrier yet.
    package let pending: Int
    /// Items of which there are values that are not shown.
    package let conflicts: Int
    package let openInvitations: Int
    /// In milliseconds since 1970; 0: never.
    package let lastExchange: UInt64
    package let isPaused: Bool
    /// Equal on two machines that have the same, to read out.
    package let compareCode: String
}

extension RingMember {
    /// - Throws: `unavailable` if the vault is in no ring; `locked`.
    package func status() async throws(KeychainError) -> RingStatus {
        try await blocking { [self] () throws(KeychainError) -> RingStatus in
            // Takes up what was changed here; without a carrier it stays in this vault.
            RingStatus(try step { _, _ in [] }.state, at: now)
        }
    }

    package func pause(_ isPaused: Bool = true) async throws(KeychainError) {
        var report = ExchangeReport()
        _ = try await take(&report) { state, _ in
            state.isPaused = isPaused
            return []
        }
    }
}

extension RingStatus {
    fileprivate init(_ state: RingState, at now: UInt64) {
        let replica = state.replica
        ring = replica.log.id
        place = state.place
        members = replica.ring.active.map { card in
            Member(
                id: card.id, name: card.name, role: card.role, isThisMachine: card.id == replica.member,
                lastSeen: card.id == replica.member ? now : replica.observations.heads[card.id]?.seen)
        }
        isMember = replica.ring.isActive(replica.member)
        items = replica.items.items.count
        pending = replica.unpublishedCount
        conflicts = replica.items.items.count { replica.hasConflict($0) }
        openInvitations = state.invitations.values.count { !$0.isOver(at: now) }
        lastExchange = state.lastExchange
        isPaused = state.isPaused
        compareCode = replica.compareCode
    }
}
