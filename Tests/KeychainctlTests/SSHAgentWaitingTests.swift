// SPDX-License-Identifier: Apache-2.0
// Clients of `ssh-agent` beside one whose key is in hardware that does not answer.

import Foundation
import KeychainKit
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainKeyStore
@testable import KeychainKeys
@testable import keychainctl

@Suite("ssh-agent beside hardware that does not answer")
struct SSHAgentWaitingTests {
    /// The message for which the hardware is needed; each other one is answered at once.
    private static let slow: UInt8 = 1
    private static let (slowAnswer, fastAnswer) = (Data([6]), Data([7]))

    /// A client that has sent a message of one byte.
    private final class Client {
        private let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)

        init(_ path: String, sending message: UInt8) throws {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(result == 0)
            try #require(write(descriptor, [0, 0, 0, 1, message], 5) == 5)
        }

        deinit { close(descriptor) }

        var hasAnswer: Bool {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0) > 0
        }

        /// Without its length.
        func answer() -> Data {
            guard hasAnswer else { return Data() }
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = read(descriptor, &bytes, bytes.count)
            return Data(bytes.prefix(max(0, count)).dropFirst(4))
        }
    }

    /// Runs the agent until a client has an answer.
    private static func serve(_ agent: SSHAgentSocket, _ client: Client, _ hardware: DispatchSemaphore) throws {
        let end = ContinuousClock.now + .testLimit
        try agent.serve(
            until: { client.hasAnswer || .now > end },
            { message in
                guard message.withUnsafeBytes({ $0[0] }) == slow else { return .now(fastAnswer) }
                return .later {
                    _ = hardware.wait(timeout: .now() + 60)
                    return .success(slowAnswer)
                }
            },
            finish: { (try? $0.get()) ?? Data() })
    }

    @Test func client_besideOneThatWaitsForHardware_isServed() throws {
        let (folder, hardware) = (try TemporaryFolder("agent"), DispatchSemaphore(value: 0))
        let agent = try SSHAgentSocket(folder.path + "/socket")
        let waiting = try Client(agent.path, sending: Self.slow)
        let other = try Client(agent.path, sending: 2)
        try Self.serve(agent, other, hardware)
        #expect(other.answer() == Self.fastAnswer)
        #expect(!waiting.hasAnswer)
        hardware.signal()
        try Self.serve(agent, waiting, hardware)
        #expect(waiting.answer() == Self.slowAnswer)
    }

    /// The system gives its descriptor to the next client.
    @Test func answer_forAClientThatHungUp_isNotThatOfTheNextOne() throws {
        let (waiting, hardware) = (SSHAgentWaiting(), DispatchSemaphore(value: 0))
        waiting.start(
            {
                _ = hardware.wait(timeout: .now() + 60)
                return .success(Self.slowAnswer)
            }, for: 7)
        waiting.forget(7)
        waiting.start({ .success(Self.fastAnswer) }, for: 7)
        hardware.signal()
        var answers: [Data] = []
        try waitUntil("the answer of the next client") {
            answers += try waiting.take().map { try $0.answer.get() }
            return waiting.isEmpty
        }
        #expect(answers == [Self.fastAnswer])
    }

    /// A key that opens only later, as one of a TPM.
    private struct HardwareKey: SSHAgentKeys {
        let key: PrivateKey

        func identities() throws(KeychainError) -> [SSHAgentList.Identity] { [] }
        func key(_ encoding: Data) throws(KeychainError) -> OpenSigningKey? { nil }
        func opening(_ encoding: Data) throws(KeychainError) -> Opening? {
            let key = key
            return { () throws(KeychainError) in .software(key) }
        }
    }

    @Test func signature_ofAKeyInHardware_isMadeLater() throws {
        let key = try PrivateKey.generate(.ed25519, sizeInBits: 256)
        let answers = SSHAgentAnswers(
            HardwareKey(key: key), added: SSHAgentAddedKeys(), confirm: { (_) throws(KeychainError) in false },
            complain: { _ in })
        var request = SSHMessageWriter(SSHAgentRequest.sign.rawValue)
        request.string(try #require(key.publicKey.sshEncoding))
        request.string(Data("data".utf8))
        request.number(0)
        let message = request.message.withUnsafeBytes { SecretBytes(copying: $0) }
        guard case .later(let work) = answers.reply(to: message) else {
            Issue.record("It was made at once.")
            return
        }
        #expect(try work().get().first == 14)
    }
}
