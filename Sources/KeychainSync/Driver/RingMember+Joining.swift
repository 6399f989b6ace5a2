// SPDX-License-Identifier: Apache-2.0
// Founding a ring, inviting and joining.

import Foundation
import KeychainCrypto
package import KeychainEngine
package import KeychainSyncCore
import KeychainVault
package import SecretMemory

extension RingMember {
    /// Founds a ring with this machine as its first member.
    ///
    /// - Parameters:
    ///   - name: The name of this machine for the others.
    ///   - groups: The access groups whose items are shared; `nil`: all.
    /// - Throws: `invalidParameter` for no group, more than 64, or a name without or with more than 128 bytes.
    package func found(
        name: String, at place: CarrierPlace, sharing groups: Set<String>? = nil
    ) async throws(KeychainError) -> ExchangeReport {
        let policy = try Self.policy(groups)
        _ = try await rings(at: place)
        let effects = try await blocking { [self] () throws(KeychainError) -> [Effect] in
            let (replica, effects): (Replica, [Effect])
            do {
                (replica, effects) = try Replica.founding(name: name, keys: .make(), sharing: policy)
            } catch {
                throw KeychainError(exchange: error)
            }
            try enter(replica, place)
            return effects
        }
        do {
            var report = ExchangeReport()
            let state = try await take(&report) { _, _ in [] }.state
            _ = try await carryOut(effects, try carrier(of: state), &report)
            return try await exchange()
        } catch {
            // Without this, it would look as if there were no ring, and founding it again is refused.
            throw KeychainError(
                error.reason,
                "The ring is founded on this machine, but its entry may be missing in the place. The next exchange writes it. \(error.message)"
            )
        }
    }

    private static func policy(_ groups: Set<String>?) throws(KeychainError) -> Policy {
        guard let groups else { return .allGroups }
        do {
            return try Policy(sharing: groups)
        } catch {
            throw KeychainError(
                .invalidParameter,
                "A ring shares 1 to \(Bounds.groups) access groups, whose names have 1 to \(Bounds.name) bytes. Give others."
            )
        }
    }

    /// Invites a machine: a machine where the code is entered becomes a member.
    ///
    /// - Parameters:
    ///   - name: The name of the machine.
    ///   - duration: How long the code is valid.
    ///   - role: `device`, or `reader` for one that only reads.
    ///   - needsApproval: Whether each machine waits for ``approve(_:)``.
    ///   - show: Shows the code once it can be used.
    /// - Returns: The code. It is shown once. Anyone who has it in time can join the ring.
    /// - Throws: If it throws, also because the task was cancelled or `show` throws, the invitation is withdrawn.
    @discardableResult
    package func invite(
        name: String, for duration: Duration, uses: Int = 1, role: Role = .device, needsApproval: Bool = false,
        showing show: @Sendable (SecretBytes) throws(KeychainError) -> Void = { _ in }
    ) async throws(KeychainError) -> SecretBytes {
        let code = InvitationCode.make()
        let expires = now + UInt64(duration.bounded / .milliseconds(1))
        var report = ExchangeReport()
        let step = try await take(&report) { state, _ in
            guard !state.isPaused else { throw KeychainError.pausedSync }
            try state.checkDecided()
            try state.checkRenewed()
            let invitation = Invitation(
                code: code, name: name, role: role, expires: expires, uses: uses, needsApproval: needsApproval)
            guard case .invitation(let id) = invitation.objectName, state.replica.ring.mayWrite(state.replica.member)
            else {
                throw Refusal.notAMember
            }
            state.invitations[id] = invitation
            return [.write(invitation.objectName, invitation.offer(state.replica.log))]
        }
        do throws(KeychainError) {
            let carrier = try carrier(of: step.state)
            for case .write(let name, let bytes) in step.effects { _ = try await carrier.publishing(name, bytes) }
            guard !Task.isCancelled else { throw .cancelledInvitation }
            try show(code)
            // The caller will not know whether the code was shown.
            guard !Task.isCancelled else { throw .cancelledInvitation }
        } catch {
            throw await withdraw(step.effects, expiring: expires, because: error)
        }
        return code
    }

