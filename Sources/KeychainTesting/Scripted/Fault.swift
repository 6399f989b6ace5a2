// SPDX-License-Identifier: Apache-2.0
// The ways in which a call of a scripted store can go wrong.

public import KeychainEngine

extension ScriptedStore {
    /// What happens to a call in place of, or before, what should happen.
    public enum Fault: Hashable, Sendable {
        /// The item's class is closed.
        case locked
        /// The person broke the question off.
        case cancelled
        /// The person could not prove who they are.
        case denied
        /// The item asks for the user, and nobody may be asked.
        case interactionNotAllowed
        /// The call takes that long and then does what it should.
        case slow(Duration)
        /// The call blocks its thread until ``ScriptedStore/release()`` or ``ScriptedStore/reset()``.
        case neverAnswers
        /// The disk is full; nothing was written.
        case full
        /// The store cannot be written.
        case readOnly
        /// Another process holds the store.
        case busy
        /// Something took longer than it may.
        case timedOut
        /// A search counts what it found as damaged and returns none of it; every other call fails as `corrupt`.
        case corruptItem
        /// The program may not use the access group.
        case missingEntitlement
        /// There is no store to be had.
        case unavailable
        /// Reading or writing failed.
        case inputOutput
        /// Any other failure, thrown as it is.
        case failure(KeychainError)
    }
}

extension ScriptedStore.Fault {
    var blocks: Bool { self == .neverAnswers || duration != nil }

    /// How long the call is blocked at most.
    var duration: Duration? {
        if case .slow(let duration) = self { duration } else { nil }
    }

    /// The failure that the call ends with; `nil` for faults that are none.
    var error: KeychainError? {
        switch self {
        case .slow, .neverAnswers: nil
        case .locked: .locked
        case .interactionNotAllowed: .interactionNotAllowed
        case .corruptItem: .damagedItem
        case .cancelled: Self.scripted(.cancelled)
        case .denied: Self.scripted(.authenticationFailed)
        case .full: Self.scripted(.diskFull)
        case .readOnly: Self.scripted(.readOnly)
        case .busy: Self.scripted(.busy)
        case .timedOut: Self.scripted(.timedOut)
        case .missingEntitlement: Self.scripted(.missingEntitlement)
        case .unavailable: Self.scripted(.unavailable)
        case .inputOutput: Self.scripted(.inputOutput)
        case .failure(let error): error
        }
    }

    private static func scripted(_ reason: KeychainError.Reason) -> KeychainError {
        KeychainError(reason, "The test's script lets this call fail as '\(reason.rawValue)'.")
    }
}
