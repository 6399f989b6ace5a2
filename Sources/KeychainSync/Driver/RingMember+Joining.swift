// SPDX-License-Identifier: Apache-2.0
// Founding a ring, inviting, joining, removing and leaving.

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
        var report = ExchangeReport()
        let state = try await take(&report) { _, _ in [] }.state
        _ = try await carryOut(effects, try carrier(of: state), &report)
        return try await exchange()
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
    /// - Returns: The code. It is shown once. Anyone who has it in time can join the ring.
    package func invite(
        name: String, for duration: Duration, uses: Int = 1, role: Role = .device, needsApproval: Bool = false
    ) async throws(KeychainError) -> SecretBytes {
        let code = InvitationCode.make()
        let expires = now + UInt64(duration.bounded / .milliseconds(1))
        var report = ExchangeReport()
        let step = try await take(&report) { state, _ in
            let invitation = Invitation(
                code: code, name: name, role: role, expires: expires, uses: uses, needsApproval: needsApproval)
            guard case .invitation(let id) = invitation.objectName, state.replica.ring.mayWrite(state.replica.member)
            else {
                throw Refusal.notAMember
            }
            state.invitations[id] = invitation
            return [.write(invitation.objectName, invitation.offer(state.replica.log))]
        }
        let carrier = try carrier(of: step.state)
        for case .write(let name, let bytes) in step.effects { _ = try await carrier.publishing(name, bytes) }
        return code
    }

    /// Lets machines in that wait for it, and exchanges. A machine that no longer waits is not in the report.
    package func approve(_ machines: [MemberID]) async throws(KeychainError) -> ExchangeReport {
        var report = ExchangeReport()
        _ = try await take(&report) { state, _ in
            for id in state.invitations.keys {
                for machine in machines { state.invitations[id]?.approve(machine) }
            }
            return []
        }
        return try await exchange()
    }

    /// Enters the ring of an invitation. This machine uploads nothing before it has verified that the creator of the
    /// code made the invitation.
    ///
    /// - Parameters:
    ///   - wait: How long to wait until the other machine admits this one.
    ///   - interval: How often to check, beside each time that the carrier tells of a change.
    ///   - asked: Is given the ID of this machine when it has asked, for a person who compares it.
    /// - Throws: `itemNotFound` if there is no such invitation; `timedOut` if no machine has answered in time: joining
    ///   can be tried again.
    package func join(
        _ code: SecretBytes, at place: CarrierPlace, wait: Duration = .seconds(600), interval: Duration = .seconds(1),
        asked: (MemberID) -> Void = { _ in }
    ) async throws(KeychainError) -> ExchangeReport {
        try await checkMayEnter()
        var joiner = Joiner(code: code, keys: .make())
        var found: (any Carrier)?
        for ring in try await rings(at: place) where found == nil {
            let carrier = try carrier(of: ring, at: place)
            for object in try await carrier.reading([joiner.objectName]) {
                do { try joiner.received(object.bytes) } catch { continue }
                if joiner.offer?.ring == ring { found = carrier }
            }
        }
        guard let carrier = found else { throw .notInvited }
        let opened = try await ask(joiner, carrier, until: .now + wait.bounded, interval, asked)
        let keys = joiner.keys
        try await blocking { [self] () throws(KeychainError) -> Void in
            let replica: Replica
            do {
                replica = try Replica(keys: keys, log: opened.log, keyring: opened.keyring)
            } catch {
                throw KeychainError(exchange: error)
            }
            try enter(replica, place)
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

    private func ask(
        _ joiner: Joiner, _ carrier: any Carrier, until end: ContinuousClock.Instant, _ interval: Duration,
        _ asked: (MemberID) -> Void
    ) async throws(KeychainError) -> OpenedRing {
        let (member, asking): (MemberID, (ObjectName, Data)?)
        do {
            (member, asking) = (try joiner.keys.publicKeys().member, try joiner.request())
        } catch {
            throw KeychainError(exchange: error)
        }
        guard let (name, request) = asking else { throw .notInvited }
        _ = try await carrier.publishing(name, request)
        asked(member)
        do throws(KeychainError) {
            return try await answer(to: joiner, member, carrier, until: end, interval)
        } catch {
            // The next attempt has other keys, so these keys must not be admitted. This task may be cancelled.
            await Task { do { try await carrier.removing([name]) } catch {} }.value
            throw error
        }
    }

    /// A carrier that fails meanwhile is tried again.
    private func answer(
        to joiner: Joiner, _ member: MemberID, _ carrier: any Carrier, until end: ContinuousClock.Instant,
        _ interval: Duration
    ) async throws(KeychainError) -> OpenedRing {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let sources = [Self.forward(carrier, signal), Self.repeating(interval, signal)]
        defer { for source in sources { source.cancel() } }
        signal.yield()
        for await _ in signals {
            var refusal = Refusal.noKey
            do throws(KeychainError) {
                let objects = try await answers(for: member, carrier)
                let wraps = objects.filter { if case .wrap = $0.name { true } else { false } }.map(\.bytes)
                let entries = objects.filter { if case .entry = $0.name { true } else { false } }.map(\.bytes)
                do { return try joiner.finish(wraps: wraps, entries: entries) } catch { refusal = error }
            } catch {
                guard error.reason == .unavailable, ContinuousClock.now < end else { throw error }
            }
            guard ContinuousClock.now < end else {
                throw refusal == .newerFormat ? KeychainError(exchange: refusal) : .notLetIn
            }
        }
        throw KeychainError(.cancelled, "Joining was cancelled. This machine is in no ring.")
    }

    private func answers(
        for member: MemberID, _ carrier: any Carrier
    ) async throws(KeychainError) -> [(name: ObjectName, bytes: Data)] {
        let own = try await carrier.listing().names.filter {
            switch $0 {
            case .wrap(_, member), .entry: true
            default: false
            }
        }
        return try await carrier.reading(own.sorted())
    }

    /// Removes machines, and makes new keys: the removed machines cannot read anything that is written from then on.
    /// They keep what they already have.
    package func remove(_ members: [MemberID]) async throws(KeychainError) -> ExchangeReport {
        var report = ExchangeReport()
        let step = try await take(&report) { state, now in
            let replica = state.replica
            guard replica.ring.mayWrite(replica.member), members.allSatisfy(replica.ring.isActive) else {
                throw Refusal.notAMember
            }
            return try state.replica.remove(members, at: now)
        }
        let carrier = try carrier(of: step.state)
        for case .write(let name, let bytes) in step.effects { _ = try await carrier.publishing(name, bytes) }
        return try await exchange(tidying: true)
    }
}

extension Duration {
    /// None below zero, and at most a century or so: a sum with any point in time, and its milliseconds, are numbers that exist.
    var bounded: Duration { min(max(self, .zero), .seconds(1 << 32)) }
}

extension KeychainError {
    fileprivate static let notInvited = KeychainError(
        .itemNotFound,
        "There is no invitation with this code. It may not have arrived yet, may have expired, or the code is mistyped."
    )
    fileprivate static let notLetIn = KeychainError(
        .timedOut,
        "The machine that made the invitation has not answered yet. Run there: keychainctl sync now, or keychainctl sync approve if it "
            + "asks for approval. Then join again here."
    )
}
