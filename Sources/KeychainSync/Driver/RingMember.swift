// SPDX-License-Identifier: Apache-2.0
// A machine as a member of a ring: keeps its vault and the core consistent.

import Foundation
import KeychainCrypto
package import KeychainEngine
import KeychainSyncCore
package import KeychainVault
import SecretMemory

/// This machine as a member of a ring. It merges the items of its vault with those of the other machines.
///
/// Each step is one transaction of the vault: it collects local changes, passes received objects to the core, changes
/// the items, and stores the core's state. Objects are stored before they are published, so an interruption at any
/// point only causes a delay.
package final class RingMember: Sendable {
    let vault: Vault
    /// The kinds of carriers that this program has.
    let kinds: [any CarrierKind]
    private let clock: @Sendable () -> UInt64
    /// The state that this process last read or wrote.
    private let state = Guarded<RingState?>(nil)
    /// What the last step of this process had to leave in the vault's outbox.
    let left = Guarded<OutboxMark?>(nil)
    /// Why the last exchange by this process failed, if the vault could not store that.
    let unstoredFailure = Guarded<RingFailure?>(nil)

    /// - Parameters:
    ///   - kinds: The kinds of carriers that this program has beside shared folders; the first of a scheme counts.
    ///   - clock: Milliseconds since 1970.
    package init(
        _ vault: Vault, kinds: [any CarrierKind] = [], clock: @escaping @Sendable () -> UInt64 = RingMember.systemTime
    ) {
        (self.vault, self.kinds, self.clock) = (vault, kinds + [FolderKind()], clock)
    }

    package static let systemTime: @Sendable () -> UInt64 = { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }

    var now: UInt64 { clock() }

    /// As this process knows them.
    var known: RingState? { state.withLock { $0 } }

    /// What one step did.
    struct Step {
        /// Effects to carry out after the step is stored.
        var effects: [Effect]
        var findings: [SyncFinding]
        /// How many local items were changed by other machines.
        var applied = 0
        /// How many local changes were collected.
        var taken = 0
        let state: RingState
    }

    /// Runs one step. If it throws, nothing has changed.
    ///
    /// - Parameters:
    ///   - isRetrying: Whether items that could not be shown are tried again.
    ///   - refusal: Is given the items that still cannot be shown; an error ends the step.
    func step(
        isRetrying: Bool = false, unless refusal: (Set<SyncID>) -> KeychainError? = { _ in nil },
        _ body: (inout RingState, UInt64) throws -> [Effect]
    ) throws(KeychainError) -> Step {
        // A write would make a vault.
        guard try vault.isInRing else { throw .notInRing }
        let known = state.withLock { $0 }
        // Keys and values pass through memory that other modules free as it is.
        defer { scrubResidue() }
        let (step, left) = try vault.inRing { (transaction) throws(KeychainError) in
            guard let old = try RingState.load(transaction, known: known) else { throw .notInRing }
            var (new, items) = (old, ItemExchange(transaction, now, hidden: old.hidden))
            var effects = new.noticeRestoration(try transaction.incarnation(), at: now)
            effects += try new.noticeNewKeys(try transaction.keyGeneration(), at: now)
            let taken = try items.takeOutgoing(&new.replica)
            let before = new.replica
            do {
                effects += try body(&new, now)
            } catch {
                throw KeychainError(exchange: error)
            }
            let log = new.replica.log
            new.withdrawInvitations { $0.isKnownToRemoved(log) }
            var changes: [ItemChange] = []
            for case .changed(let some) in effects { changes += some }
            try items.apply(changes, new.replica, before: before, isRetrying: isRetrying)
            if let refusal = refusal(items.hidden) { throw refusal }
            new.hidden = items.hidden
            new.keepLosers(of: items.written.union(changes.map(\.item)), changes, since: old.replica, at: now)
            var findings = items.findings
            for case .found(let finding) in effects { findings.append(finding) }
            // Nobody takes anything from the copy of a machine that was removed, whatever of it is still on the carrier.
            let ring = new.replica.ring
            findings.removeAll { $0.isOfCopy { !ring.isActive($0) } }
            new.notices.endCopies { !ring.isActive($0) }
            new.concludeNotices(findings)
            if !findings.isEmpty { new.notices.note(findings, MachineNames(new.replica), at: now) }
            new.noteUndecided(at: now)
            new.notices.returned = new.replica.log.returned
            new.notices.stalledLogs = new.replica.stalled
            new.notices.unlistedEntries = new.replica.unlisted
            new.notices.unlistedSnapshots = new.replica.unlistedSnapshots
            effects.removeAll { if case .changed = $0 { true } else if case .found = $0 { true } else { false } }
            try new.store(transaction, since: old)
            let step = Step(effects: effects, findings: findings, applied: items.applied, taken: taken, state: new)
            return (step, try transaction.outboxMark())
        }
        self.left.withLock { $0 = left }
        state.withLock { $0 = step.state }
        return step
    }

    /// Enters a ring. The next exchange merges the vault's shared items with those of the ring.
    ///
    /// - Parameter decided: What a person has decided who invited this machine.
    func enter(
        _ replica: Replica, _ place: CarrierPlace, decided: Set<Ring.Contest.Subject> = []
    ) throws(KeychainError) {
        defer { scrubResidue() }
        let new = try vault.inRing { (transaction) throws(KeychainError) in
            guard !transaction.isInRing else { throw .alreadyInRing }
            try transaction.enter()
            try AskingKeysItem.remove(transaction)
            var new = RingState(replica: replica, place: place)
            new.incarnation = try transaction.incarnation()
            new.keyGeneration = try transaction.keyGeneration()
            new.notices.decide(decided)
            try new.store(transaction, since: nil)
            return new
        }
        left.withLock { $0 = nil }
        state.withLock { $0 = new }
        unstoredFailure.withLock { $0 = nil }
    }

    /// Removes the state of the ring from the vault, also if something was not sent. All items remain.
    package func forget() throws(KeychainError) { try removeState(ifUnsent: nil) }

    /// - Parameter refusal: Thrown, with nothing changed, if a change was not sent that can still be sent; `nil`: those are given up, and
    ///   values that no other machine may have.
    /// - Returns: The state as it was, or why it cannot be read.
    @discardableResult
    func removeState(ifUnsent refusal: KeychainError?) throws(KeychainError) -> Result<RingState, KeychainError> {
        guard try vault.isInRing else { throw .notInRing }
        defer { scrubResidue() }
        let former = try vault.inRing { (transaction) throws(KeychainError) in
            guard transaction.isInRing else { throw .notInRing }
            let former = try formerState(transaction, isNeeded: refusal != nil)
            if let refusal, case .success(let former) = former {
                try checkNothingIsLost(former, transaction, refusal: refusal)
            }
            try RingKeyItem.remove(transaction)
            try transaction.leave()
            return former
        }
        left.withLock { $0 = nil }
        state.withLock { $0 = nil }
        unstoredFailure.withLock { $0 = nil }
        return former
    }
}

