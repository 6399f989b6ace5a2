// SPDX-License-Identifier: Apache-2.0
// An open WebSocket to a television, and the requests that wait for answers.

#if LGTVControl
    import Foundation
    import NIOCore
    import NIOWebSocket
    import Synchronization

    final class Connection: Sendable {
        private struct State {
            var count = 0
            var inboxes: [String: Inbox<Message>] = [:]
            /// Receives messages without an identifier: some televisions omit it in messages about pairing.
            var registration: String?
            /// The last request was not answered, and no message has arrived since.
            var isSilent = false
            var end: ConnectionError?
            var whenEnded: (@Sendable () -> Void)?
        }

        /// A message of a television has some hundred bytes, and a list of its programs some ten thousand.
        static let messageLimit = 1 << 20

        /// The certificate of the television, in DER; `nil` if the connection is not encrypted.
        let certificate: Data?
        private let channel: any Channel
        private let state = Mutex(State())

        init(_ channel: any Channel, certificate: Data?) { (self.channel, self.certificate) = (channel, certificate) }

        // MARK: - Talking

        /// Returns the inbox in which the answers to a new request arrive.
        func expectAnswers(toRegistration isRegistration: Bool = false) -> (id: String, inbox: Inbox<Message>) {
            let inbox = Inbox<Message>()
            return state.withLock { state in
                state.count += 1
                let id = "\(isRegistration ? "register" : "request")_\(state.count)"
                if let end = state.end { inbox.end(end) } else { state.inboxes[id] = inbox }
                if isRegistration { state.registration = id }
                return (id, inbox)
            }
        }

        func stopExpecting(_ id: String) { state.withLock { _ = $0.inboxes.removeValue(forKey: id) } }

        /// Does not wait. A caller that expects an answer detects that it is missing.
        func send(_ message: Data) {
            let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: ByteBuffer(bytes: message))
            channel.writeAndFlush(frame, promise: nil)
        }

        /// Sends a request and waits for its answer.
        nonisolated(nonsending) func ask(
            _ uri: String, _ parameters: Data?, by deadline: ContinuousClock.Instant
        ) async throws -> Message {
            let (id, inbox) = expectAnswers()
            defer { stopExpecting(id) }
            send(try Requests.request(id, uri, parameters))
            do {
                return try await inbox.next(by: deadline, late: ConnectionError.noAnswer)
            } catch let error as ConnectionError where error.reason == .timedOut {
                state.withLock { $0.isSilent = true }
                throw error
            }
        }

        // MARK: - Listening

        /// Receives a message of the television. A message that no caller waits for is dropped.
        func receive(_ bytes: Data) {
            guard let message = Message(bytes) else { return end(.notJSON) }
            let inbox = state.withLock { state in
                state.isSilent = false
                return (message.id ?? state.registration).flatMap { state.inboxes[$0] }
            }
            if let inbox, !inbox.put(message) { end(.tooMany) }
        }

        // MARK: - Ending

        /// A television that loses its power does not close the connection, so silence counts as well.
        var isAlive: Bool { state.withLock { $0.end == nil && !$0.isSilent } }

        /// Calls the closure once when the connection ends, or immediately if it has ended already.
        func whenEnded(_ body: @escaping @Sendable () -> Void) {
            let hasEnded = state.withLock { state in
                if state.end == nil { state.whenEnded = body }
                return state.end != nil
            }
            if hasEnded { body() }
        }

        /// Closes the connection. Callers that still wait receive the error.
        func end(_ error: ConnectionError) {
            let (inboxes, whenEnded): ([Inbox<Message>], (@Sendable () -> Void)?) = state.withLock { state in
                guard state.end == nil else { return ([], nil) }
                state.end = error
                defer { (state.inboxes, state.whenEnded) = ([:], nil) }
                return (Array(state.inboxes.values), state.whenEnded)
            }
            for inbox in inboxes { inbox.end(error) }
            channel.close(promise: nil)
            whenEnded?()
        }
    }

    extension ConnectionError {
        static let noAnswer = ConnectionError(.timedOut, "The TV did not answer in time. Try again, or connect again.")
        static let closedByTV = ConnectionError(.connectionLost, "The TV ended the connection. Connect again.")
        static let closedHere = ConnectionError(.connectionLost, "The connection to the TV was closed. Connect again.")
        static let notJSON = ConnectionError(
            .invalidResponse, "The TV sent something that is not JSON; the connection was closed. Connect again.")
        static let tooMany = ConnectionError(
            .invalidResponse, "The TV sent more answers than were asked for; the connection was closed.")
    }
#endif
