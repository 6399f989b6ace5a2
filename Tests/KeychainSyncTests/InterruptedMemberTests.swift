// SPDX-License-Identifier: Apache-2.0
// Machines that are interrupted while they enter a ring, and try again.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainSyncCore
import KeychainTestSupport
import KeychainVault
import SecretMemory
import Testing

@testable import KeychainSync

struct InterruptedMemberTests {
    private let folder: TemporaryFolder
    private let place: CarrierPlace
    private let carriers = InterruptedFolders()
    private let laptop: Machine
    private let desktop: Machine

    init() async throws {
        folder = try TemporaryFolder("keychain-interrupted")
        try FileManager.default.createDirectory(atPath: folder.path + "/shared", withIntermediateDirectories: true)
        place = .folder(folder.path + "/shared")
        laptop = try Machine(folder.path, "laptop")
        desktop = try Machine(folder.path, "desktop", kinds: [carriers])
        try laptop.add("a", "1")
        _ = try await laptop.member.found(name: "laptop", at: place)
    }

    private func members(_ machine: Machine) async throws -> [String] {
        try await machine.member.status().members.map(\.name).sorted()
    }

    /// The other machine admits this one, which does not learn of it.
    private func joinInterrupted(_ code: SecretBytes) async throws {
        carriers.interrupt(at: { if case .request = $0 { true } else { false } }) { [laptop] in
            let admitted = try await laptop.exchange().admitted
            #expect(admitted.count == 1)
        }
        let error = await #expect(throws: KeychainError.self) { try await desktop.member.join(code, at: place) }
        #expect(error?.reason == .inputOutput)
        #expect(try !desktop.vault.isInRing)
    }

    private func hasAskingKeys(_ code: SecretBytes) throws -> Bool {
        guard case .invitation(let id) = Joiner(code: code, keys: .make()).objectName else {
            throw KeychainError(.corrupt, "The object of an invitation has another name.")
        }
        return try desktop.vault.inRing { (ring) throws(KeychainError) in try AskingKeysItem.read(id, ring) != nil }
    }

    private func join(_ code: SecretBytes, wait: Duration = .zero) async throws {
        let again = try Machine(folder.path, "desktop")
        _ = try await again.member.join(code, at: place, wait: wait)
    }

    @Test func machineThatWasAdmittedWhileItWasInterrupted_entersAsTheSameMember() async throws {
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        try await joinInterrupted(code)
        // The invitation is over.
        try await join(code)
        #expect(try desktop.items() == ["a=1"])
        try await laptop.exchange()
        #expect(try await members(laptop) == ["desktop", "laptop"])
    }

    @Test func machineInterruptedWithAnOpenInvitation_takesOneOfItsUses() async throws {
        let code = try await laptop.member.invite(name: "web", for: .seconds(3600), uses: 2)
        try await joinInterrupted(code)
        try await join(code)
        try await laptop.exchange()
        #expect(try await members(laptop).count == 2)
        #expect(try await laptop.member.status().openInvitations == 1)
    }

    /// A machine without a vault makes one for the keys with which it asks.
    @Test func keysToAskWith_areGoneOnceTheMachineIsInTheRing() async throws {
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        try await joinInterrupted(code)
        #expect(try hasAskingKeys(code))
        #expect(try desktop.items() == [])
        try await join(code)
        #expect(try !hasAskingKeys(code))
    }

    @Test func keysToAskWith_ofAVaultThatHasOtherKeysNow_areNotUsed() async throws {
        let code = try await laptop.member.invite(name: "web", for: .seconds(3600), uses: 2)
        try await joinInterrupted(code)
        try desktop.vault.rotate()
        let again = try Machine(folder.path, "desktop")
        async let joined = again.member.join(code, at: place, interval: .milliseconds(5))
        try await yieldUntil("the machine is admitted") { try await !laptop.exchange().admitted.isEmpty }
        _ = try await joined
        #expect(try await members(laptop).count == 3)
    }

    /// The keys are those of a member that was removed. Nobody admits them again.
    @Test func machineThatWasRemovedWhileItWasInterrupted_joinsWithAnotherInvitation() async throws {
        let code = try await laptop.member.invite(name: "web", for: .seconds(3600), uses: 2)
        try await joinInterrupted(code)
        let ghost = try #require(try await laptop.member.status().members.first { !$0.isThisMachine })
        _ = try await laptop.member.remove([ghost.id])
        let error = await #expect(throws: KeychainError.self) { try await join(code) }
        #expect(error?.reason == .itemNotFound)
        try await laptop.admit(try Machine(folder.path, "desktop"), at: place)
        #expect(try await members(laptop) == ["desktop", "laptop"])
    }