extension RingState {
    init(replica: Replica, place: CarrierPlace) { (self.replica, self.place) = (replica, place) }

    /// What is found again keeps its date, so this comes before it is noted.
    fileprivate mutating func concludeNotices(_ findings: [SyncFinding]) {
        guard let earlier = concluded else { return }
        notices.conclude(found: earlier.union(findings))
        concluded = nil
    }

    /// Values that were not shown and have been replaced, also those that came in this step: another machine may have lost them.
    fileprivate mutating func keepLosers(
        of items: Set<SyncID>, _ changes: [ItemChange], since old: Replica, at now: UInt64
    ) {
        let former = items.flatMap { old.items[$0].others } + changes.flatMap(\.others)
        let lost = former.filter { record in
            !replica.items[record.header.item].all.contains { $0.header.dot == record.header.dot }
        }
        kept.keep(lost, at: now, since: lastExchange)
    }
}

extension KeychainError {
    package static let notInRing = KeychainError(
        .unavailable,
        "This vault is not in a ring. To found one, run: keychainctl sync init. To join the ring of another machine, run: "
            + "keychainctl sync join")
    package static let alreadyInRing = KeychainError(
        .invalidParameter,
        "This vault is in a ring already. To exchange items with it, run: keychainctl sync now. To enter another ring, first run: "
            + "keychainctl sync leave")

    /// Errors of the core or of the caller.
    init(exchange error: any Error) {
        switch error {
        case let error as KeychainError: self = error
        case Refusal.noKey:
            // Those of a locked vault are not even read: that is an error of its own.
            self.init(
                .unavailable,
                "A key of the ring has not arrived here yet. Changes are kept, and sent once it has. If it does not come, run on another "
                    + "machine: keychainctl sync now; ten minutes later again; then sync here. If no other machine has it, make new keys by "
                    + "removing those that are gone: keychainctl sync remove")
        case Refusal.notAMember:
            self.init(
                .missingEntitlement,
                "This machine has no permission for this in its ring, or was removed from it. To see the members, run: "
                    + "keychainctl sync status")
        case Refusal.newerFormat:
            self.init(
                .newerFormat,
                "A member of the ring uses a newer version of swift-keychain. Reading works. To write, update this machine."
            )
        case Refusal.tooLarge:
            self.init(.tooLarge, "The change exceeds a limit of the ring. Make several smaller changes.")
        default:
            self.init(
                .corrupt,
                "The data of the ring is inconsistent, on its carrier or in this vault. To enter the ring again, run: "
                    + "keychainctl sync leave; then: keychainctl sync join")
        }
    }
}
