// SPDX-License-Identifier: Apache-2.0
// Values that are not shown, and rings whose machines are lost.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainSyncCore
import KeychainTestSupport
import KeychainVault
import SecretMemory
import Testing

@testable import KeychainSync

extension RingMemberTests {
    /// Two machines that have changed one item at the same time, and have exchanged.
    func conflict() async throws -> (Machine, Machine) {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "0")
        try await laptop.exchange()
        try await desktop.exchange()
        try laptop.update("a", "laptop")
        try desktop.update("a", "desktop")
        for _ in 0..<2 {
            try await laptop.exchange()
            try await desktop.exchange()
        }
        return (laptop, desktop)
    }

    @Test func concurrentValue_isListedAndCanBeShownOnAllMachines() async throws {
        let (laptop, desktop) = try await conflict()
        let shown = try laptop.items()
        let versions = try await laptop.member.versions(includingKept: false)
        #expect(versions.map(\.state) == [.shown, .concurrent])
        #expect(Set(versions.map(\.machine)) == ["laptop", "desktop"])
        #expect(versions.allSatisfy { $0.item?.attributes[.account] == .string("a") && $0.item?.value == nil })
        try await laptop.member.restore(versions[1].id)
        #expect(try laptop.items() == (shown == ["a=laptop"] ? ["a=desktop"] : ["a=laptop"]))
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == laptop.items())
        #expect(try await desktop.member.status().conflicts == 0)
        // What was shown before can be restored in turn.
        let former = try #require(
            try await laptop.member.versions(includingKept: true).last { $0.id == versions[0].id })
        try await laptop.member.restore(former.id)
        #expect(try laptop.items() == shown)
    }

    @Test func valueThatLost_isKeptAfterTheNextWriteAndCanBeRestored() async throws {
        let (laptop, desktop) = try await conflict()
        let lost = try await laptop.member.versions(includingKept: false)[1]
        try desktop.update("a", "both")
        try await desktop.exchange()
        try await laptop.exchange()
        #expect(try laptop.items() == ["a=both"])
        for machine in [laptop, desktop] {
            #expect(try await machine.member.versions(includingKept: false).isEmpty)
            let kept = try await machine.member.versions(includingKept: true)
            #expect(kept.map(\.id).contains(lost.id))
            #expect(try await machine.member.status().kept == 1)
        }
        // Another process has only what is stored.
        let again = RingMember(laptop.vault)
        try await again.restore(lost.id)
        #expect(try laptop.items() == ["a=" + lost.machine])
    }

    /// It receives the values that were written at the same time, and the one that replaced both, in one exchange.
    @Test func valueThatLost_isKeptAlsoByAMachineThatNeverListedIt() async throws {
        let (laptop, desktop) = try await conflict()
        let server = try await join("server", by: laptop)
        try await desktop.exchange()
        try laptop.update("a", "laptop again")
        try desktop.update("a", "desktop again")
        try await laptop.exchange()
        try await desktop.exchange()
        let lost = try await desktop.member.versions(includingKept: false)[1]
        try desktop.update("a", "both")
        try await desktop.exchange()
        try await server.exchange()
        #expect(try server.items() == ["a=both"])
        #expect(try await server.member.versions(includingKept: true).map(\.id).contains(lost.id))
    }

    @Test func versionThatIsNotThere_isNotFound() async throws {
        let (laptop, _) = try await pair()
        let error = await #expect(throws: KeychainError.self) { try await laptop.member.restore("00000000") }
        #expect(error?.reason == .itemNotFound)
    }

    @Test func valueWhosePlaceIsTaken_isNotRestoredAndNothingChanges() async throws {
        let (laptop, desktop) = try await conflict()
        let lost = try await laptop.member.versions(includingKept: false)[1]
        try laptop.delete("a")
        try await laptop.exchange()
        try await desktop.exchange()
        try addUnshared("a", "mine", to: laptop)
        let error = await #expect(throws: KeychainError.self) { try await laptop.member.restore(lost.id) }
        #expect(error?.reason == .duplicateItem)
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == [])
        #expect(try await laptop.member.versions(includingKept: true).map(\.id).contains(lost.id))
    }

    @Test func recordWhoseKeyIsMissing_saysSo() throws {
        let sample = Sample()
        let replica = try Replica(keys: sample.keys, log: sample.log, keyring: Keyring(ring: sample.ringKeys))
        let record = try sample.record("a", counter: 1)
        #expect(throws: Refusal.noKey) { try replica.item(of: record) }
    }

    // MARK: - Recovery

    private func recoveryKey(_ text: SecretBytes) throws -> SecretBytes {
        guard case .key(let key) = RecoveryKey.read(text) else { throw KeychainError(.corrupt, "No recovery key.") }
        return key
    }

    @Test func ringWhoseMachinesAreLost_isEnteredWithItsRecoveryKey() async throws {
        let laptop = try await founder(["a": "1"])
        #expect(try await !laptop.member.status().hasRecoveryKey)
        let text = try await laptop.member.addRecoveryKey()
        try await laptop.exchange()
        #expect(try await laptop.member.status().hasRecoveryKey)
        let tablet = try Machine(folder.path, "tablet")
        _ = try await tablet.member.join(recoveryKey: try recoveryKey(text), name: "tablet", at: place)
        #expect(try tablet.items() == ["a=1"])
        // And if the others come back, they are heard.
        try laptop.add("b", "2")
        try await laptop.exchange()
        try await tablet.exchange()
        #expect(try tablet.items() == ["a=1", "b=2"])
        #expect(try await laptop.member.status().members.map(\.name).sorted() == ["laptop", "recovery key", "tablet"])
    }

    @Test func recoveryKeyOfAnotherRing_opensNone() async throws {
        _ = try await founder(["a": "1"])
        let tablet = try Machine(folder.path, "tablet")
        let error = await #expect(throws: KeychainError.self) {
            _ = try await tablet.member.join(recoveryKey: RecoveryKey.make(), name: "tablet", at: place)
        }
        #expect(error?.reason == .itemNotFound)
        #expect(try !tablet.vault.isInRing)
    }

    @Test func ringOfANewerFormat_isToldFromOneWithoutTheRecoveryKey() async throws {
        let laptop = try await founder(["a": "1"])
        let text = try await laptop.member.addRecoveryKey()
        try await laptop.exchange()
        let ring = try #require(try await laptop.member.rings(at: place).first)
        let carrier = FolderCarrier(folder.path + "/shared", ring: ring)
        let wraps = try await carrier.list().names.filter { if case .wrap = $0 { true } else { false } }
        for object in try await carrier.read(Array(wraps)).objects {
            var bytes = object.bytes
            bytes[bytes.startIndex + 4] = 200
            try await carrier.remove([object.name])
            _ = try await carrier.publish(object.name, bytes)
        }
        let tablet = try Machine(folder.path, "tablet")
        let error = await #expect(throws: KeychainError.self) {
            _ = try await tablet.member.join(recoveryKey: try recoveryKey(text), name: "tablet", at: place)
        }
        #expect(error?.reason == .newerFormat)
    }

    /// New keys are made when a machine is removed. The folder has lost those for the recovery key.
    @Test func recoveryKey_whoseNewestWrapIsLost_isToldFromOneOfNoRing() async throws {
        let (laptop, desktop) = try await pair()
        let text = try await laptop.member.addRecoveryKey()
        try await laptop.exchange()
        let members = try await laptop.member.status().members
        let paper = try #require(members.first { $0.role == .recovery }).id
        let lost = try #require(members.first { $0.name == desktop.name }).id
        _ = try await laptop.member.remove([lost])
        let ring = try #require(try await laptop.member.rings(at: place).first)
        let carrier = FolderCarrier(folder.path + "/shared", ring: ring)
        let wraps = try await carrier.list().names.filter { if case .wrap(_, paper) = $0 { true } else { false } }
        try #require(wraps.count > 1)
        try await carrier.remove([try #require(wraps.max())])
        let tablet = try Machine(folder.path, "tablet")
        let error = await #expect(throws: KeychainError.self) {
            _ = try await tablet.member.join(recoveryKey: try recoveryKey(text), name: "tablet", at: place)
        }
        #expect(error?.reason == .unavailable && error?.message.contains("newest keys are missing there") == true)
        #expect(try !tablet.vault.isInRing)
    }

    @Test func recoveryKeyThatWasRemoved_opensNothingAnyMore() async throws {
        let laptop = try await founder(["a": "1"])
        let text = try await laptop.member.addRecoveryKey()
        try await laptop.exchange()
        let paper = try #require(try await laptop.member.status().members.first { $0.name == "recovery key" })
        _ = try await laptop.member.remove([paper.id])
        let tablet = try Machine(folder.path, "tablet")
        await #expect(throws: KeychainError.self) {
            _ = try await tablet.member.join(recoveryKey: try recoveryKey(text), name: "tablet", at: place)
        }
        #expect(try tablet.items() == [])
    }

    @Test func repair_losesNothingAndIsHeard() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try laptop.add("b", "2")
        _ = try await laptop.member.repair()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1", "b=2"])
        try laptop.update("a", "3")
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=3", "b=2"])
    }
}
