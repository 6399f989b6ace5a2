// SPDX-License-Identifier: Apache-2.0
// Calls to connect, one after another, and the cleanup after a failure.

#if LGTVControl
    import Foundation

    extension LGTVControlManager {
        /// Connects, or enters a code. Only one such call runs at a time.
        nonisolated(nonsending) func attempt<Result: Sendable>(
            _ body: @escaping @Sendable (Attempt) async throws -> Result
        ) async throws -> Result {
            let attempt = Attempt(manager: self, era: session.era)
            try await session.turns.take()
            defer { session.turns.give() }
            do {
                return try await session.run(since: attempt.era) { try await body(attempt) }
            } catch {
                throw conclude(error, attempt.era)
            }
        }

        /// Removes a connection that is only partly set up.
        ///
        /// - Returns: The error for the caller.
        private func conclude(_ error: any Error, _ era: Int) -> any Error {
            if Task.isCancelled || session.era == era, let error = error as? ControlError, error.leavesAllAsItIs {
                return error
            }
            guard session.era == era else { return Task.isCancelled ? CancellationError() : ControlError.notConnected }
            session.drop()
            board.note(error is CancellationError ? .disconnected : .error(words(for: error)))
            board.share()
            return error is Declined ? ControlError.pairingFailed : error
        }

        private func words(for error: any Error) -> String {
            guard let declined = error as? Declined else { return PrintableText.reason(of: error) }
            let sentence = ControlError.pairingFailed.localizedDescription
            return declined.words.isEmpty ? sentence : "\(sentence). The TV says: \(declined.words)"
        }

        /// Called when the other side has closed a connection, or it broke.
        func hasLost(_ connection: Connection) {
            let isOurs = session.with { state in
                guard state.link?.connection === connection || state.wait?.registration.connection === connection
                else { return false }
                (state.link, state.wait) = (nil, nil)
                board.note(.disconnected)
                return true
            }
            // Not on the event loop, which all connections share, because it writes a file.
            if isOurs { Task { [board] in board.share() } }
        }
    }

    extension LGTVControlManager.ControlError {
        /// Whether a call with this outcome leaves everything as it is, so that another code can be entered.
        fileprivate var leavesAllAsItIs: Bool { self == .missingCredentials || self == .invalidPairingCode }
    }
#endif
