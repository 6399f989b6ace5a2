// SPDX-License-Identifier: Apache-2.0
// A change that is made only if this machine has seen all others.

import Foundation
import KeychainEngine
import KeychainSyncCore
import KeychainVault

/// A change that is on a majority of the carrier's nodes when it returns, and before which no machine made one that this machine had not
/// seen.
///
/// It runs the change in the vault and takes it back, publishes it if nobody was faster, and then receives it like a change of another
/// machine. So at each moment the vault has either all of it or nothing, and only what was accepted. If another machine was faster, it
/// catches up and runs the change again.
struct ConfirmedChange {
    let member: RingMember
    let limit: Duration
    let clock: any Clock<Duration>

    private static let mostAttempts = 50
    /// How often a segment is sent whose outcome is unknown. The carrier itself tries each of its nodes several times.
    private static let mostTries = 4

    /// - Parameter body: May run several times.
    /// - Throws: `unavailable` if nothing was made because the carrier does not answer; `timedOut`, with whether that is known;
    ///   `busy` if other machines were faster each time; errors of `body`.
    func run<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let (countdown, lock) = (Countdown(limit, clock), try turn())
        let carrier = try member.confirmingCarrier()
        var refused: [ObjectHash: Result] = [:]
        for attempt in 0..<Self.mostAttempts {
            try authorization.gate?.check()
            let listing = try caughtUp(carrier, countdown, lock, isFirst: attempt == 0)
            // A server that has refused it shows it.
            if let landed = member.known?.replica.lastConfirmed, let result = refused[landed] { return result }
            switch try member.rehearse(after: listing, authorization, body) {
            case .isBehind: continue
            case .changesNothing(let result): return result
            case .changes(let result, let name, let bytes):
                // From here on the end of the call waits for the answer.
                try authorization.gate?.enter()
                defer { authorization.gate?.leave() }
                guard try isMade(name, bytes, after: listing, carrier, countdown, lock) else {
                    refused[.hash(of: bytes)] = result
                    continue
                }
                try member.applyConfirmed(name, bytes)
                return result
            }
        }
        throw .neverFirst
    }

    /// Other processes exchange before or after.
    private func turn() throws(KeychainError) -> SyncLock {
        guard try member.vault.isInRing else { throw .notInRing }
        do throws(KeychainError) {
            return try member.vault.lockForSync(limit.bounded)
        } catch {
            guard error.reason == .busy else { throw error }
            throw .notMadeInTime("Another program of this machine exchanges items, and did not end in time.")
        }
    }

    private func caughtUp(
        _ carrier: any ConfirmingCarrier, _ countdown: Countdown, _ lock: SyncLock, isFirst: Bool
    ) throws(KeychainError) -> Listing {
        let listing = try countdown.run { [member] () async throws(KeychainError) in
            // What it applies after the time is over is still the work of one process.
            defer { withExtendedLifetime(lock) {} }
            return try await member.catchUp(carrier)
        }
        if let listing, !countdown.isOver { return listing }
        if isFirst, listing == nil { throw .noAnswer }
        throw .notMadeInTime("The time was over before the change could be published: other machines were faster.")
    }

    /// What is not made is remembered: the carrier may show it all the same.
    ///
    /// - Returns: `false` if somebody was faster.
    /// - Throws: `timedOut` if it is not known.
    private func isMade(
        _ name: ObjectName, _ bytes: Data, after listing: Listing, _ carrier: any ConfirmingCarrier,
        _ countdown: Countdown, _ lock: SyncLock
    ) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            if try isPublished(name, bytes, after: listing, carrier, countdown, lock) { return true }
        } catch {
            let isCertain = error.reason != .timedOut && error.reason != .cancelled
            // The call ends with this error in any case.
            do throws(KeychainError) { try member.noteRefusal(name, bytes, isCertain: isCertain) } catch {}
            throw error
        }
        try member.noteRefusal(name, bytes, isCertain: true)
        return false
    }

    private func isPublished(
        _ name: ObjectName, _ bytes: Data, after listing: Listing, _ carrier: any ConfirmingCarrier,
        _ countdown: Countdown, _ lock: SyncLock
    ) throws(KeychainError) -> Bool {
        let revision = listing.revision ?? 0
        for number in 0..<Self.mostTries {
            guard number == 0 || !countdown.isOver else { throw .undecided }
            let outcome = try countdown.run { () async throws(KeychainError) -> ConfirmedPublication in
                defer { withExtendedLifetime(lock) {} }
                do throws(CarrierFailure) {
                    return try await carrier.publish(name, bytes, ifUnchangedSince: revision)
                } catch {
                    // It says nothing about the earlier try, whose outcome is unknown.
                    if number > 0 { return .unknown }
                    throw KeychainError(failure: error)
                }
            }
            switch outcome {
            case .created: return true
            case .changedSince: return false
            case .unknown: continue
            case nil: throw .undecided
            }
        }
        throw .undecided
    }
}

extension KeychainError {
    fileprivate static let noAnswer = KeychainError(
        .unavailable, "The carrier did not answer in time. Check that it runs, and has a majority of its nodes.")
    fileprivate static let neverFirst = KeychainError(
        .busy, "Other machines keep changing items of the ring. Nothing was changed. Try again.")
    fileprivate static let undecided = KeychainError(
        .timedOut,
        "It is not known whether the change was made: the carrier did not answer in time. If it was, the next exchange brings it. "
            + "Run: keychainctl sync now; and look at the item before you make the change again.")

    /// - Parameter cause: A sentence.
    fileprivate static func notMadeInTime(_ cause: String) -> KeychainError {
        KeychainError(.timedOut, cause + " Nothing was changed. Try again.")
    }
}
