// SPDX-License-Identifier: Apache-2.0
// Decides whether a change is committed or its call ends: one of the two comes first.

import SecretMemory

/// Decides between the end of a call and the commit of its change.
///
/// The caller's side closes the gate when a call times out or is cancelled. The store enters the gate directly before
/// it commits. So a change is never committed after its call ended with `timedOut` or `cancelled`, and a call whose
/// change is being committed reports the result of the commit.
///
/// ```swift
/// try authorization.gate?.enter()  // in a store, when all of the change is ready
/// defer { authorization.gate?.leave() }
/// commit()
/// ```
public final class CommitGate: Sendable {
    private enum State {
        case open
        case committing
        /// The gate was asked to close during a commit. It closes when the commit is over.
        case closing(KeychainError)
        case closed(KeychainError)
    }

    private let state = Guarded(State.open)

    public init() {}

    /// Ends the call, unless its change is being committed now.
    ///
    /// - Parameter error: The error that ``check()`` and ``enter()`` throw from now on.
    /// - Returns: `false` while a change is being committed: wait for the result of the commit and report that. No
    ///   further change begins in that case either.
    public func close(_ error: KeychainError) -> Bool {
        state.withLock { state in
            switch state {
            case .open:
                state = .closed(error)
                return true
            case .committing:
                state = .closing(error)
                return false
            case .closing: return false
            case .closed: return true
            }
        }
    }

    /// For a store that waits for something, and for calls that have several steps.
    ///
    /// - Throws: The error with which the call ended.
    public func check() throws(KeychainError) {
        try state.withLock { (state) throws(KeychainError) in
            switch state {
            case .open, .committing: return
            case .closing(let error), .closed(let error): throw error
            }
        }
    }

    /// Call this directly before a commit. The call does not end until ``leave()``.
    ///
    /// - Throws: The error with which the call ended; the change must not be committed.
    public func enter() throws(KeychainError) {
        try state.withLock { (state) throws(KeychainError) in
            switch state {
            case .open, .committing: state = .committing
            case .closing(let error), .closed(let error): throw error
            }
        }
    }

    /// Call this after a commit, whether it succeeded or failed. Without ``enter()`` it has no effect.
    public func leave() {
        state.withLock { state in
            switch state {
            case .committing: state = .open
            case .closing(let error): state = .closed(error)
            case .open, .closed: return
            }
        }
    }
}
