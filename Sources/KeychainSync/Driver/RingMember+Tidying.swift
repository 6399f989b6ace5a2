// SPDX-License-Identifier: Apache-2.0
// What machines do for each other from time to time: new keys, snapshots and heads.

import Foundation
import KeychainEngine
import KeychainSyncCore

/// When a machine does what one of several has to do.
enum Tidying {
    /// When it is needed, and either it is the turn of this machine or the others have had time for it.
    case inTurn
    /// When it is needed.
    case atOnce
    /// In any case: a snapshot is written even if none is needed otherwise.
    case withSnapshot
}

extension RingMember {
    /// New keys after a removal, a snapshot, a head. If several machines could do it, the one whose turn it is does;
    /// any other does it a minute later, in case that machine is gone.
    ///
    /// - Returns: Whether a snapshot was written. None is while something of this machine is not published.
    func tidy(
        _ listing: Listing, _ carrier: any Carrier, _ tidying: Tidying, _ report: inout ExchangeReport
    ) async throws(KeychainError) -> Bool {
        let hasMoved = report.hasMoved
        let step = try await take(&report) { state, now in
            guard state.hasNewestKeys else { return [] }
            try state.checkDecided()
            let count = state.replica.uncoveredSegmentCount(in: listing)
            guard state.mayWrite, tidying == .withSnapshot || state.isNeeded(count) else {
                state.neededSince = 0
                return try state.headIfDue(listing, hasMoved, at: now)
            }
            if state.neededSince == 0 { state.neededSince = now }
            let isItsTask = tidying != .inTurn || state.isTurn || now >= state.neededSince + RingState.patience
            guard isItsTask, state.replica.isPublished else { return [] }
            state.neededSince = 0
            let keys = state.replica.ring.needsRotation ? try state.replica.rotate() : []
            return try keys + state.replica.snapshot(at: now) + state.headIfDue(listing, true, at: now)
        }
        let (outcomes, wanted) = try await publish(step.effects, carrier, &report)
        _ = try await note(outcomes, wanted, carrier, &report)
        let snapshot = outcomes.filter { if case .snapshot = $0.0 { true } else { false } }
        return !snapshot.isEmpty && snapshot.allSatisfy { $0.1 != .otherThere }
    }
}

extension RingState {
    var isMember: Bool { replica.ring.isActive(replica.member) }

    /// Without the newest keys there is nothing to write. Why they are missing is among the findings.
    var hasNewestKeys: Bool { !isRenewalPostponed && replica.keyring.epochs[replica.ring.current] != nil }

    var mayWrite: Bool { replica.ring.mayWrite(replica.member) }

    /// Seals what was collected, but nothing with keys that are about to be replaced, and nothing for a machine that may be stolen.
    mutating func seal(at now: UInt64) throws -> [Effect] {
        try checkDecided()
        try checkKeys()
        guard mayWrite else { return [] }
        guard isRenewalPostponed else { return try replica.seal(at: now) }
        guard !hasUnsent else { throw Refusal.noKey }
        return []
    }

    /// More segments make joining slow.
    private static let mostSegments = 256

    func isNeeded(_ segments: Int) -> Bool {
        replica.ring.needsRotation || replica.needsSnapshot || segments > Self.mostSegments
    }

    /// Whether this machine comes first in an order that all machines compute, and that changes with the ring.
    fileprivate var isTurn: Bool {
        func place(_ member: MemberID) -> ObjectHash {
            .hash(of: Data(replica.log.tips.flatMap(\.bytes) + member.bytes))
        }
        let devices = replica.ring.active.filter { $0.role == .device }.map(\.id)
        return devices.min { place($0) < place($1) } == replica.member
    }

    /// How long others may take to do what one of them has to do, and how long a head is the last one. In milliseconds.
    fileprivate static let patience: UInt64 = 60_000

    /// When this machine has something to do although nothing changes; `nil` if there is not.
    var dueTime: UInt64? {
        let tidying = neededSince == 0 || !hasNewestKeys ? nil : neededSince &+ Self.patience
        let head = isHeadLost ? lastHead &+ Self.patience : nil
        return [tidying, head, replica.wrapsDueTime].compactMap(\.self).min()
    }

    fileprivate mutating func headIfDue(_ listing: Listing, _ hasMoved: Bool, at now: UInt64) throws -> [Effect] {
        guard isHeadDue(listing, hasMoved, at: now) else { return [] }
        let effects = try replica.head(at: now)
        if !effects.isEmpty { lastHead = now }
        return effects
    }

    /// At most once a minute after changes, or if the carrier has lost the last one, and otherwise once every six hours. A machine that
    /// only reads does not tell of changes: there may be thousands of them.
    mutating func isHeadDue(_ listing: Listing, _ hasMoved: Bool, at now: UInt64) -> Bool {
        let age = now < lastHead ? UInt64.max : now - lastHead
        isHeadLost = age < Self.patience && replica.isHeadMissing(in: listing)
        if age >= Observations.betweenHeads { return true }
        return age >= Self.patience && (hasMoved && mayWrite || replica.isHeadMissing(in: listing))
    }

    /// An exchange that did nothing directly after another one is not worth a commit.
    mutating func noteExchange(_ hasMoved: Bool, at now: UInt64) {
        if hasMoved || now < lastExchange || now - lastExchange >= 1000 { noteExchange(at: now) }
    }
}
