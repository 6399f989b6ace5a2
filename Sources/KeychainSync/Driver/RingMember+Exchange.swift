// SPDX-License-Identifier: Apache-2.0
// Exchanges items with the other machines: list, fetch, apply, publish.

package import KeychainEngine
import KeychainSyncCore
import KeychainVault
import SecretMemory

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
    ///   - leaving: Machines that are to be removed. It fails if something that they have written may be missing here.
    func exchange(
        timeout: Duration = .seconds(30), tidying: Tidying, lettingIn isLettingIn: Bool = true,
        beforeRemoving leaving: [MemberID] = [], _ progress: @Sendable (ExchangeReport) -> Void = { _ in }
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
        let refusal: KeychainError?
        do throws(KeychainError) {
            refusal = try await exchange(
                state, tidying: tidying, lettingIn: isLettingIn, beforeRemoving: leaving, &report, progress)
        } catch {
            await storeFailure(error)
            throw error
        }
        if let refusal { throw refusal }
        return report
    }

    /// - Returns: Why the machines that are to be removed may not be. Then the exchange has not ended, and has not failed either.
    private func exchange(
        _ state: RingState, tidying: Tidying, lettingIn isLettingIn: Bool, beforeRemoving leaving: [MemberID],
        _ report: inout ExchangeReport, _ progress: @Sendable (ExchangeReport) -> Void
    ) async throws(KeychainError) -> KeychainError? {
        let carrier = ExchangeCarrier(carrier: try carrier(of: state))
        var fetched = try await fetchAll(carrier, sealing: tidying == .inTurn, &report, progress)
        if !isLettingIn { fetched.state.invitations = [:] }
        guard fetched.state.isMember else { throw .noMember(fetched.state.replica) }
        if !leaving.isEmpty, let refusal = fetched.missing(of: leaving, report) { return refusal }
        if !fetched.isComplete { try await complete(&fetched, carrier, tidying, &report, progress) }
        unstoredFailure.withLock { $0 = nil }
        return nil
    }

    /// What this process knows, if nobody has changed it since and the vault is unlocked. Then no transaction is needed to find the
    /// carrier, and the next step collects local changes.
    private func presentState() throws(KeychainError) -> RingState? {
        guard let known, try vault.lockState == .unlocked,
            try vault.ringPart(RingState.generationName) == known.generation
        else { return nil }
        return known
    }

    /// Publishes what this machine has, once everything that the others have is here, or as much as one exchange reads. Only the former
    /// is a complete exchange: what has not been found again may be over, and what is late can be told.
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
                try await letIn(fetched, carrier, &report)
            }
            try await publish(carrier, &report)
            progress(report)
        }
        // A machine that was just admitted should not have to wait for another machine.
        let turn = report.admitted.isEmpty ? tidying : .atOnce
        if turn == .inTurn, fetched.hasReadAll, try await end(fetched, &report) { return }
        progress(report)
        try await rereadIfDue(fetched, tidying, carrier, &report)
        _ = try await tidy(fetched.listing, carrier, turn, &report)
        guard fetched.hasReadAll else { return }
        let found = report.findings
        _ = try await take(&report) { state, now in
            state.noteExchange(at: now)
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
        if !step.findings.isEmpty { report.names = MachineNames(step.state.replica) }
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
