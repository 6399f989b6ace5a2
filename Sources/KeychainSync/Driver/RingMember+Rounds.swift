// SPDX-License-Identifier: Apache-2.0
// Fetching what the others have published, in rounds of one listing and one transaction of the vault each.

import KeychainEngine
import KeychainSyncCore
import SecretMemory

/// What is fetched in one round, beside the listing. It only saves a step: the core decides again in the transaction what it wants.
private struct Round: Sendable {
    let listing: Listing
    let asked: Set<ObjectName>
    let found: CarrierReading

    var isEmpty: Bool { found.objects.isEmpty && found.damaged.isEmpty }

    /// Whether all entries of the ring that are wanted were read.
    func hasEntries(_ wanted: [ObjectName]) -> Bool {
        let read = Set(found.objects.map(\.name))
        return wanted.allSatisfy { if case .entry = $0 { read.contains($0) } else { true } }
    }
}

/// How far one round came within its transaction.
private struct RoundEnd: Sendable {
    /// Everything of the listing is here, and what is missing on the carrier was told.
    var isConcluded = false
    /// The vault was restored, and has seen the ring now. What has waited for that is done in the next round.
    var hasSeenRing = false
    /// Nothing of this machine waits to be sealed.
    var isSealed = false
    /// There is nothing to publish either, and the exchange is complete.
    var isComplete = false
}

/// What the carrier has, and the ring after all of it.
struct FetchedRing {
    let listing: Listing
    var state: RingState
    /// What was published since the last step. The core has not been told of it.
    var outcomes: [(ObjectName, Publication)] = []
    var isSealed = false
    var isComplete = false
    /// Whether everything that was listed was read, as far as it can be. If not, the exchange is not complete, and the next one continues.
    var hasReadAll = true
}

extension RingMember {
    /// Enough passes for a chain of segments that name each other; the next exchange continues.
    static let mostRounds = 8

    /// Fetches what the carrier has, until there is no more or ``mostRounds`` passes have ended.
    ///
    /// - Parameter isSealing: Whether local changes are sealed in the transaction that finds that there is nothing to fetch. They are
    ///   then published with everything else that the carrier lacks.
    func fetchAll(
        _ carrier: any Carrier, sealing isSealing: Bool = false, _ report: inout ExchangeReport,
        _ progress: (ExchangeReport) -> Void
    ) async throws(KeychainError) -> FetchedRing {
        var listing = try await carrier.listing()
        var reading = ExchangeReading(listing)
        while reading.passes < Self.mostRounds {
            let round = try await prefetched(listing, carrier)
            let (step, end) = try await take(round, isFirst: reading.isFirst, isSealing, &report)
            let (outcomes, wanted) = try await publish(step.effects, carrier, &report)
            if end.isConcluded, wanted.isEmpty, !outcomes.contains(where: { $0.1 == .otherThere }) {
                progress(report)
                return FetchedRing(
                    listing: listing, state: step.state, outcomes: outcomes, isSealed: end.isSealed,
                    isComplete: end.isComplete)
            }
            let isNew = try await note(outcomes, wanted, carrier, &report)
            progress(report)
            let hasCome = isNew || !round.found.objects.isEmpty
            guard goesOn(&reading, round.asked.union(wanted), listing, hasCome) || end.hasSeenRing else { break }
            listing = try await carrier.listing()
        }
        return try await ended(reading, listing, &report)
    }

    /// Notes a round.
    ///
    /// - Returns: Whether another one may bring more.
    private func goesOn(
        _ reading: inout ExchangeReading, _ names: Set<ObjectName>, _ listing: Listing, _ hasCome: Bool
    ) -> Bool {
        guard let replica = known?.replica else { return hasCome }
        // To tell what is left, segments that wait are opened.
        defer { scrubResidue() }
        reading.note(names, of: listing, replica)
        return reading.goesOn(hasCome, replica)
    }

    /// Ends the rounds although something is still wanted: it cannot be read, or there is more than one exchange reads. What is missing on
    /// the carrier can only be told if everything was read: a snapshot may have taken its place.
    private func ended(
        _ reading: ExchangeReading, _ listing: Listing, _ report: inout ExchangeReport
    ) async throws(KeychainError) -> FetchedRing {
        let hasReadAll = Guarded(false)
        let state = try await take(&report) { state, _ in
            let isAll = reading.hasReadAll(state.replica)
            hasReadAll.withLock { $0 = isAll }
            if isAll { return state.replica.conclude(listing) }
            return state.isMember ? [.found(.unread)] : []
        }.state
        return FetchedRing(listing: listing, state: state, hasReadAll: hasReadAll.withLock { $0 })
    }

    /// Reads what is new by the state that this process knows, without a transaction.
    private func prefetched(_ listing: Listing, _ carrier: any Carrier) async throws(KeychainError) -> Round {
        let names = news(in: listing)
        return Round(listing: listing, asked: Set(names), found: try await carrier.readingAll(names))
    }

