// SPDX-License-Identifier: Apache-2.0
// What a manager is connected to, and what it is about to be.

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
            /// How often everything was ended from outside: who began before that is not to go on.
            var era = 0
            var link: Link?
            var wait: Wait?
            /// Ends what is under way.
            var cancel: (@Sendable () -> Void)?
        }

        private let state = Mutex(State())
        /// Connecting and entering codes come one after the other: two prompts at once would be answered as one.
        let turns = Turns()

        /// Reads or changes it; nothing in here may wait.
        func with<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
            try state.withLock { try body(&$0) }
        }

        var era: Int { state.withLock { $0.era } }

        /// Ends the connection and whatever is under way.
        func end() {
            let cancel = state.withLock { state in
                state.era += 1
                defer { state.cancel = nil }
                return state.cancel
            }
            cancel?()
            drop()
        }

        /// Closes the connection. Nobody is told that it was lost: it is forgotten before.
        func drop() {
            let connections = state.withLock { state in
                defer { (state.link, state.wait) = (nil, nil) }
                return [state.link?.connection, state.wait?.registration.connection]
            }
            for connection in connections { connection?.end(.closedHere) }
        }

        /// Runs something that can be ended from outside.
        ///
        /// - Parameter era: When it was asked for.
        /// - Throws: `ControlError.notConnected` if all was ended since.
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
