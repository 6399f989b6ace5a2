// SPDX-License-Identifier: Apache-2.0
// What a machine knows about its ring.

import Foundation
package import KeychainEngine
package import KeychainSyncCore
import KeychainVault

/// A ring as this machine knows it. Reading it does not need the carrier.
package struct RingStatus: Sendable {
    package struct Member: Sendable {
        package let id: MemberID
        package let name: String
        package let role: Role
        package let isThisMachine: Bool
        /// When the machine last published its state, in milliseconds since 1970 by the clock of this machine; `nil`:
        /// never.
        package let lastSeen: UInt64?
    }

    package let ring: RingID
    package let place: CarrierPlace
    /// The members, without removed ones.
    package let members: [Member]
    /// The access groups whose items are shared, in ascending order; `nil`: all.
    package let groups: [String]?
    /// Whether this machine is a member.
    package let isMember: Bool
    /// The number of items that all machines have, as far as this one knows.
    package let items: Int
    /// The number of items that are marked as synchronizable and stay on this machine: they are bound to it, or the ring does not share
    /// their access group.
    package let staying: Int
    /// The number of local changes that are not on the carrier yet.
    package let pending: Int
    /// The number of changes of removed machines that have come and are not applied here.
    package let unused: Int
    /// The number of items with values that are not shown.
    package let conflicts: Int
    /// Values that were replaced and can still be restored.
    package let kept: Int
    /// Whether there is a recovery key. Without one, the ring is lost with its last machine.
    package let hasRecoveryKey: Bool
    package let openInvitations: Int
    /// In milliseconds since 1970; 0: never.
    package let lastExchange: UInt64
    package let isPaused: Bool
    /// What exchanges by all processes have found: what holds, and what the user has not dismissed. At most a hundred.
    package let notices: [RingNotice]
    /// Why exchanges have failed since the last complete one; `nil` if none has.
    package let failure: RingFailure?
    /// A code for people to compare: it is equal on two machines with the same items.
    package let compareCode: String
}

extension RingMember {
    /// - Throws: `unavailable` if the vault is in no ring; `locked`.
    package func status() async throws(KeychainError) -> RingStatus {
        try await blocking { [self] () throws(KeychainError) -> RingStatus in
            // Collects local changes; without a carrier they stay in this vault.
            let state = try step { _, _ in [] }.state
            let staying = try stayingCount(state.replica.ring.policy)
            return RingStatus(state, staying: staying, unstoredFailure.withLock { $0 }, at: now)
        }
    }

    private func stayingCount(_ policy: Policy) throws(KeychainError) -> Int {
        var count = 0
        for itemClass in ItemClass.allCases {
            var marked = Selection(itemClass: itemClass, conditions: [.synchronizable: .number(1)])
            marked.namesConstrained = true
            let found = try vault.select(marked, limit: nil, includingValues: false, .none.looking).items
            count += found.count { !$0.item.isShared || !policy.shares($0.item.accessGroup) }
        }
        return count
    }

    /// Goes on as another writer, sends again what no other machine has, and writes what the folder lacks. For a machine that was copied,
    /// whose folder lost files, or whose clock was more than a day ahead and is right now.
    package func repair() async throws(KeychainError) -> ExchangeReport {
        var report = ExchangeReport()
        _ = try await take(&report, isRetrying: true) { state, now in
            guard !state.isPaused else { throw KeychainError.pausedSync }
            state.replica.followClock(at: now)
            return state.replica.startAgain(at: now)
        }
        report.add(try await exchange(tidying: .atOnce))
        return report
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
    fileprivate init(_ state: RingState, staying: Int, _ unstored: RingFailure?, at now: UInt64) {
        let replica = state.replica
        ring = replica.log.id
        place = state.place
        members = replica.ring.active.map { card in
            Member(
                id: card.id, name: card.name, role: card.role, isThisMachine: card.id == replica.member,
                lastSeen: card.id == replica.member ? now : replica.observations.heads[card.id]?.seen)
        }
        groups = replica.ring.policy.groups
        isMember = replica.ring.isActive(replica.member)
        (items, self.staying) = (replica.items.items.count, staying)
        (pending, unused) = (replica.unsentCount, replica.unusedCount)
        conflicts = replica.items.items.count { replica.hasConflict($0) }
        kept = state.kept.all.count
        hasRecoveryKey = replica.ring.active.contains { $0.role == .recovery }
        openInvitations = state.invitations.values.count { !$0.isOver(at: now) }
        lastExchange = state.lastExchange
        isPaused = state.isPaused
        notices = state.notices.all
        // Another process may have exchanged since.
        let isCurrent = unstored.map { $0.since >= state.lastExchange } ?? false
        failure = isCurrent ? unstored : state.notices.failure
        compareCode = replica.compareCode
    }
}
