// SPDX-License-Identifier: Apache-2.0
// What a machine knows about its ring.

public import Foundation
public import KeychainEngine
import KeychainSyncCore

/// A ring as this machine knows it.
public struct SyncStatus: Hashable, Sendable {
    /// A machine of the ring, or its recovery key.
    public struct Machine: Hashable, Sendable, Identifiable {
        /// 32 hexadecimal digits. A machine that joins again gets another one.
        public let id: String
        /// For people only; several machines may have the same.
        public let name: String
        public let isThisMachine: Bool
        /// Whether it is the ring's recovery key, which is on paper.
        public let isRecoveryKey: Bool
        /// Whether it only reads: the others take no change from it.
        public let onlyReads: Bool
        /// When something of the machine came here last, by the clock of this machine; `nil`: never, or this machine.
        public let lastSeen: Date?
    }

    /// Where the machines exchange: `folder:/srv/shared`.
    public let carrier: String
    /// The machines, without removed ones.
    public let machines: [Machine]
    /// The access groups whose items are shared, in ascending order; `nil`: all.
    public let accessGroups: [String]?
    /// Whether this machine is still one of them. If it was removed, its items stay, and nothing is exchanged.
    public let isMember: Bool
    public let isPaused: Bool
    /// The number of shared items.
    public let items: Int
    /// The number of items that are marked as synchronizable and stay on this machine: their class ends in `ThisDeviceOnly`, or the ring
    /// does not share their access group.
    public let staying: Int
    /// The number of changes of this machine that are not on the carrier yet.
    public let pending: Int
    /// The number of changes of removed machines that have come and are not applied here: they came after the removal, or something
    /// before them is missing. The items stay on those machines, which can join again.
    public let unused: Int
    /// The number of items with values that are not shown: see ``KeychainSync/KeychainSync/conflicts()``.
    public let conflicts: Int
    /// When the last complete exchange by any process of this machine ended; `nil`: never.
    public let lastExchange: Date?
    /// Whether there is a recovery key. Without one, the ring is lost with its last machine.
    public let hasRecoveryKey: Bool
    /// The number of invitations that can still be used.
    public let openInvitations: Int
    /// 24 letters and digits in groups, equal on two machines that have the same items. Two people can read them out to each other, to
    /// see that no carrier shows them different things.
    public let compareCode: String
    /// What exchanges by any process of this machine have noticed, at most a hundred. What holds goes when a complete exchange does not
    /// notice it any more. What the user has to decide, such as what to do about a carrier that was rolled back, stays until
    /// ``KeychainSync/KeychainSync/dismissNotices()``.
    public let notices: [SyncNotice]
    /// Why the last exchange by any process of this machine failed; `nil` if it was complete. One that was cancelled, or for which there
    /// was no time, does not count.
    public let failure: KeychainError?
    /// When the first exchange after the last complete one failed; `nil` if none has.
    public let failingSince: Date?
}

extension SyncStatus {
    init(_ status: RingStatus) {
        carrier = status.place.text
        machines = status.members.map(Machine.init)
        accessGroups = status.groups
        (isMember, isPaused) = (status.isMember, status.isPaused)
        (items, staying, conflicts) = (status.items, status.staying, status.conflicts)
        (pending, unused) = (status.pending, status.unused)
        lastExchange = status.lastExchange == 0 ? nil : Date(milliseconds: status.lastExchange)
        (hasRecoveryKey, openInvitations) = (status.hasRecoveryKey, status.openInvitations)
        compareCode = status.compareCode
        notices = status.notices.map(SyncNotice.init).sorted { $0.message < $1.message }
        failure = status.failure?.error
        failingSince = status.failure.map { Date(milliseconds: $0.since) }
    }
}

extension SyncStatus.Machine {
    init(_ member: RingStatus.Member) {
        (id, name, isThisMachine) = (member.id.hex, member.name, member.isThisMachine)
        (isRecoveryKey, onlyReads) = (member.role == .recovery, member.role == .reader)
        lastSeen = member.isThisMachine ? nil : member.lastSeen.map(Date.init(milliseconds:))
    }
}

extension Date {
    /// Since 1970.
    init(milliseconds: UInt64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
