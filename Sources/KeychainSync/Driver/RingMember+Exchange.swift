// SPDX-License-Identifier: Apache-2.0
// Exchanges items with the other machines: list, fetch, apply, publish.

import Foundation
package import KeychainEngine
package import KeychainSyncCore
import KeychainVault
import SecretMemory

/// The result of an exchange.
package struct ExchangeReport: Sendable {
    /// How many items of this machine were changed or removed.
    package var applied = 0
    /// How many local changes were collected.
    package var taken = 0
    /// How many local changes have reached the carrier.
    package var sent = 0
    /// How many objects were published.
    package var published = 0
    /// Findings for the user. They do not stop the exchange.
    package var findings: Set<SyncFinding> = []
    var names = MachineNames()
    /// The names of machines that were admitted.
    package var admitted: [String] = []
    /// Machines that ask to be admitted, and wait for ``RingMember/approve(_:)``.
    package var waiting: [WaitingMachine] = []
}

extension ExchangeReport {
    /// The texts of the findings, in ascending order.
    package var texts: [String] { findings.map { $0.text(names) }.sorted() }
    var hasMoved: Bool { applied + taken + published > 0 }

    /// Adds what a later exchange of the same call did.
    mutating func add(_ other: ExchangeReport) {
        applied += other.applied
        taken += other.taken
        sent += other.sent
        published += other.published
        findings.formUnion(other.findings)
        names = other.names
        admitted += other.admitted
        waiting = other.waiting
    }

    mutating func note(_ answers: [Invitation.Answer]) {
        for answer in answers {
            switch answer {
            case .admitted(let card, _, _): admitted.append(card.name)
            case .waiting(let card):
                waiting.append(WaitingMachine(id: card.keys.member, name: card.name, role: card.role))
            case .postponed, .expired, .usedUp, .refused: break
            }
        }
    }
}

