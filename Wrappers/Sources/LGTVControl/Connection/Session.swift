// SPDX-License-Identifier: Apache-2.0
// The connection of a manager, and the call that is establishing one.

#if LGTVControl
    import Synchronization

    final class Session: Sendable {
        /// A television that knows this program.
        struct Link: Sendable {
            let connection: Connection
            let credentials: TVCredentials
        }

        /// A television that waits for a code.
        struct Wait: Sendable {
            let registration: Registration
            let inquiry: Registration.Inquiry
            let pairing: Pairing
            let stored: Pairing?
            let code: String
        }

        struct State {
            /// How often everything was ended from outside. Calls that began before the last time must not continue.
            var era = 0
            var link: Link?
            var wait: Wait?
            /// Cancels the call in progress.
            var cancel: (@Sendable () -> Void)?
        }

        private let state = Mutex(State())
        /// Only one call connects or enters a code at a time: a person would answer two prompts at once as one.
        let turns = Turns()

        /// Reads or changes the state; the body must not wait.
        func with<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
            try state.withLock { try body(&$0) }
        }

        var era: Int { state.withLock { $0.era } }

        /// Ends the connection and the call in progress.
        func end() {
            let cancel = state.withLock { state in
                state.era += 1
                defer { state.cancel = nil }
                return state.cancel
            }
            cancel?()
            drop()
        }

        /// Closes the connection. It is removed first, so its end is not reported as a loss.
        func drop() {
            let connections = state.withLock { state in
                defer { (state.link, state.wait) = (nil, nil) }
                return [state.link?.connection, state.wait?.registration.connection]
            }
            for connection in connections { connection?.end(.closedHere) }
        }

        /// Runs work that can be ended from outside.
        ///
        /// - Parameter era: The value of `era` when the caller asked.
        /// - Throws: `ControlError.notConnected` if everything was ended since.
        nonisolated(nonsending) func run<Result: Sendable>(
            since era: Int, _ body: @escaping @Sendable () async throws -> Result
        ) async throws -> Result {
            let task: Task<Result, any Error>? = state.withLock { state in
                guard state.era == era else { return nil }
                let task = Task { try await body() }
                state.cancel = { task.cancel() }
                return task
            }
            guard let task else { throw LGTVControlManager.ControlError.notConnected }
            defer { state.withLock { if $0.era == era { $0.cancel = nil } } }
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }
#endif
