// SPDX-License-Identifier: Apache-2.0
// Machines that one machine has removed, and that are still in the ring.

package import KeychainEngine
package import KeychainSyncCore

/// Of two machines that remove each other, the log cannot tell which one was stolen. So nothing is sealed for either of them until a person
/// has removed one, or has said that it stays.
extension RingState {
    /// Whom nobody has decided about on this machine, by the member whose removal does not count.
    var undecided: [MemberID: MemberID] {
        replica.ring.contests.filter { !notices.decided.contains($0.key) }
    }

    /// - Throws: `unavailable` while somebody has to decide.
    func checkDecided() throws(KeychainError) {
        if !undecided.isEmpty { throw .undecidedRing }
    }

    /// They are shown as long as nobody has decided, whatever has become of the notices.
    mutating func noteUndecided(at now: UInt64) {
        let members = replica.ring.members
        let findings = undecided.compactMap { author, target in
            members[author].flatMap { author in
                members[target].map { Finding.contested($0.card, by: author.card) }
            }
        }
        notices.note(findings, at: now)
    }
}

extension RingMember {
    /// Lets machines stay in the ring that another one has removed, and exchanges: this machine seals items for them again.
    ///
    /// This is decided on this machine only. A stolen machine could say it for itself too.
    ///
    /// - Throws: `itemNotFound` if nobody has to decide about one of them; nothing was decided then. If the exchange fails, the decision is
    ///   stored, and the error says so.
    package func keep(_ members: [MemberID]) async throws(KeychainError) -> ExchangeReport {
        var report = ExchangeReport()
        _ = try await take(&report) { state, _ in
            guard !state.isPaused else { throw KeychainError.pausedSync }
            let undecided = state.undecided
            guard Set(members).isSubset(of: undecided.values) else { throw KeychainError.decidedAlready }
            state.notices.decide(undecided.filter { members.contains($0.value) }.keys)
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
        "A machine of the ring has removed another one, but was removed itself. Which of them is lost or stolen is for you to decide. Changes "
            + "of this machine are kept, and not sent until then. To see what to do, run: keychainctl sync status")
    fileprivate static let decidedAlready = KeychainError(
        .itemNotFound,
        "Nobody has to decide whether this machine stays in the ring. Nothing was changed. To see the ring, run: keychainctl sync status"
    )
}
