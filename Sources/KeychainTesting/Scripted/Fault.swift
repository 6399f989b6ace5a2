// SPDX-License-Identifier: Apache-2.0
// The ways in which a call of a scripted store can go wrong.

public import KeychainEngine

extension ScriptedStore {
    /// The effect on a call, before or instead of its normal work.
    public enum Fault: Hashable, Sendable {
        /// The item's class is locked.
        case locked
        /// The user cancelled the question.
        case cancelled
        /// The user could not be authenticated.
        case denied
        /// The item requires authentication, and the user may not be asked.
        case interactionNotAllowed
        /// The call takes that long and then works normally.
        case slow(Duration)
        /// The call blocks its thread until ``ScriptedStore/release()`` or ``ScriptedStore/reset()``.
        case neverAnswers
        /// The disk is full; nothing was written.
        case full
        /// The store cannot be written.
        case readOnly
        /// Another process holds the store.
        case busy
        /// The call reached its timeout.
        case timedOut
        /// A search counts the items that it found as damaged and returns none of them. Every other call fails as
        /// `corrupt`.
        case corruptItem
        /// The program may not use the access group.
        case missingEntitlement
        /// The store is not available.
        case unavailable
        /// Reading or writing failed.
        case inputOutput
        /// Any other failure, thrown as given.
        case failure(KeychainError)
    }
}

extension ScriptedStore.Fault {
    var blocks: Bool { self == .neverAnswers || duration != nil }

    /// How long the call is blocked at most; `nil` for no limit.
    var duration: Duration? {
        if case .slow(let duration) = self { duration } else { nil }
    }

    /// The error with which the call ends; `nil` for faults without one.
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
