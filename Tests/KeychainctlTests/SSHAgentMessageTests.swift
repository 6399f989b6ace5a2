// SPDX-License-Identifier: Apache-2.0
// Messages that no honest client sends to `ssh-agent`: cut, with sizes that lie, with unknown constraints.

import Foundation
import KeychainKeyStore
import KeychainKit
import SecretMemory
import Testing

@testable import KeychainKeys
@testable import keychainctl

@Suite("messages to ssh-agent", .enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
struct SSHAgentMessageTests {
    private static let types = ["ed25519", "ecdsa -b 256", "ecdsa -b 384", "ecdsa -b 521", "rsa -b 2048"]
    private static let failure = Data([5])
    private static let success = Data([6])
    private static let comment = "comment"

    /// An agent over a vault without keys.
    private final class Agent {
        private struct NoKeys: SSHAgentKeys {
            func identities() throws(KeychainError) -> [(encoding: Data, comment: String)] { [] }
            func key(_ encoding: Data) throws(KeychainError) -> OpenSigningKey? { nil }
        }

        var time = ContinuousClock.now
        var isAllowed = true
        var questions: [[String]] = []
        var complaints: [String] = []
        var whileAsked: () -> Void = {}
        private(set) lazy var added = SSHAgentAddedKeys { [unowned self] in time }
        private lazy var answers = SSHAgentAnswers(
            NoKeys(), added: added,
            confirm: { [unowned self] (lines) throws(KeychainError) in
                questions.append(lines)
                whileAsked()
                return isAllowed
            }, complain: { [unowned self] in complaints.append($0) })

        func answer(_ message: Data) -> Data {
            answers.answer(to: message.withUnsafeBytes { SecretBytes(copying: $0) })
        }

        var count: Int { answer(Data([11])).dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) } }
    }

    private static func string(_ bytes: Data) -> Data {
        withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Data($0) } + bytes
    }

    /// A key as ssh-add sends it, without its comment: a file of ssh-keygen has the same bytes.
    private static func key(_ type: String) throws -> Data {
        let run = try Tool().shell("ssh-keygen -q -t \(type) -N '' -C \(comment) -f key && cat key")
        let lines = run.text.split(separator: "\n").filter { !$0.hasPrefix("-") }
        let file = try #require(Data(base64Encoded: lines.joined()))
        let end = try #require(file.range(of: string(Data(comment.utf8)), options: .backwards)).lowerBound
        let name = type == "ed25519" ? "ssh-ed25519" : type.hasPrefix("rsa") ? "ssh-rsa" : "ecdsa-sha2-"
        // The first one is that of the public half.
        let start = try #require(file.range(of: Data(name.utf8), options: .backwards)).lowerBound - 4
        return Data(file[start..<end])
    }

    private static func adding(_ key: Data, _ constraints: [UInt8]? = nil) -> Data {
        Data([constraints == nil ? 17 : 25]) + key + string(Data(comment.utf8)) + Data(constraints ?? [])
    }

    /// The message that asks for a signature of the only key.
    private static func signing(_ agent: Agent) -> Data {
        let list = agent.answer(Data([11])).dropFirst(5)
        let length = list.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return Data([13]) + list.prefix(4 + length) + string(Data("data".utf8)) + Data([0, 0, 0, 4])
    }

    // MARK: - Cut, and lying

    @Test(arguments: types)
    func keyToAdd_cutAtAnyLength_isAFailureAndAddsNothing(type: String) throws {
        let (agent, message) = (Agent(), Self.adding(try Self.key(type)))
        for length in 0..<message.count { #expect(agent.answer(message.prefix(length)) == Self.failure, "\(length)") }
        #expect(agent.answer(message + [0]) == Self.failure)
        #expect(agent.count == 0)
        #expect(agent.answer(message) == Self.success && agent.count == 1)
    }

    @Test func keyToAddWithConstraints_cutAtAnyLength_isAFailureUnlessAConstraintEndsThere() throws {
        let key = try Self.key("ed25519")
        let (bare, message) = (Self.adding(key).count, Self.adding(key, [2, 1, 0, 0, 0, 9]))
        for length in 0...message.count {
            let isWhole = [bare, bare + 1, bare + 6].contains(length)
            #expect(Agent().answer(message.prefix(length)) == (isWhole ? Self.success : Self.failure), "\(length)")
        }
    }

    /// Four bytes at each place become the largest size, the largest that is positive, none, and one more.
    @Test(arguments: types)
    func keyToAdd_withSizesThatLie_isAnswered(type: String) throws {
        let message = Self.adding(try Self.key(type))
        // To check the numbers of an RSA key takes long.
        let step = type.hasPrefix("rsa") ? 3 : 1
        for index in stride(from: 1, to: message.count - Self.comment.utf8.count - 3, by: step) {
            let last = message[index + 3]
            for lie in [[0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0], [0, 0, 1, last &+ 1]] {
                let changed = message.prefix(index) + Data(lie) + message.dropFirst(index + 4)
                guard changed != message else { continue }
                #expect(Agent().answer(changed) == Self.failure, "\(index) \(lie)")
            }
        }
    }

    @Test func otherMessages_cutAtAnyLength_areFailures() throws {
        let agent = Agent()
        try #require(agent.answer(Self.adding(Self.key("ed25519"))) == Self.success)
        let signing = Self.signing(agent)
        let removing = Data([18]) + signing.dropFirst().prefix(4 + 51)
        let locking = Data([22]) + Self.string(Data("passphrase".utf8))
        for message in [signing, removing, locking] {
            for length in 0..<message.count {
                #expect(agent.answer(message.prefix(length)) == Self.failure, "\(length)")
            }
            #expect(agent.answer(message + [0]) == Self.failure)
            var lying = message
            lying.replaceSubrange(1..<5, with: [0xFF, 0xFF, 0xFF, 0xFF])
            #expect(agent.answer(lying) == Self.failure)
        }
        #expect(agent.answer(Data([19, 0])) == Self.failure)
        #expect(agent.count == 1 && agent.answer(signing).first == 14)
        #expect(agent.answer(removing) == Self.success && agent.answer(removing) == Self.failure)
    }

    @Test(arguments: [0...10, 12...12, 14...16, 20...21, 23...24, 26...255] as [ClosedRange<UInt8>])
    func message_ofAnotherKind_isAFailure(kinds: ClosedRange<UInt8>) {
        let agent = Agent()
        for kind in kinds {
            for rest in [[], [0, 0, 0, 0], [UInt8](repeating: 0xFF, count: 100)] {
                #expect(agent.answer(Data([kind] + rest)) == Self.failure, "\(kind)")
            }
        }
    }

    @Test(arguments: [(1024, false), (2040, false), (2048, true)])
    func rsaKeyToAdd_below2048Bits_isRefusedAndTold(bits: Int, isAdded: Bool) throws {
        let agent = Agent()
        #expect(agent.answer(Self.adding(try Self.key("rsa -b \(bits)"))) == (isAdded ? Self.success : Self.failure))
        #expect((agent.complaints.first?.contains("\(bits) bits") == true) == !isAdded, "\(agent.complaints)")
    }

    // MARK: - Constraints

    private static let extensionName = Array("restrict-destination-v00@openssh.com".utf8)

    @Test(
        arguments: [
            [1, 0, 0, 0, 0], [1, 0, 0, 0, 9, 1, 0, 0, 0, 9], [2, 2], [3, 0, 0, 0, 1], [0], [4], [2, 255],
            [255, 0, 0, 0, UInt8(extensionName.count)] + extensionName + [0, 0, 0, 0],
        ] as [[UInt8]])
    func constraint_thatCannotBeEnforced_refusesTheKey(constraints: [UInt8]) throws {
        let agent = Agent()
        #expect(agent.answer(Self.adding(try Self.key("ed25519"), constraints)) == Self.failure)
        #expect(agent.count == 0 && agent.complaints.first?.contains("constraints") == true)
    }

    @Test func key_atTheEndOfItsLifetime_isGone() throws {
        let agent = Agent()
        try #require(agent.answer(Self.adding(Self.key("ed25519"), [1, 0, 0, 0, 9])) == Self.success)
        let signing = Self.signing(agent)
        agent.time += .seconds(9) - .nanoseconds(1)
        #expect(agent.count == 1 && agent.answer(signing).first == 14)
        agent.time += .nanoseconds(1)
        #expect(agent.answer(signing) == Self.failure && agent.count == 0)
    }

    @Test func key_whoseLifetimeEndsWhileTheUserIsAsked_isNotUsed() throws {
        let agent = Agent()
        try #require(agent.answer(Self.adding(Self.key("ed25519"), [2, 1, 0, 0, 0, 9])) == Self.success)
        let signing = Self.signing(agent)
        #expect(agent.answer(signing).first == 14)
        agent.whileAsked = { agent.time += .seconds(9) }
        #expect(agent.answer(signing) == Self.failure && agent.questions.count == 2)
    }

    @Test func key_ofACommentWithControlCharacters_isAskedAboutWithoutThem() throws {
        let (agent, key) = (Agent(), try Self.key("ed25519"))
        #expect(agent.answer(Data([25]) + key + Self.string(Data("a\u{1B}[2Jb\nc".utf8)) + [2]) == Self.success)
        agent.isAllowed = false
        #expect(agent.answer(Self.signing(agent)) == Self.failure)
        #expect(agent.questions.first?.first == "Allow use of key 'a\\u{1b}[2Jb\\nc'?")
    }

    // MARK: - Limits

    @Test func keys_aboveTheLimit_areRefused() throws {
        let added = SSHAgentAddedKeys()
        for _ in 0..<SSHAgentAddedKeys.most { try added.add(.generate(.ed25519), "", SSHAgentConstraints()) }
        let one = try PrivateKey.generate(.ed25519)
        #expect(throws: KeychainError.self) { try added.add(one, "", SSHAgentConstraints()) }
        added.removeAll()
        try added.add(one, "", SSHAgentConstraints())
        #expect(added.all.count == 1)
    }

    @Test func key_ofAVeryLongComment_isRefused() throws {
        let (agent, key) = (Agent(), try Self.key("ed25519"))
        for (length, answer) in [(1024, Self.success), (1025, Self.failure), (200_000, Self.failure)] {
            #expect(agent.answer(Data([17]) + key + Self.string(Data(repeating: 0x78, count: length))) == answer)
        }
    }

    /// `\u{7}` has five bytes.
    @Test func key_whoseCommentIsTooLongOnceItIsEscaped_isRefused() throws {
        let (agent, key) = (Agent(), try Self.key("ed25519"))
        for (length, answer) in [(204, Self.success), (205, Self.failure), (1024, Self.failure)] {
            #expect(agent.answer(Data([17]) + key + Self.string(Data(repeating: 7, count: length))) == answer)
        }
    }

    /// The public half of an RSA key of 8192 bits, whose private half nobody looks at: to generate one takes long.
    private static func largeKey(_ number: UInt8) throws -> PrivateKey {
        let modulus = [0x80 | number] + [UInt8](repeating: 0xFF, count: 1023)
        let numbers = DERNode.sequence(.unsigned(modulus), .unsigned([1, 0, 1])).encoded
        return PrivateKey(try PublicKey(.rsa, numbers), SecretBytes(count: 1) { _ in })
    }

    /// OpenSSH's clients refuse a list above 256 KiB, so these keys would hide all others.
    @Test(arguments: ["", String(repeating: "x", count: 1024), String(repeating: "\u{7}", count: 204)])
    func largeKeys_withMoreBytesThanAListMayHave_areRefusedAndTheOthersListed(comment: String) throws {
        let agent = Agent()
        var accepted = 0
        for number in 0..<UInt8(SSHAgentAddedKeys.most) {
            let key = try Self.largeKey(number)
            do {
                try agent.added.add(key, comment, SSHAgentConstraints())
                accepted += 1
            } catch {
                #expect(error.reason == .tooLarge)
            }
        }
        #expect((1..<SSHAgentAddedKeys.most).contains(accepted) && agent.count == accepted)
        #expect(agent.answer(Data([11])).count <= SSHAgentAddedKeys.longestList + 5)
        // A key that is there already takes the room of itself.
        try agent.added.add(Self.largeKey(0), comment, SSHAgentConstraints())
        #expect(agent.count == accepted)
    }
}
