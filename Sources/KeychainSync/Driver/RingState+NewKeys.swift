// SPDX-License-Identifier: Apache-2.0
// What becomes of this machine in its ring when its vault was restored, or has new keys.

import Foundation
import KeychainEngine
import KeychainSyncCore

extension RingState {
    /// A vault that was restored, or copied to another machine, may have lost count of what it has published. Whatever it publishes
    /// under the same numbers would never reach a machine that has the other.
    mutating func noticeRestoration(_ incarnation: Data, at now: UInt64) -> [Effect] {
        guard self.incarnation != incarnation else { return [] }
        let effects = self.incarnation.isEmpty ? [] : replica.startAgain(at: now)
        if !self.incarnation.isEmpty { mayLackNewKeys = true }
        // Without the keys of a class it has not started again, and tries at the next step.
        let isDone = effects.allSatisfy { if case .found(.startedAgain) = $0 { true } else { false } }
        if isDone { self.incarnation = incarnation }
        return effects
    }

    /// - Throws: `missingEntitlement` while this machine has keys in the ring that an older copy of its vault has too.
    func checkKeys() throws(KeychainError) {
        if isReaderWithFormerKeys { throw .readerWithFormerKeys }
    }

    /// Changes of the ring wait for new keys. Under the former ones they do not count if the ring has newer ones of this machine already.
    ///
    /// - Throws: `unavailable` while these keys cannot be replaced yet.
    func checkRenewed() throws(KeychainError) {
        if isRenewalPostponed { throw .notRenewed }
    }

    /// A vault gets new keys so that an older copy of it opens nothing that is stored later. The copy also holds this machine's keys in
    /// the ring, so these are replaced before anything else is sent.
    ///
    /// Without the newest key of the ring this has to wait: the key may come in this step, or in a later one. Nothing is sealed until then.
    /// A vault that was restored waits until it has seen the ring. If its machine has new keys there already, others in their place would
    /// put it out, and all that it has let in since.
    ///
    /// A reader may add no member, not even itself under other keys. It goes on receiving, and says what to do.
    mutating func noticeNewKeys(_ generation: UInt32, at now: UInt64) throws(KeychainError) -> [Effect] {
        (isRenewalPostponed, isReaderWithFormerKeys) = (false, false)
        guard keyGeneration != generation, replica.ring.isActive(replica.member) else { return [] }
        guard !mayLackNewKeys else {
            isRenewalPostponed = true
            return []
        }
        do {
            let effects = keyGeneration == 0 ? [] : try replica.renewIdentity(at: now)
            if keyGeneration != 0 {
                // The former member's snapshots are not used any more, and the others may lack what only they stand for. So this machine
                // waits for nobody's turn.
                neededSince = 1
                // The copy has their codes.
                withdrawInvitations { _ in true }
            }
            keyGeneration = generation
            return effects
        } catch Refusal.notAMember {
            isReaderWithFormerKeys = true
            return []
        } catch Refusal.noKey {
            isRenewalPostponed = true
            return []
        } catch {
            throw KeychainError(exchange: error)
        }
    }
}

extension KeychainError {
    fileprivate static let notRenewed = KeychainError(
        .unavailable,
        "The vault has new keys, and this machine has not replaced its own in the ring yet. Nothing was changed. First run: "
            + "keychainctl sync now. If a key of the ring has not arrived here, run it on the other machines before")
    fileprivate static let readerWithFormerKeys = KeychainError(
        .missingEntitlement,
        "The vault has new keys, and a machine that only reads cannot replace its own in the ring. It still receives, and an older copy of "
            + "the vault does too. To get new keys, run here: keychainctl sync leave; then: keychainctl sync join. Items that are here "
            + "then count as changed here: delete them, and the ring brings its own. Then remove the former machine on another one: "
            + "keychainctl sync remove")
}