    private func news(in listing: Listing) -> [ObjectName] {
        // To tell what is new, segments that wait are opened.
        defer { scrubResidue() }
        return Array((known?.replica.news(in: listing) ?? []).prefix(Self.mostAtOnce))
    }

    private func take(
        _ round: Round, isFirst: Bool, _ isSealing: Bool, _ report: inout ExchangeReport
    ) async throws(KeychainError) -> (Step, RoundEnd) {
        let (end, hasMoved, found) = (Guarded(RoundEnd()), report.hasMoved, report.findings)
        let step = try await take(&report, isRetrying: isFirst) { state, now in
            var (effects, reached) = state.receive(round, at: now)
            if reached.isConcluded, isSealing, let sealed = state.sealIfPossible(at: now) {
                effects += sealed
                reached.isSealed = true
                let isQuiet = effects.allSatisfy { if case .found = $0 { true } else { false } }
                if isQuiet, state.invitations.isEmpty, let last = state.end(round.listing, hasMoved, found, at: now) {
                    effects += last
                    reached.isComplete = true
                }
            }
            end.withLock { $0 = reached }
            return effects
        }
        return (step, end.withLock { $0 })
    }

    /// Ends an exchange in one step, if nothing more is to be published: the core is told of what was published, and the time is noted.
    ///
    /// - Returns: Whether it has ended.
    func end(_ fetched: FetchedRing, _ report: inout ExchangeReport) async throws(KeychainError) -> Bool {
        let (isOver, sent, hasMoved, found) = (Guarded(false), Guarded(0), report.hasMoved, report.findings)
        _ = try await take(&report) { state, now in
            let before = state.replica.unpublishedCount
            let effects = fetched.outcomes.flatMap { state.replica.published($0.0, $0.1, at: now) }
            sent.withLock { $0 = before - state.replica.unpublishedCount }
            guard let last = state.end(fetched.listing, hasMoved, found, at: now) else { return effects }
            isOver.withLock { $0 = true }
            return effects + last
        }
        report.sent += sent.withLock { $0 }
        return isOver.withLock { $0 }
    }
}

extension RingState {
    fileprivate mutating func receive(_ round: Round, at now: UInt64) -> ([Effect], RoundEnd) {
        var effects = replica.listed(round.listing, at: now, wrapping: undecided.isEmpty)
        let wanted = effects.wanted
        let hasSeenRing = mayLackNewKeys && round.hasEntries(wanted)
        if hasSeenRing { mayLackNewKeys = false }
        guard !wanted.isEmpty || !round.isEmpty else {
            return (effects, RoundEnd(isConcluded: !hasSeenRing, hasSeenRing: hasSeenRing))
        }
        effects.removeAll(where: \.isRead)
        let rest = wanted.filter { !round.asked.contains($0) }
        if !rest.isEmpty { effects.append(.read(rest)) }
        if !round.isEmpty {
            let more = replica.received(round.found.objects, at: now) + replica.damaged(round.found.damaged, at: now)
            effects.removeAll { !replica.isCurrent($0) }
            effects += more.filter { !$0.isRead }
        }
        return (effects, RoundEnd(hasSeenRing: hasSeenRing))
    }

    /// Seals what was collected, so that it is stored before it is published.
    ///
    /// - Returns: `nil`, and nothing has changed, if that fails: a step of its own then tells why.
    fileprivate mutating func sealIfPossible(at now: UInt64) -> [Effect]? {
        guard isMember else { return nil }
        var sealed = self
        guard let effects = try? sealed.seal(at: now) else { return nil }
        self = sealed
        return effects
    }

    /// Notes a complete exchange.
    ///
    /// - Parameter found: What its earlier steps have found.
    /// - Returns: What is overdue; `nil`, and nothing has changed, if this machine has to publish something first.
    fileprivate mutating func end(
        _ listing: Listing, _ hasMoved: Bool, _ found: Set<SyncFinding>, at now: UInt64
    ) -> [Effect]? {
        guard isMember else { return nil }
        if hasNewestKeys {
            let isSnapshotNeeded = mayWrite && isNeeded(replica.uncoveredSegmentCount(in: listing))
            if isSnapshotNeeded || isHeadDue(listing, hasMoved, at: now) { return nil }
            neededSince = 0
        }
        noteExchange(hasMoved, at: now)
        concluded = found
        return replica.overdue(at: now)
    }
}

extension Effect {
    fileprivate var isRead: Bool { if case .read = self { true } else { false } }
}

extension Replica {
    /// Whether an effect is still wanted after something has come.
    fileprivate func isCurrent(_ effect: Effect) -> Bool {
        switch effect {
        case .write(let name, let bytes), .writeBeside(let name, let bytes): isOwn(name, bytes)
        case .read, .remove, .changed, .found: true
        }
    }
}

extension [Effect] {
    /// The names of all objects that are to be read.
    var wanted: [ObjectName] {
        flatMap { effect -> [ObjectName] in if case .read(let names) = effect { names } else { [] } }
    }
}
