// SPDX-License-Identifier: Apache-2.0
// The steps of a confirmed change: catch up, rehearse, and apply what was accepted.

import Foundation
import KeychainEngine
import KeychainSyncCore
import KeychainVault
import SecretMemory

/// What a change would publish.
enum Rehearsal<Result> {
    /// This machine has to catch up first.
    case isBehind
    case changesNothing(Result)
    case changes(Result, ObjectName, Data)
}

extension RingMember {
    /// The carrier of the ring, if it can confirm.
    ///
    /// - Throws: `unsupported` if it cannot; `unavailable` if the vault is in no ring, or sync is paused.
    func confirmingCarrier() throws(KeychainError) -> any ConfirmingCarrier {
        let state = try step { _, _ in [] }.state
        guard !state.isPaused else { throw .pausedSync }
        guard let carrier = try carrier(of: state) as? any ConfirmingCarrier else { throw .cannotConfirm(state.place) }
        return carrier
    }

    /// Applies everything that the carrier has, and publishes everything that this machine has.
    ///
    /// - Returns: What the carrier has then.
    func catchUp(_ carrier: any ConfirmingCarrier) async throws(KeychainError) -> Listing {
        var (report, unapplied) = (ExchangeReport(), Set<ObjectName>())
        for _ in 0..<Self.mostRounds {
            let fetched = try await fetchAll(carrier, &report) { _ in }
            let replica = fetched.state.replica
            guard replica.ring.isActive(replica.member) else { throw .noMember(replica) }
            if replica.isPublished, !(replica.ring.isCurrentKnownToRemoved && fetched.state.mayWrite) {
                if replica.hasApplied(fetched.listing) { return fetched.listing }
                // Others may have published more in each round, or removed what the listing names. Then the next one is another.
                guard fetched.listing.names != unapplied else { throw .cannotCatchUp }
                unapplied = fetched.listing.names
                continue
            }
            _ = try await note(fetched.outcomes, [], carrier, &report)
            // Its own segments, and keys that no removed member knows, are newer than the listing.
            try await publish(carrier, replacingKnownKeys: true, &report)
        }
        throw .neverCaughtUp
    }

    /// Runs a change in the vault, finds out what it would publish, and takes it back.
    func rehearse<Result>(
        after listing: Listing, _ authorization: Authorization,
        _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Rehearsal<Result> {
        let known = known
        defer { scrubResidue() }
        return try vault.rehearsing(authorization) { (transaction) throws(KeychainError) in
            guard let state = try RingState.load(transaction, known: known) else { throw .notInRing }
            guard try transaction.incarnation() == state.incarnation,
                try transaction.keyGeneration() == state.keyGeneration
            else { return .isBehind }
            try state.checkDecided()
            var (replica, items) = (state.replica, ItemExchange(transaction, now, hidden: state.hidden))
            _ = try items.takeOutgoing(&replica)
            do {
                guard var confirming = try replica.confirming(after: listing) else { return .isBehind }
                let result = try body(SharedOperations(base: transaction.items, policy: replica.ring.policy))
                _ = try items.takeOutgoing(&confirming)
                if confirming.outbox.isEmpty { return .changesNothing(result) }
                let effects = try confirming.seal(at: now)
                guard effects.count == 1, case .write(let name, let bytes) = effects[0] else {
                    throw KeychainError.tooLargeToConfirm
                }
                return .changes(result, name, bytes)
            } catch {
                throw KeychainError(exchange: error)
            }
        }
    }

    /// Remembers a segment that was not made, so that a carrier that shows it later is not taken for a copy of this machine.
    ///
    /// - Parameter isCertain: Whether the carrier has said so.
    func noteRefusal(_ name: ObjectName, _ bytes: Data, isCertain: Bool) throws(KeychainError) {
        _ = try step { state, now in
            state.replica.noteRefusal(name, bytes, isCertain: isCertain, at: now)
            return []
        }
    }

    /// Applies a segment of this machine that was accepted.
    ///
    /// - Throws: That the change is made, and why it is not here yet.
    func applyConfirmed(_ name: ObjectName, _ bytes: Data) throws(KeychainError) {
        do throws(KeychainError) {
            let replica = try step { state, now in state.replica.received([(name, bytes)], at: now) }.state.replica
            if replica.lastConfirmed == .hash(of: bytes) { return }
        } catch {
            throw .confirmedElsewhere(error)
        }
        throw .confirmedElsewhere(.locked)
    }
}

extension KeychainError {
    fileprivate static func cannotConfirm(_ place: CarrierPlace) -> KeychainError {
        KeychainError(
            .unsupported,
            "The machines of this ring exchange through '\(place.text)', where nobody can tell whether another one was faster. "
                + "Only a ring over etcd confirms changes. Nothing was changed. Save without confirmation.")
    }

    fileprivate static let cannotCatchUp = KeychainError(
        .unavailable,
        "The carrier has changes that cannot be applied on this machine now. To see which, run: keychainctl sync now.")
    fileprivate static let neverCaughtUp = KeychainError(
        .unavailable,
        "Programs of this machine, or other machines, keep changing shared items, so this machine never catches up. "
            + "Nothing was changed. Try again.")

    /// - Parameter cause: Why it could not be stored on this machine.
    fileprivate static func confirmedElsewhere(_ cause: KeychainError) -> KeychainError {
        KeychainError(
            cause.reason,
            "The change is made, and all machines get it. It could not be stored on this one: \(cause.message) "
                + "The next exchange stores it. Do not make it again.")
    }
}
