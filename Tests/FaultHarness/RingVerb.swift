// SPDX-License-Identifier: Apache-2.0
// What a machine does to its ring: the verbs of `keychainctl sync`, and what a person does after one has failed.

import Foundation
import KeychainSync
import KeychainVault
import SecretMemory

/// One verb, which is killed or fails at some call.
struct RingVerb: Sendable {
    /// What the machines have in the end.
    struct End: Sendable {
        var items = Exchanging.expected
        /// Any of these, each machine as often as it is a member.
        var machines = [["desktop", "laptop"]]
        var exchanging = ["laptop", "desktop"]
    }

    let name: String
    /// Makes what is there before, in a process of its own.
    let prepare: @Sendable (Exchanging) throws -> Void
    /// What fails.
    ///
    /// - Returns: The code or key that a person is shown.
    let run: @Sendable (Exchanging) async throws -> String?
    /// What a person does after a failure. Nothing fails then.
    let again: @Sendable (Exchanging) async throws -> String?
    /// What another machine does meanwhile.
    var beside: (@Sendable (Exchanging, Meeting) async throws -> Void)?
    /// Holds as soon as the verb has succeeded, whether or not the machine does anything more.
    var promise: @Sendable (Exchanging) throws -> String? = { _ in nil }
    /// What machines do afterwards; it gets what the person was shown.
    var afterwards: @Sendable (Exchanging, String?) throws -> String? = { _, _ in nil }
    var end = End()
    /// Whether the other machine answers what has come before the verb is repeated.
    var isWatched = false
    /// Whether calls that only read are hit too.
    var isHitAtReads = false

    static let all = [
        exchange, found, invite, join, admit, approve, remove, rotate, snapshot, repair, recoveryKey, recover, leave,
    ]

    static func named(_ name: String) throws -> RingVerb {
        guard let verb = all.first(where: { $0.name == name }) else {
            throw HarnessError("there is no verb '\(name)'; there are \(all.map { $0.name })")
        }
        return verb
    }
}

/// Where the harness and what another machine does meanwhile wait for each other.
final class Meeting: Sendable {
    private let isReady = DispatchSemaphore(value: 0)
    private let state = Guarded((rounds: 0, isOver: false))

    var isOver: Bool { state.withLock { $0.isOver } }

    /// The other machine has done what the verb needs.
    func ready() { isReady.signal() }

    func end() { state.withLock { $0.isOver = true } }

    /// The other machine has looked once more.
    func looked() { state.withLock { $0.rounds += 1 } }

    func untilReady() throws {
        guard isReady.wait(timeout: .now() + 60) == .success else {
            throw HarnessError("the other machine is not ready")
        }
    }

    /// Waits until the other machine has seen everything that is there now.
    func untilSeen() throws {
        let wanted = state.withLock { $0.rounds } + 2
        for _ in 0..<60_000 {
            if state.withLock({ $0.rounds }) >= wanted { return }
            usleep(1000)
        }
        throw HarnessError("the other machine does not look")
    }
}

extension SecretBytes {
    var plainText: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

    convenience init(plainText text: String) {
        self.init(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
    }
}
