// SPDX-License-Identifier: Apache-2.0
// Leaving a ring, with nothing lost that the others do not have.

package import KeychainEngine
import KeychainSyncCore
import KeychainVault

extension RingMember {
    /// Sends what was changed here, and removes the state of the ring from the vault. All items remain.
    ///
    /// - Parameter isGivingUp: Whether changes that are not sent are given up. No other machine will know of them, and what was deleted
    ///   here comes back if this machine joins again.
    /// - Throws: `unavailable` if the vault is in no ring; the error of the exchange if something was not sent; `locked`; `cancelled`.
    package func leave(withoutSending isGivingUp: Bool = false) async throws(KeychainError) {
        var cause: KeychainError?
        if !isGivingUp {
            do throws(KeychainError) {
                _ = try await exchange()
            } catch {
                if [.cancelled, .locked].contains(error.reason) { throw error }
                cause = error
            }
        }
        let refusal = isGivingUp ? nil : KeychainError.unsentChanges(cause)
        try await blocking { [self] () throws(KeychainError) in try forget(ifUnsent: refusal) }
    }

    /// Whether a change of this machine waits that a later exchange would send. A state that cannot be read sends nothing, and neither
    /// does a machine that was removed, or only reads.
    func hasUnsent(_ transaction: RingTransaction) throws(KeychainError) -> Bool {
        let state: RingState?
        do throws(KeychainError) {
            state = try RingState.load(transaction, known: known)
        } catch {
            if [.corrupt, .itemNotFound, .newerFormat].contains(error.reason) { return false }
            throw error
        }
        guard var state, state.isMember, state.mayWrite else { return false }
        var items = ItemExchange(transaction, now, hidden: state.hidden)
        _ = try items.takeOutgoing(&state.replica)
        return state.replica.unpublishedCount > 0
    }
}

extension KeychainError {
    /// - Parameter cause: Why they were not sent. It is still the reason: a full disk is no carrier that cannot be reached.
    fileprivate static func unsentChanges(_ cause: KeychainError?) -> KeychainError {
        KeychainError(
            cause?.reason ?? .unavailable,
            "Changes of this machine have not been sent to the others, so it is still in its ring. To leave without sending them, use "
                + "'keychainctl sync leave --without-sending'. "
                + (cause?.message ?? "To see how many there are, run: keychainctl sync status"))
    }
}
