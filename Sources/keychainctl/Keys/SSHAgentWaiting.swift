// SPDX-License-Identifier: Apache-2.0
// Answers of an SSH agent that wait for hardware, such as a TPM that does not answer.

import Foundation
import KeychainKit
import SecretMemory

/// An answer, or how to make it on another thread.
enum SSHAgentAnswer {
    typealias Work = @Sendable () -> Result<Data, KeychainError>

    case now(Data)
    case later(Work)
}

/// Makes such answers one after the other, on a thread of its own: the hardware does one thing at a time. Meanwhile the agent serves
/// its other connections.
final class SSHAgentWaiting {
    private struct Request {
        let connection: Int32
        var answer: Result<Data, KeychainError>?
    }

    private let queue = DispatchQueue(label: "answers of ssh-agent that wait for hardware")
    /// By their numbers: the system gives the descriptor of a connection that has ended to another one.
    private let requests = Guarded<[Int: Request]>([:])
    private var count = 0

    var isEmpty: Bool { requests.withLock { $0.isEmpty } }

    /// A connection gets its answer before its next message is read.
    func contains(_ connection: Int32) -> Bool {
        requests.withLock { $0.values.contains { $0.connection == connection } }
    }

    func start(_ work: @escaping SSHAgentAnswer.Work, for connection: Int32) {
        count += 1
        let (number, requests) = (count, requests)
        requests.withLock { $0[number] = Request(connection: connection) }
        queue.async {
            // The client may have hung up while others had their turn.
            guard requests.withLock({ $0[number] != nil }) else { return }
            let answer = work()
            requests.withLock { $0[number]?.answer = answer }
        }
    }

    /// Call it when the connection has ended.
    func forget(_ connection: Int32) {
        requests.withLock { $0 = $0.filter { $0.value.connection != connection } }
    }

    /// The answers that are made now. Each is returned once.
    func take() -> [(connection: Int32, answer: Result<Data, KeychainError>)] {
        requests.withLock { requests in
            let made = requests.filter { $0.value.answer != nil }
            for number in made.keys { requests[number] = nil }
            return made.values.compactMap { request in request.answer.map { (request.connection, $0) } }
        }
    }
}
