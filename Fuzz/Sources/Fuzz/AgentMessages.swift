// SPDX-License-Identifier: Apache-2.0
// What clients may send to `keychainctl ssh-agent`.

import Foundation
import KeychainKit
import SecretMemory

@testable import KeychainKeyStore
@testable import keychainctl

enum AgentMessages {
    /// A vault without keys: what clients add is enough to sign with.
    private struct NoKeys: SSHAgentKeys {
        func identities() throws(KeychainError) -> [(encoding: Data, comment: String)] { [] }
        func key(_ encoding: Data) throws(KeychainError) -> OpenSigningKey? { nil }
    }

    /// One agent. The input advances the clock and answers the questions.
    private final class Session {
        private static let lock: UInt8 = 22
        private static let unlock: UInt8 = 23
        private static let success = Data([6])

        var input: FuzzInput
        private var time = ContinuousClock.now
        private lazy var added = SSHAgentAddedKeys { [unowned self] in time }
        private lazy var agent = SSHAgentAnswers(
            NoKeys(), added: added,
            confirm: { [unowned self] (_) throws(KeychainError) in
                time += .seconds(Int(input.byte()))
                return input.byte() & 1 == 1
            }, complain: { require(!$0.isEmpty, "a complaint says something") })

        init(_ input: FuzzInput) { self.input = input }

        func answer(_ message: Data) {
            // A wrong passphrase makes the agent wait.
            guard message.first != Self.unlock else { return }
            let answer = agent.answer(to: message.secret)
            require([5, 6, 12, 14].contains(answer.first ?? 0), "an answer is one of four kinds")
            require(answer.count == 1 || answer.first ?? 0 > 6, "success and failure are one byte")
            require(added.all.count <= SSHAgentAddedKeys.most, "the number of keys is limited")
            require(listLength <= SSHAgentAddedKeys.longestList, "the bytes of keys in the list are limited")
            if message.first == Self.lock, answer == Self.success { unlock(message.dropFirst()) }
            time += .milliseconds(Int(input.byte()))
        }

        private var listLength: Int { added.all.reduce(0) { $0 + $1.listedLength } }

        private func unlock(_ passphrase: Data) {
            require(agent.answer(to: Data([11]).secret) == Data([12, 0, 0, 0, 0]), "a locked agent has no keys")
            let answer = agent.answer(to: (Data([Self.unlock]) + passphrase).secret)
            require(answer == Self.success, "a passphrase opens what it locked")
        }

        /// The keys are still what they were, and each of them is listed.
        func end() {
            let list = agent.answer(to: Data([11]).secret)
            require(list.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) } == added.all.count, "keys are listed")
            for key in added.all where !key.needsConfirmation {
                require(key.key.publicKey.sshEncoding == key.encoding, "a key has the name of its public half")
                require((try? key.key.loaded()) != nil, "a key that was added can be used")
            }
        }
    }

    /// Messages, each with its length in two bytes; also the whole input as one.
    static func messages(_ bytes: Data) {
        Session(FuzzInput(Data())).answer(bytes)
        let session = Session(FuzzInput(bytes))
        while !session.input.isEmpty { session.answer(session.input.block()) }
        session.end()
    }
}
