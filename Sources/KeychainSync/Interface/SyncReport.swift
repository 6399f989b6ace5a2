// SPDX-License-Identifier: Apache-2.0
// What an exchange did, and what it noticed.

import KeychainSyncCore

/// The result of an exchange.
public struct SyncReport: Hashable, Sendable {
    /// How many items of this machine were changed or removed by what came from others.
    public let received: Int
    /// How many changes of this machine have reached the carrier. Several changes of one item may be one.
    public let sent: Int
    /// The names of machines that became members.
    public let admitted: [String]
    /// Machines that wait for ``KeychainSync/KeychainSync/approve(_:)``.
    public let waiting: [SyncRequest]
    /// What the user should know. None of it has stopped the exchange.
    public let notices: [SyncNotice]
    /// Whether the exchange came to its end; `false` if its time was up before, or the carrier has more than one exchange reads. The next
    /// one continues.
    public let isComplete: Bool

    /// - Parameter isComplete: Whether its time was enough.
    init(_ report: ExchangeReport, isComplete: Bool = true) {
        (received, sent, admitted) = (report.applied, report.sent, report.admitted)
        waiting = report.waiting.map {
            SyncRequest(id: WaitingMachine.text($0.id), name: $0.name, onlyReads: $0.role == .reader)
        }
        notices = report.findings.map { SyncNotice($0, report.names) }.sorted { $0.message < $1.message }
        self.isComplete = isComplete && report.isComplete
    }
}

/// A machine that wants to join with an invitation that needs approval.
public struct SyncRequest: Hashable, Sendable, Identifiable {
    /// What both machines show: 32 hexadecimal digits in groups of four. It follows from the machine's keys.
    public let id: String
    /// The name that the invitation gives it.
    public let name: String
    /// Whether the invitation is for a machine that only reads.
    public let onlyReads: Bool
}

/// Something about the carrier, a machine or an item that the user should know.
public struct SyncNotice: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of notices. Later versions may have more, so a `switch` over them has a `default`.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        /// - Parameter rawValue: The name of a kind. It need not be one that this version knows.
        public init(rawValue: String) { self.rawValue = rawValue }

        init(_ kind: NoticeKind) { rawValue = kind.rawValue }

        /// The carrier, or a machine, shows an older state than before.
        public static let rolledBack = Kind(.rolledBack)
        /// Another machine has seen a change that has not come here, changes have come in part, a key of the ring has not come, or an
        /// exchange has ended before everything was read.
        public static let withheld = Kind(.withheld)
        /// A machine, or all of them, have sent nothing for long.
        public static let silent = Kind(.silent)
        /// A machine was copied or restored, or its keys were stolen.
        public static let copied = Kind(.copied)
        /// A machine was removed and is in the ring all the same, because that was undone. This machine sends nothing until somebody decides:
        /// ``KeychainSync/KeychainSync/keep(machines:)``.
        public static let contested = Kind(.contested)
        /// The carrier shows a confirmed change of this machine that it had refused.
        public static let shownAfterRefusal = Kind(.shownAfterRefusal)
        /// Another machine has the same changes but other items: they have followed a copied or restored machine in different ways.
        public static let different = Kind(.different)
        /// The clock of a machine is more than a day ahead.
        public static let clockAhead = Kind(.clockAhead)
        /// An item is too large to be shared.
        public static let tooLarge = Kind(.tooLarge)
        /// Changes of this machine are not sent, because it only reads in its ring.
        public static let notSent = Kind(.notSent)
        /// An item from another machine is not shown here.
        public static let notShown = Kind(.notShown)
        /// Something on the carrier is not used, because it is damaged, forged or of a newer version.
        public static let refused = Kind(.refused)
    }

    public let kind: Kind
    /// One or a few sentences for the user: what happened, to what, and what to do next. It may name an item, and never has its value.
    public let message: String

    public var description: String { message }

    init(_ finding: SyncFinding, _ names: MachineNames = MachineNames()) {
        (kind, message) = (Kind(finding.kind), finding.text(names))
    }

    init(_ notice: RingNotice) { (kind, message) = (Kind(rawValue: notice.kind), notice.message) }
}
