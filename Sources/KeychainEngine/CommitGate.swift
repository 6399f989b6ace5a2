// SPDX-License-Identifier: Apache-2.0
// Decides whether a change is committed or its call ends: one of the two comes first.

import Synchronization

/// Where the end of a call and the commit of its change meet.
///
/// The caller side closes the gate when a timeout is over or the call is cancelled; the store enters it directly before it
/// commits. So a call that ended with `timedOut` or `cancelled` is never carried out later, and a change that is being
/// committed is reported as what becomes of it.
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
        /// Somebody wanted to close the gate meanwhile; it closes when the commit is over.
        case closing(KeychainError)
        case closed(KeychainError)
    }

    private let state = Mutex(State.open)

    public init() {}

    /// Ends the call, unless a change is being committed just now.
    ///
    /// - Parameter error: What everything throws from now on that asks the gate.
    /// - Returns: `false` while a change is being committed: wait for the outcome, which a commit has soon, and report that.
    ///   No further change begins then either.
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

    /// For a store that waits for something, and for calls that consist of several steps.
    ///
    /// - Throws: What the call has ended with.
    public func check() throws(KeychainError) {
        try state.withLock { (state) throws(KeychainError) in
            switch state {
            case .open, .committing: return
            case .closing(let error), .closed(let error): throw error
            }
        }
    }

    /// Directly before a commit: until ``leave()`` the call does not end.
    ///
    /// - Throws: What the call has ended with; then nothing must be committed.
    public func enter() throws(KeychainError) {
        try state.withLock { (state) throws(KeychainError) in
            switch state {
            case .open, .committing: state = .committing
            case .closing(let error), .closed(let error): throw error
            }
        }
    }

    /// After a commit that worked or failed; without effect if none had begun.
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