/// A machine that has the code of an invitation and waits for a person's approval.
package struct WaitingMachine: Hashable, Sendable {
    package let id: MemberID
    package let name: String
    package let role: Role

    /// The whole ID in groups, for people who compare it on both machines: `1a2b-3c4d-…`.
    package static func text(_ id: MemberID) -> String {
        let digits = Array(id.hex)
        return stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<min($0 + 4, digits.count)]) }
            .joined(separator: "-")
    }

    /// - Parameter text: As ``text(_:)`` makes it; hyphens and case do not matter.
    package static func id(_ text: String) -> MemberID? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 32, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        return MemberID(stride(from: 0, to: 32, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}

extension RingMember {
    /// Fetches and applies what the others have published, and publishes local changes.
    ///
    /// Only one process exchanges at a time; others wait. Reading and writing items does not wait for an exchange.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for another process's exchange.
    ///   - progress: Told after each part what was done until then.
    /// - Throws: `unavailable` if the vault is in no ring, or the carrier cannot be reached; `missingEntitlement` if
    ///   this machine was removed from the ring; `locked`; `busy`; and errors of the carrier or the vault. Steps that
    ///   were completed before the error remain.
    package func exchange(
        timeout: Duration = .seconds(30), progress: @Sendable (ExchangeReport) -> Void = { _ in }
    ) async throws(KeychainError) -> ExchangeReport {
        try await exchange(timeout: timeout, tidying: .inTurn, progress)
    }

    /// - Parameters:
    ///   - tidying: When this machine does what one of several has to do.
    ///   - isLettingIn: Whether machines that ask are let in.
    func exchange(
        timeout: Duration = .seconds(30), tidying: Tidying, lettingIn isLettingIn: Bool = true,
        _ progress: @Sendable (ExchangeReport) -> Void = { _ in }
    ) async throws(KeychainError) -> ExchangeReport {
        let (lock, present) = try await blocking { [self] () throws(KeychainError) -> (SyncLock, RingState?) in
            guard try vault.isInRing else { throw .notInRing }
            let lock = try vault.lockForSync(timeout)
            return (lock, try presentState())
        }
        defer { withExtendedLifetime(lock) {} }
        var report = ExchangeReport()
        let state = if let present { present } else { try await take(&report) { _, _ in [] }.state }
        guard !state.isPaused else { throw .pausedSync }
        do throws(KeychainError) {
            try await exchange(state, tidying: tidying, lettingIn: isLettingIn, &report, progress)
        } catch {
            await storeFailure(error)
            throw error
        }
        return report
    }

    private func exchange(
        _ state: RingState, tidying: Tidying, lettingIn isLettingIn: Bool, _ report: inout ExchangeReport,
        _ progress: @Sendable (ExchangeReport) -> Void
    ) async throws(KeychainError) {
        let carrier = try carrier(of: state)
        var fetched = try await fetchAll(carrier, sealing: tidying == .inTurn, &report, progress)
        if !isLettingIn { fetched.state.invitations = [:] }
        guard fetched.state.isMember else { throw .noMember(fetched.state.replica) }
        if !fetched.isComplete { try await complete(&fetched, carrier, tidying, &report, progress) }
        unstoredFailure.withLock { $0 = nil }
    }

    /// What this process knows, if nobody has changed it since and the vault is unlocked. Then no transaction is needed to find the
    /// carrier, and the next step collects local changes.
    private func presentState() throws(KeychainError) -> RingState? {
        guard let known, try vault.lockState == .unlocked,
            try vault.ringPart(RingState.generationName) == known.generation
        else { return nil }
        return known
    }

    /// Publishes what this machine has, once everything that the others have is here.
    private func complete(
        _ fetched: inout FetchedRing, _ carrier: any Carrier, _ tidying: Tidying, _ report: inout ExchangeReport,
        _ progress: @Sendable (ExchangeReport) -> Void
    ) async throws(KeychainError) {
        // A machine that is let in takes the ring as this one shows it. So nobody is, either.
        try fetched.state.checkDecided()
        try fetched.state.checkKeys()
        if !fetched.isSealed || !fetched.state.invitations.isEmpty {
            _ = try await note(fetched.outcomes, [], carrier, &report)
            fetched.outcomes = []
            if try await isReadyForJoining(fetched, carrier, &report) {
                try await letIn(fetched.listing, fetched.state.invitations, carrier, &report)
            }
            try await publish(carrier, &report)
            progress(report)
        }
        // A machine that was just admitted should not have to wait for another machine.
        let tidying = report.admitted.isEmpty ? tidying : .atOnce
        if tidying == .inTurn, try await end(fetched, &report) { return }
        progress(report)
        _ = try await tidy(fetched.listing, carrier, tidying, &report)
        let found = report.findings
        _ = try await take(&report) { state, now in
            state.lastExchange = now
            state.concluded = found
            return state.replica.overdue(at: now)
        }
    }

    /// A machine that is let in takes what it finds. Where that is not what the others have, a snapshot tells it so, and comes first.
    ///
    /// - Returns: Whether machines that ask can be let in. Otherwise their requests wait for the next exchange.
    private func isReadyForJoining(
        _ fetched: FetchedRing, _ carrier: any Carrier, _ report: inout ExchangeReport
    ) async throws(KeychainError) -> Bool {
        let isAsked = fetched.listing.names.contains {
            if case .request(let id, _) = $0 { fetched.state.invitations[id] != nil } else { false }
        }
        let replica = fetched.state.replica
        guard isAsked, replica.needsSnapshot || replica.isAmbiguous(fetched.listing) else { return true }
        // A snapshot stands only for what is published.
        try await publish(carrier, &report)
        return try await tidy(fetched.listing, carrier, .withSnapshot, &report)
    }

    /// - Parameter isReplacing: Whether keys that a removed member may know are replaced even if there is nothing to seal now.
    func publish(
        _ carrier: any Carrier, replacingKnownKeys isReplacing: Bool = false, _ report: inout ExchangeReport
    ) async throws(KeychainError) {
        let step = try await take(&report) { state, now in
            let mayReplace = isReplacing && state.mayWrite && !state.isRenewalPostponed
            let keys = mayReplace ? try state.replica.replaceKnownKeys() : []
            return try keys + state.seal(at: now)
        }
        _ = try await carryOut(step.effects, carrier, &report)
    }

    /// Carries out the effects of a step. The next listing asks again for anything that fails.
    ///
    /// - Returns: Whether an object was received.
    func carryOut(
        _ effects: [Effect], _ carrier: any Carrier, _ report: inout ExchangeReport
    ) async throws(KeychainError) -> Bool {
        let (outcomes, wanted) = try await publish(effects, carrier, &report)
        return try await note(outcomes, wanted, carrier, &report)
    }

    /// Writes and removes objects.
    ///
    /// - Returns: What the core has to be told of, and what is to be read.
    func publish(
        _ effects: [Effect], _ carrier: any Carrier, _ report: inout ExchangeReport
    ) async throws(KeychainError) -> (outcomes: [(ObjectName, Publication)], wanted: [ObjectName]) {
        var (outcomes, stopped): ([(ObjectName, Publication)], Set<WriterID>) = ([], [])
        for effect in effects {
            switch effect {
            // What follows a segment that may be another one's has to wait until that is known.
            case .write(.segment(let writer, _), _) where stopped.contains(writer): continue
            case .write(let name, let bytes):
                outcomes.append((name, try await carrier.publishing(name, bytes)))
                if case (.segment(let writer, _), .otherThere) = outcomes[outcomes.count - 1] { stopped.insert(writer) }
            case .writeBeside(let name, let bytes):
                outcomes.append((name, try await carrier.publishing(name, bytes, beside: true)))
            case .remove(let names): try await carrier.removing(names)
            case .read, .changed, .found: break
            }
        }
        report.published += outcomes.count
        return (outcomes, effects.wanted)
    }

    /// Tells the core what was published, and reads.
    ///
    /// - Returns: Whether an object was received.
    func note(
        _ outcomes: [(ObjectName, Publication)], _ wanted: [ObjectName], _ carrier: any Carrier,
        _ report: inout ExchangeReport
    ) async throws(KeychainError) -> Bool {
        guard !outcomes.isEmpty else { return try await fetch(wanted, carrier, &report) }
        let sent = Guarded(0)
        let step = try await take(&report) { state, now in
            let before = state.replica.unpublishedCount
            let effects = outcomes.flatMap { state.replica.published($0.0, $0.1, at: now) }
            sent.withLock { $0 = before - state.replica.unpublishedCount }
            return effects
        }
        report.sent += sent.withLock { $0 }
        return try await fetch(wanted + step.effects.wanted, carrier, &report)
    }

    /// - Returns: Whether an object was received.
    private func fetch(
        _ names: [ObjectName], _ carrier: any Carrier, _ report: inout ExchangeReport
    ) async throws(KeychainError) -> Bool {
        var (rest, hasCome) = (names[...], false)
        while !rest.isEmpty {
            let reading = try await carrier.readingAll(Array(rest.prefix(Self.mostAtOnce)))
            rest = rest.dropFirst(Self.mostAtOnce)
            guard !reading.objects.isEmpty || !reading.damaged.isEmpty else { continue }
            hasCome = hasCome || !reading.objects.isEmpty
            let step = try await take(&report) { state, now in
                state.replica.received(reading.objects, at: now) + state.replica.damaged(reading.damaged, at: now)
            }
            _ = try await carryOut(step.effects.filter { if case .read = $0 { false } else { true } }, carrier, &report)
        }
        return hasCome
    }

    static let mostAtOnce = 1000

    // MARK: - Steps

    /// Runs one step outside Swift's thread pool.
    func take(
        _ report: inout ExchangeReport, isRetrying: Bool = false,
        _ body: @escaping @Sendable (inout RingState, UInt64) throws -> [Effect]
    ) async throws(KeychainError) -> Step {
        if Task.isCancelled { throw .cancelledExchange }
        let step = try await blocking { [self] () throws(KeychainError) -> Step in
            try self.step(isRetrying: isRetrying, body)
        }
        report.applied += step.applied
        report.taken += step.taken
        report.findings.formUnion(step.findings)
        report.names = MachineNames(step.state.replica.ring)
        return step
    }

    /// Runs work that may wait for files or other processes on its own thread.
    func blocking<Result: Sendable>(
        _ body: @escaping @Sendable () throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        let outcome: Swift.Result<Result, KeychainError> = await withCheckedContinuation { continuation in
            let code = BlockingThread.start {
                do throws(KeychainError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            guard code != 0 else { return }
            continuation.resume(
                returning: .failure(
                    KeychainError(.unavailable, "The system allows no more threads (error \(code)). Try again later.")))
        }
        return try outcome.get()
    }
}

// MARK: - Carriers' failures as the errors of a call

extension Carrier {
    func listing() async throws(KeychainError) -> Listing {
        do { return try await list() } catch { throw KeychainError(failure: error) }
    }

    func reading(_ names: [ObjectName]) async throws(KeychainError) -> [(name: ObjectName, bytes: Data)] {
        try await readingAll(names).objects
    }

    func readingAll(_ names: [ObjectName]) async throws(KeychainError) -> CarrierReading {
        if names.isEmpty { return CarrierReading() }
        do { return try await read(names) } catch { throw KeychainError(failure: error) }
    }

    func publishing(
        _ name: ObjectName, _ bytes: Data, beside: Bool = false
    ) async throws(KeychainError) -> Publication {
        do { return try await publish(name, bytes, beside: beside) } catch { throw KeychainError(failure: error) }
    }

    func removing(_ names: [ObjectName]) async throws(KeychainError) {
        if names.isEmpty { return }
        do { try await remove(names) } catch { throw KeychainError(failure: error) }
    }
}

extension KeychainError {
    init(failure: CarrierFailure) {
        let reason: Reason
        switch failure.reason {
        case .unavailable, .denied: reason = .unavailable
        case .full: reason = .diskFull
        case .overcrowded, .tooLarge: reason = .tooLarge
        case .unusable: reason = .invalidParameter
        case .inputOutput: reason = .inputOutput
        }
        self.init(reason, failure.message)
    }

    static let cancelledExchange = KeychainError(
        .cancelled, "The exchange was cancelled. Its completed steps remain. Sync again to continue.")
    /// Why a machine is no member.
    static func noMember(_ replica: Replica) -> KeychainError {
        replica.wasRemovedByFormerKeys ? .removedByFormerKeys : .removedFromRing
    }

    private static let removedByFormerKeys = KeychainError(
        .missingEntitlement,
        "This machine is not in its ring any more: somebody has used former keys of it, or of the machine that added it, which a vault gives "
            + "up when it gets new keys. Its changes are not sent to other machines. Its items remain. To join again, run: keychainctl sync "
            + "leave; then: keychainctl sync join. If no machine is left in the ring, found a new one: keychainctl sync init"
    )
    private static let removedFromRing = KeychainError(
        .missingEntitlement,
        "This machine was removed from its ring. Its changes are not sent to other machines. Its items remain. To end syncing, run: "
            + "keychainctl sync leave")
    static let pausedSync = KeychainError(
        .unavailable, "Syncing is paused. Changes are kept. To continue, run: keychainctl sync resume")
}
