// SPDX-License-Identifier: Apache-2.0
// Machines that one machine has removed, and that are still in the ring.

package import KeychainEngine
package import KeychainSyncCore

/// Of two machines that remove each other, the log cannot tell which one was stolen. So nothing is sealed for either of them until a person
/// has removed one, or has said that it stays.
extension RingState {
    /// About what nobody has decided on this machine. A machine that was removed has nothing to decide.
    var undecided: [Ring.Contest.Subject: Ring.Contest] {
        guard isMember else { return [:] }
        return replica.ring.contests.filter { !notices.isDecided($0.key) }
    }

    var undecidedFindings: [SyncFinding] { undecided.values.flatMap(replica.ring.findings) }

    /// - Throws: `unavailable` while somebody has to decide.
    func checkDecided() throws(KeychainError) {
        if !undecided.isEmpty { throw .undecidedRing }
    }

    /// They are shown as long as nobody has decided, whatever has become of the notices. A removal decides too.
    mutating func noteUndecided(at now: UInt64) {
        notices.keepContests(undecidedFindings)
        notices.note(undecidedFindings, at: now)
    }

    /// Notes that a person lets members stay.
    fileprivate mutating func decide(_ members: Set<MemberID>) throws {
        let subjects = undecided.filter { !$0.value.targets.isDisjoint(with: members) }
        let all = subjects.values.reduce(into: Set<MemberID>()) { $0.formUnion($1.targets) }
        guard members.isSubset(of: all) else { throw KeychainError.decidedAlready }
        guard all.isSubset(of: members) else {
            throw KeychainError.moreToDecide(
                all.subtracting(members).sorted().compactMap { replica.ring.members[$0]?.card })
        }
        notices.decide(subjects.keys)
        let returned = subjects.keys.compactMap { if case .returned(let member) = $0 { member } else { nil } }
        try replica.setReturned(replica.log.returned.subtracting(returned))
    }
}

extension RingMember {
    /// Lets machines stay in the ring that another one has removed, and exchanges: this machine seals items for them again.
    ///
    /// This is decided on this machine only. A stolen machine could say it for itself too.
    ///
    /// - Parameter members: All machines that the same removals would put out: a person has looked at each of them.
    /// - Throws: `itemNotFound` if nobody has to decide about one of them; `invalidParameter` if another one is missing. Nothing was decided
    ///   then. If the exchange fails, the decision is stored, and the error says so.
    package func keep(_ members: [MemberID]) async throws(KeychainError) -> ExchangeReport {
        var report = ExchangeReport()
        _ = try await take(&report) { state, _ in
            guard !state.isPaused else { throw KeychainError.pausedSync }
            try state.decide(Set(members))
            return []
        }
        do throws(KeychainError) {
            report.add(try await exchange())
        } catch {
            throw .stored("The decision is stored.", error)
        }
        return report
    }
}

extension KeychainError {
    static let undecidedRing = KeychainError(
        .unavailable,
        "A machine of the ring has removed another one, and that was undone. Which of them is lost or stolen is for you to decide. Changes "
            + "of this machine are kept, and not sent until then. To see what to do, run: keychainctl sync status")
    fileprivate static func moreToDecide(_ others: [MemberCard]) -> KeychainError {
        let names = others.map { "'\($0.name)' (\($0.id.hex.prefix(8)))" }.joined(separator: ", ")
        return KeychainError(
            .invalidParameter,
            "The same removals concern \(names). Nothing was changed. Name all of these machines if they are to stay; first remove those that "
                + "are lost or stolen: keychainctl sync remove")
    }

    fileprivate static let decidedAlready = KeychainError(
        .itemNotFound,
        "Nobody has to decide whether this machine stays in the ring. Nothing was changed. To see the ring, run: keychainctl sync status"
    )
}