    /// Withdraws an invitation that could not be published, or whose code could not be shown.
    private func withdraw(
        _ published: [Effect], expiring expires: UInt64, because cause: KeychainError
    ) async -> KeychainError {
        let names = published.compactMap { if case .write(let name, _) = $0 { name } else { nil } }
        do throws(KeychainError) {
            // Not a step of an exchange: the task may be cancelled.
            _ = try await blocking { [self] () throws(KeychainError) in
                try step { state, _ in
                    state.withdrawInvitations { names.contains($0.objectName) }
                    return []
                }
            }
        } catch {
            let end = Date(timeIntervalSince1970: Double(expires) / 1000).ISO8601Format()
            return KeychainError(
                cause.reason,
                "\(cause.message) The invitation is open until \(end): it could not be withdrawn. \(error.message) To withdraw it "
                    + "earlier, run: keychainctl rotate; then: keychainctl sync now")
        }
        return KeychainError(
            cause.reason,
            "\(cause.message) The invitation is withdrawn: a code that was shown lets nobody in. Invite again.")
    }

    /// Lets machines in that wait for it, and exchanges. A machine that no longer waits is not in the report.
    ///
    /// - Throws: If sync is paused, nothing was stored. If the exchange fails, the approval is stored, and the error says so.
    package func approve(_ machines: [MemberID]) async throws(KeychainError) -> ExchangeReport {
        var report = ExchangeReport()
        _ = try await take(&report) { state, _ in
            guard !state.isPaused else { throw KeychainError.pausedSync }
            for id in state.invitations.keys {
                for machine in machines { state.invitations[id]?.approve(machine) }
            }
            return []
        }
        do throws(KeychainError) {
            return try await exchange()
        } catch {
            throw .stored("The approval is stored, and the machines are let in once this machine has synced.", error)
        }
    }

    /// Enters the ring of an invitation. This machine uploads nothing before it has verified that the creator of the
    /// code made the invitation.
    ///
    /// - Parameters:
    ///   - wait: How long to wait until the other machine admits this one.
    ///   - interval: How often to check, beside each time that the carrier tells of a change.
    ///   - asked: Is given the ID of this machine when it has asked, for a person who compares it.
    ///   - gone: Is called if the invitation is over and no keys have come: they may still come.
    /// - Throws: `itemNotFound` if there is no such invitation; `timedOut` if no machine has answered in time: joining
    ///   can be tried again, and goes on with the same keys.
    package func join(
        _ code: SecretBytes, at place: CarrierPlace, wait: Duration = .seconds(600), interval: Duration = .seconds(1),
        asked: (MemberID) -> Void = { _ in }, gone: () -> Void = {}
    ) async throws(KeychainError) -> ExchangeReport {
        try await checkMayEnter()
        let (joiner, carrier, isOpen) = try await invitation(code, at: place)
        // An invitation that is over has admitted a machine, perhaps this one before it was interrupted.
        let opened =
            isOpen
            ? try await ask(joiner, carrier, until: .now + wait.bounded, interval, asked, gone)
            : try await admitted(joiner, carrier, gone)
        let keys = joiner.keys
        try await blocking { [self] () throws(KeychainError) -> Void in
            let (replica, decided): (Replica, Set<Ring.Contest.Subject>)
            do {
                replica = try Replica(keys: keys, log: opened.log, keyring: opened.keyring)
                // The code proves the offer. What is contested since is this machine's own to decide about.
                decided = try opened.log.contests(knownTo: joiner.offer?.tips ?? [])
            } catch {
                throw KeychainError(exchange: error)
            }
            try enter(replica, place, decided: decided)
        }
        return try await exchange()
    }

    /// A machine that is admitted but cannot enter would remain in the ring as a member without a machine.
    func checkMayEnter() async throws(KeychainError) {
        try await blocking { [vault] () throws(KeychainError) -> Void in
            guard try !vault.isInRing else { throw .alreadyInRing }
            guard try vault.lockState == .unlocked else { throw .locked }
        }
    }
}

extension KeychainError {
    fileprivate static let cancelledInvitation = KeychainError(.cancelled, "Inviting was cancelled.")
}

extension Duration {
    /// None below zero, and at most a century or so: a sum with any point in time, and its milliseconds, are numbers that exist.
    var bounded: Duration { min(max(self, .zero), .seconds(1 << 32)) }
}
