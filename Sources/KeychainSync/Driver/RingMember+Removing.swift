// SPDX-License-Identifier: Apache-2.0
// Removing machines from a ring.

package import KeychainEngine
package import KeychainSyncCore
import KeychainVault

extension RingMember {
    /// Removes machines, and makes new keys: the removed machines cannot read anything that is written from then on.
    /// They keep what they already have.
    ///
    /// Nobody takes what a removed machine has published and this one has not fetched. So this machine exchanges first.
    ///
    /// The removed machines may know the codes of this machine's open invitations, so these are withdrawn.
    ///
    /// - Parameter isWithoutFetching: Whether the machines are also removed if this machine cannot exchange first, or has not read
    ///   everything.
    /// - Throws: If not everything could be fetched, nobody was removed, and the error says so. If the removal could not be published, it is
    ///   made, and the error says so.
    package func remove(
        _ members: [MemberID], isWithoutFetching: Bool = false
    ) async throws(KeychainError) -> ExchangeReport {
        var report = try await exchangeBeforeRemoval(of: members, isOptional: isWithoutFetching)
        let step = try await take(&report) { state, now in
            guard !state.isPaused else { throw KeychainError.pausedSync }
            let replica = state.replica
            guard replica.ring.mayWrite(replica.member) else { throw Refusal.notAMember }
            // If only a key of the ring is late, it is made all the same: the machine may be stolen.
            if state.mayLackNewKeys { try state.checkRenewed() }
            guard members.allSatisfy(replica.ring.isActive) else { throw KeychainError.noLongerMembers }
            state.withdrawInvitations { _ in true }
            return try state.replica.remove(members, at: now)
        }
        do throws(KeychainError) {
            let carrier = try carrier(of: step.state)
            for case .write(let name, let bytes) in step.effects { _ = try await carrier.publishing(name, bytes) }
            report.add(try await exchange(tidying: .atOnce))
        } catch {
            await storeFailure(error)
            // Until another decision is made, this machine sends nothing else; the removal itself is sent already.
            let what =
                error == .undecidedRing
                ? "The removal is made and sent."
                : "The removal is made, and reaches the others once this machine has synced."
            throw .stored(what, error)
        }
        return report
    }

    private func exchangeBeforeRemoval(
        of members: [MemberID], isOptional: Bool
    ) async throws(KeychainError) -> ExchangeReport {
        do throws(KeychainError) {
            // Who asks now may be one that is to be removed, and has a code.
            return try await exchange(tidying: .inTurn, lettingIn: false, beforeRemoving: isOptional ? [] : members)
        } catch {
            // Everything was fetched, unless that is not asked for. What is to be decided may be who is removed.
            if error == .undecidedRing { return ExchangeReport() }
            guard error.isOfCarrier else { throw error }
            guard isOptional else { throw .notRemoved(error) }
            return ExchangeReport()
        }
    }
}

extension FetchedRing {
    /// What machines have written and is missing here, as far as it can be known; `nil`: nothing.
    func missing(of members: [MemberID], _ report: ExchangeReport) -> KeychainError? {
        guard hasReadAll else { return .hasNotReadAll }
        // What else is gone of the storage holds nothing of these machines that is not here.
        let isOlder = report.findings.contains { finding in
            switch finding {
            case .entriesMissing: true
            case .logWentBack(let writer, _, _): state.replica.authors[writer].map(members.contains) ?? true
            default: false
            }
        }
        if isOlder { return .storageIsOlder }
        return state.replica.lacksWrites(of: members, in: listing) ? .writesAreMissing : nil
    }
}

extension RingState {
    /// Withdraws invitations whose codes a removed machine may know.
    mutating func withdrawInvitations(where isMeant: (Invitation) -> Bool) {
        for (id, invitation) in invitations where isMeant(invitation) { invitations[id]?.withdraw() }
    }
}

extension KeychainError {
    /// Of an exchange that has to read everything.
    fileprivate static let hasNotReadAll = KeychainError(
        .unavailable,
        "The exchange has ended before everything in the shared storage was read: there is more than one exchange reads, or something new "
            + "each time. What was read is kept, and the next exchange continues. Run 'keychainctl sync now' until it does not say so, then "
            + "repeat the command.")

    /// The same, of a carrier that was put back, or of which only the folder is there.
    fileprivate static let storageIsOlder = KeychainError(
        .unavailable,
        "The shared storage shows an older state than before, so what a machine that is to be removed has sent may be missing there. Check "
            + "that it is the right one, and complete: a folder may not be mounted. If it is, run 'keychainctl sync now' until it does not "
            + "say so any more. Then repeat the command.")

    /// The same, of machines some of whose changes were seen and cannot be applied.
    fileprivate static let writesAreMissing = KeychainError(
        .unavailable,
        "A machine that is to be removed has written changes that are not applied here: something before them, perhaps of another machine, "
            + "has not come yet, or their files are damaged. Run 'keychainctl sync now' on that machine, and wait until the shared storage "
            + "has delivered everything. Then repeat the command.")

    /// Whether another exchange may succeed where this one failed: the carrier could not be reached, is full, or fails.
    fileprivate var isOfCarrier: Bool {
        guard self != .pausedSync, self != .notInRing else { return false }
        return [.unavailable, .diskFull, .inputOutput, .tooLarge, .invalidParameter].contains(reason)
    }

    fileprivate static func notRemoved(_ cause: KeychainError) -> KeychainError {
        KeychainError(
            cause.reason,
            "Nobody was removed: what the machine has sent last must be fetched first. \(cause.message) To remove it all the same, and "
                + "lose what was not fetched, use: keychainctl sync remove --without-fetching")
    }

    fileprivate static let noLongerMembers = KeychainError(
        .itemNotFound,
        "A machine that is to be removed is no member any more. Nobody was removed. To list the machines, run: keychainctl sync status"
    )

    /// - Parameters:
    ///   - what: What is stored on this machine although the call fails, so that nobody does it again.
    ///   - cause: Why it could not be published.
    static func stored(_ what: String, _ cause: KeychainError) -> KeychainError {
        KeychainError(cause.reason, "\(what) \(cause.message) Then run: keychainctl sync now")
    }
}
