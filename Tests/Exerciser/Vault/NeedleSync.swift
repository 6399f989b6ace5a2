// SPDX-License-Identifier: Apache-2.0
// Operations on a ring, and the ways in which each may end.

import Foundation
import KeychainCrypto
import KeychainSync
import KeychainSyncCore
import KeychainVault
import SecretMemory

extension Needles {
    private var ring: NeedleRing { NeedleRing(vault: vault) }

    func useRing() async throws {
        // Cancelling ends an operation before its next step.
        let steps = ["sync-found": 1, "sync-exchange": 3, "sync-remove": 1, "sync-join-recovery": 1][operation] ?? 0
        guard outcome == "cancelled" else { return try await whileWriterIsLocked { try await useRingOnce() } }
        let task = Task { try await useRingOnce() }
        if steps == 0 { task.cancel() } else { cancel(task, atCommit: steps) }
        let result = await task.result
        PausePoint.observe(nil)
        try result.get()
    }

    private func cancel(_ task: Task<Void, any Error>, atCommit number: Int) {
        let commits = Guarded(0)
        PausePoint.observe { point in
            guard point == .beforeCommit else { return }
            let count = commits.withLock { count in
                count += 1
                return count
            }
            if count == number { task.cancel() }
        }
    }

    /// Another writer writes all the time, if the operation should time out. Joining waits for a machine instead.
    private func whileWriterIsLocked(_ body: () async throws -> Void) async throws {
        guard outcome == "timed-out", operation != "sync-join" else { return try await body() }
        let lock = WriterLock(vault)
        defer { lock.release() }
        try await body()
    }

    private func useRingOnce() async throws {
        let member = RingMember(vault)
        switch operation {
        case "sync-found": _ = try await member.found(name: "own", at: ring.place)
        case "sync-invite": try ring.tell(try await member.invite(name: "third", for: .seconds(3600)))
        case "sync-join": try await join(member)
        case "sync-join-recovery": try await joinByRecoveryKey(member)
        case "sync-exchange": try await exchange(member)
        case "sync-remove": try await remove(member)
        case "sync-restore": try await restore(member)
        case "sync-recovery-key": try ring.tell(try await member.addRecoveryKey())
        default: exit(64)
        }
    }

    private func join(_ member: RingMember) async throws {
        var code = ring.takeCode(InvitationCode.byteCount)
        if outcome == "error" {
            code = Planted.key(9).withUnsafeBytes { SecretBytes(copying: .init(rebasing: $0[..<13])) }
        }
        let wait: Duration = outcome == "timed-out" ? .milliseconds(100) : .seconds(900)
        _ = try await member.join(code, at: ring.place, wait: wait, interval: .milliseconds(5))
        guard try ring.has("arriving") else { exit(66) }
    }

    private func joinByRecoveryKey(_ member: RingMember) async throws {
        guard case .key(var key) = RecoveryKey.read(ring.takeCode(69)) else { exit(66) }
        if outcome == "error" { key = Planted.key(9) }
        _ = try await member.join(recoveryKey: key, name: "own", at: ring.place)
        guard try ring.has("arriving") else { exit(66) }
    }

    private func exchange(_ member: RingMember) async throws {
        guard try await member.exchange().applied == 1, try ring.has("arriving") else { exit(66) }
    }

    private func remove(_ member: RingMember) async throws {
        let others = try await member.status().members.filter { !$0.isThisMachine }
        _ = try await member.remove(outcome == "error" ? [MemberID([])] : others.map(\.id))
    }

    private func restore(_ member: RingMember) async throws {
        let hidden = try await member.versions(includingKept: true).filter { $0.state != .shown }
        guard hidden.count == 1 else { exit(66) }
        try await member.restore(outcome == "error" ? "00000000" : hidden[0].id)
    }
}