    @Test func twoProcessesThatJoinAtTheSameTime_areOneMember() async throws {
        let code = try await laptop.member.invite(name: "web", for: .seconds(3600), uses: 5)
        let processes = try (0..<2).map { _ in try Machine(folder.path, "desktop") }
        let joining = Task { [place] in
            await withTaskGroup(of: KeychainError?.self) { group in
                for process in processes {
                    group.addTask {
                        do throws(KeychainError) {
                            _ = try await process.member.join(code, at: place, interval: .milliseconds(5))
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        try await yieldUntil("one of them is in the ring") {
            try await laptop.exchange()
            return try desktop.vault.isInRing
        }
        let errors = await joining.value.compactMap(\.self)
        #expect(errors.count == 1 && errors.first == .alreadyInRing, "\(errors)")
        try await laptop.exchange()
        #expect(try await members(laptop).count == 2)
    }

    @Test func codeOfAnInvitationThatIsOver_withoutKeysForIt_findsNone() async throws {
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        try await joinInterrupted(code)
        let other = try Machine(folder.path, "other")
        let error = await #expect(throws: KeychainError.self) { try await other.member.join(code, at: place) }
        #expect(error?.reason == .itemNotFound)
    }

    /// What says that the machine is a member is stored before it is published.
    @Test func machineInterruptedWhileItEntersWithTheRecoveryKey_isOneMember() async throws {
        let key = try key(await laptop.member.addRecoveryKey())
        try await laptop.exchange()
        carriers.interrupt(at: { if case .entry = $0 { true } else { false } }) {}
        await #expect(throws: KeychainError.self) {
            try await desktop.member.join(recoveryKey: key, name: "desktop", at: place)
        }
        // A person who repeats the command is told what to do.
        let again = try Machine(folder.path, "desktop")
        let error = await #expect(throws: KeychainError.self) {
            try await again.member.join(recoveryKey: key, name: "desktop", at: place)
        }
        #expect(error == .alreadyInRing && error?.message.contains("sync now") == true)
        try await again.exchange()
        try await laptop.exchange()
        #expect(try await members(laptop) == ["desktop", "laptop", "recovery key"])
        #expect(try again.items() == ["a=1"])
    }

    // MARK: - Making a recovery key

    private func key(_ text: SecretBytes) throws -> SecretBytes {
        guard case .key(let key) = RecoveryKey.read(text) else { throw KeychainError(.corrupt, "No recovery key.") }
        return key
    }

    private func recoveryKeys() async throws -> Int {
        try await laptop.member.status().members.count { $0.role == .recovery }
    }

    @Test func recoveryKeyThatCannotBeShown_isNotInTheRing() async throws {
        let error = await #expect(throws: KeychainError.self) {
            try await laptop.member.addRecoveryKey { _ throws(KeychainError) in
                throw KeychainError(.inputOutput, "The paper is used up.")
            }
        }
        #expect(error?.message == "The paper is used up.")
        #expect(try await recoveryKeys() == 0)
        #expect(try await !laptop.member.status().hasRecoveryKey)
    }

    /// The folder has the first key. This machine does not know that, because it was interrupted.
    @Test func recoveryKeyInterruptedWhileItIsPublished_isReplacedWhenTheCommandIsRepeated() async throws {
        let interrupted = try Machine(folder.path, "laptop", kinds: [carriers])
        let first = try await interrupted.member.addRecoveryKey()
        carriers.interrupt(at: { if case .entry = $0 { true } else { false } }) {}
        await #expect(throws: KeychainError.self) { try await interrupted.exchange() }
        let second = try await laptop.member.addRecoveryKey()
        try await laptop.exchange()
        #expect(try await recoveryKeys() == 1)
        let error = await #expect(throws: KeychainError.self) { try await recover(first) }
        #expect(error?.reason == .itemNotFound)
        try await recover(second)
        #expect(try desktop.items() == ["a=1"])
    }

    /// A machine enters with a key.
    private func recover(_ text: SecretBytes) async throws {
        _ = try await Machine(folder.path, "desktop").member.join(
            recoveryKey: key(text), name: "desktop", at: place)
    }

    @Test func recoveryKeyThatHasReachedTheFolder_isKeptBesideAnother() async throws {
        let first = try await laptop.member.addRecoveryKey()
        try await laptop.exchange()
        try await laptop.member.addRecoveryKey()
        try await laptop.exchange()
        #expect(try await recoveryKeys() == 2)
        try await recover(first)
        #expect(try desktop.items() == ["a=1"])
    }

    /// Nobody else would write the snapshot that the new key needs, for a minute.
    @Test func recoveryKeyThatReplacesAnother_readsEverythingAtOnce() async throws {
        try await laptop.admit(desktop, at: place)
        for _ in 0..<2 { try await laptop.member.addRecoveryKey() }
        let key = try key(await laptop.member.addRecoveryKey())
        try await laptop.exchange()
        let tablet = try Machine(folder.path, "tablet")
        _ = try await tablet.member.join(recoveryKey: key, name: "tablet", at: place)
        #expect(try tablet.items() == ["a=1"])
    }
}
