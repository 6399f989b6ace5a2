// SPDX-License-Identifier: Apache-2.0
// Leaving a ring, with nothing lost that the others do not have.

package import KeychainEngine
import KeychainSyncCore
import KeychainVault

extension RingMember {
    /// Sends what was changed here, removes the state of the ring from the vault, and withdraws the open invitations of this machine,
    /// which nobody could answer any more. All items remain.
    ///
    /// - Parameter isGivingUp: Whether changes that are not sent are given up. No other machine will know of them, and what was deleted
    ///   here comes back if this machine joins again.
    /// - Returns: The invitations that may still be on the carrier, because it fails, or the state of the ring could not be read; `nil` if
    ///   none is. This machine has left all the same.
    /// - Throws: `unavailable` if the vault is in no ring, or if this machine was removed and a value of its own is not shown; the error of
    ///   the exchange if something was not sent; `locked`; `cancelled`.
    @discardableResult
    package func leave(withoutSending isGivingUp: Bool = false) async throws(KeychainError) -> RemainingInvitations? {
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
        let former = try await blocking { [self] () throws(KeychainError) in try removeState(ifUnsent: refusal) }
        // Not before: if this machine stays, its codes stay valid. Its task may be cancelled.
        return await Task { await removeInvitations(of: former) }.value
    }

    /// - Returns: Those that could not be removed.
    private func removeInvitations(of former: Result<RingState, KeychainError>) async -> RemainingInvitations? {
        var open: [ObjectName]?
        do throws(KeychainError) {
            let state = try former.get()
            open = state.invitations.values.map(\.objectName).sorted()
            guard !state.invitations.isEmpty else { return nil }
            let carrier = try carrier(of: state)
            let names = try await carrier.listing().names.filter(state.isOfInvitation)
            // The state may have others that were never published, or are removed already.
            open = Set(names.compactMap(\.invitation)).map(ObjectName.invitation).sorted()
            try await carrier.removing(names.sorted())
            return nil
        } catch {
            return RemainingInvitations(names: open, cause: error)
        }
    }

    /// The state of the ring, for the last time.
    ///
    /// - Parameter isNeeded: Whether this machine must not leave if the state can be read later. One that can never be read sends nothing.
    func formerState(
        _ transaction: RingTransaction, isNeeded: Bool
    ) throws(KeychainError) -> Result<RingState, KeychainError> {
        do throws(KeychainError) {
            guard let state = try RingState.load(transaction, known: known) else { throw .notInRing }
            return .success(state)
        } catch {
            guard isNeeded, ![.corrupt, .itemNotFound, .newerFormat].contains(error.reason) else {
                return .failure(error)
            }
            throw error
        }
    }

    /// Checks that nothing of this machine is lost with the state of its ring.
    ///
    /// - Parameter refusal: Thrown if a change waits that a later exchange would send.
    /// - Throws: `unavailable` if this machine was removed and a value of its own lost against one of another machine.
    func checkNothingIsLost(
        _ state: RingState, _ transaction: RingTransaction, refusal: KeychainError
    ) throws(KeychainError) {
        // The others may never have had such a value, and the state of the ring alone has it here.
        guard state.isMember || !state.replica.hasHiddenValues else { throw .losersOfRemovedMachine }
        if try hasUnsent(state, transaction) { throw refusal }
    }

    /// Whether a change of this machine waits that a later exchange would send. A machine that was removed, or only reads, sends nothing.
    private func hasUnsent(_ state: RingState, _ transaction: RingTransaction) throws(KeychainError) -> Bool {
        guard state.isMember, state.mayWrite else { return false }
        var (items, replica) = (ItemExchange(transaction, now, hidden: state.hidden), state.replica)
        _ = try items.takeOutgoing(&replica)
        return replica.unsentCount > 0
    }
}

/// Invitations that a machine that has left could not remove from the carrier. Their codes let nobody in.
package struct RemainingInvitations: Sendable {
    /// `nil` if the state of the ring could not be read: there may be none.
    let names: [ObjectName]?
    package let cause: KeychainError

    package var count: Int? { names?.count }

    /// What to do about them. Others lie beside them that are open.
    package var advice: String {
        guard let names, !names.isEmpty else { return "They may stay there." }
        let list = names.map { "'\($0.text)'" }.joined(separator: ", ")
        return "They may stay there. To remove them, remove only what has names that begin with: \(list)"
    }
}

extension RingState {
    /// Whether an object is an invitation of this machine, or asks by one.
    fileprivate func isOfInvitation(_ name: ObjectName) -> Bool {
        name.invitation.map { invitations[$0] != nil } ?? false
    }
}

extension ObjectName {
    /// The invitation that it is, or that it asks by.
    fileprivate var invitation: InvitationID? {
        switch self {
        case .invitation(let id), .request(let id, _): id
        default: nil
        }
    }
}

extension KeychainError {
    fileprivate static let losersOfRemovedMachine = KeychainError(
        .unavailable,
        "This machine was removed from the ring, and values that it has written are not shown, because another machine wrote the same "
            + "items later. The others may not have them, so the ring was not left. To list them, run: keychainctl sync conflicts. To show "
            + "one here: keychainctl sync restore ID. To give them up: keychainctl sync leave --without-sending")

    /// - Parameter cause: Why they were not sent. It is still the reason: a full disk is no carrier that cannot be reached.
    fileprivate static func unsentChanges(_ cause: KeychainError?) -> KeychainError {
        KeychainError(
            cause?.reason ?? .unavailable,
            "Changes of this machine have not been sent to the others, so it is still in its ring. To leave without sending them, use "
                + "'keychainctl sync leave --without-sending'. "
                + (cause?.message ?? "To see how many there are, run: keychainctl sync status"))
    }
}
