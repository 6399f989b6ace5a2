// SPDX-License-Identifier: Apache-2.0
// Registers this program with a television, by its key or by asking the person in front of it.

#if LGTVControl
    import Foundation

    /// The person declined, or the television declined for them.
    struct Declined: Error {
        /// The text of the television.
        let words: String
        /// Whether the person was asked.
        let wasAsked: Bool
    }

    struct Registration: Sendable {
        enum Outcome: Sendable {
            case registered(key: String)
            /// The television asks for a code before it answers. The code is empty if the television only shows it.
            case wantsCode(String, Inquiry)
        }

        /// A registration that waits for its answer.
        struct Inquiry: Sendable {
            let id: String
            let inbox: Inbox<Message>
            /// The key that was sent.
            let key: String?
            /// The text that must not be shown if the television repeats it.
            let hidden: String?
        }

        let connection: Connection
        let options: LGTVControlManager.Options
        /// Called when the television asks the person in front of it.
        let whenAsked: @Sendable () -> Void

        /// - Parameter key: `nil`: the person is asked in any case.
        /// - Throws: ``Declined``, ``ConnectionError``, or `CancellationError`.
        nonisolated(nonsending) func run(key: String?) async throws -> Outcome {
            do {
                return try await once(key, hiding: key)
            } catch let declined as Declined {
                // The key is not valid any more. The only remaining step is to ask without it.
                guard key != nil, !declined.wasAsked else { throw declined }
                return try await once(nil, hiding: key)
            }
        }

        /// Continues a registration for which a person has entered a code.
        ///
        /// - Throws: `ControlError.invalidPairingCode`, and as ``run(key:)``.
        nonisolated(nonsending) func enter(_ code: String, _ inquiry: Inquiry) async throws -> Outcome {
            let parameters = try Requests.parameters(["pin": code])
            let answer = try await connection.ask(
                "ssap://pairing/setPin", parameters, by: .now + options.requestTimeout)
            if answer.isRefusal { throw LGTVControlManager.ControlError.invalidPairingCode }
            return try await outcome(of: inquiry)
        }

        private nonisolated(nonsending) func once(_ key: String?, hiding hidden: String?) async throws -> Outcome {
            let (id, inbox) = connection.expectAnswers(toRegistration: true)
            connection.send(try Requests.register(id, key: key))
            return try await outcome(of: Inquiry(id: id, inbox: inbox, key: key, hidden: hidden))
        }

        private nonisolated(nonsending) func outcome(of inquiry: Inquiry) async throws -> Outcome {
            var deadline = ContinuousClock.now + options.requestTimeout
            var wasAsked = false
            while true {
                let late: ConnectionError = wasAsked ? .nobodyAccepted : .noAnswer
                switch try await inquiry.inbox.next(by: deadline, late: late).step(hiding: inquiry.hidden) {
                case .registered(let key):
                    connection.stopExpecting(inquiry.id)
                    return .registered(key: try Self.checked(key ?? inquiry.key))
                case .declined(let words):
                    connection.stopExpecting(inquiry.id)
                    throw Declined(words: words, wasAsked: wasAsked)
                case .wantsCode(let code): return .wantsCode(code, inquiry)
                case .asks where !wasAsked:
                    (wasAsked, deadline) = (true, .now + options.promptTimeout)
                    whenAsked()
                case .asks, .nothing: break
                }
            }
        }

        /// The limit is longer than any key, and short enough to store.
        private static func checked(_ key: String?) throws(ConnectionError) -> String {
            guard let key, !key.isEmpty, key.utf8.count <= 1 << 16 else { throw .noKey }
            return key
        }
    }

    extension Message {
        /// The meaning of a message for a registration.
        fileprivate enum Step {
            case registered(String?)
            case asks
            case wantsCode(String)
            case declined(String)
            case nothing
        }

        fileprivate func step(hiding key: String?) -> Step {
            if isRefusal { return .declined(PrintableText.of(error ?? "", hiding: key)) }
            if type == "registered" { return .registered(clientKey) }
            guard type == "response" else { return .nothing }
            if let clientKey { return .registered(clientKey) }
            if let code { return .wantsCode(PrintableText.of(code)) }
            switch pairingType {
            case "PIN": return .wantsCode("")
            case nil: return .nothing
            default: return .asks
            }
        }
    }

    extension ConnectionError {
        static let nobodyAccepted = ConnectionError(
            .timedOut, "The request was not accepted on the TV in time. Connect again, and accept it there.")
        static let noKey = ConnectionError(
            .invalidResponse, "The TV accepted the request, but sent no valid key. Connect again.")
    }
#endif
