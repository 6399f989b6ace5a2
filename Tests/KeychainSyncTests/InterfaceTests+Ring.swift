// SPDX-License-Identifier: Apache-2.0
// Making a ring from a program, and choosing between values.

import Foundation
import KeychainCrypto
import KeychainKit
import KeychainTestSupport
import KeychainVault
import SecretMemory
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

extension InterfaceTests {
    private var folder: String { world.place.address }
    private var place: SyncPlace { SyncPlace(world.place) }

    private static func reason(_ call: () async throws -> Void) async -> KeychainError.Reason? {
        await #expect(throws: KeychainError.self) { try await call() }?.reason
    }

    // MARK: - Members

    @Test func ring_foundedAndJoinedByPrograms_shares() async throws {
        let (laptop, desktop) = (try world.machine("laptop"), try world.machine("desktop"))
        try laptop.add("a", "1")
        try desktop.add("b", "2")
        let (sync, other) = (laptop.sync, desktop.sync)
        #expect(try await sync.found(name: "laptop", at: place).isComplete)
        #expect(try await sync.isInRing)
        let code = try await sync.invite(name: "desktop", validFor: .seconds(3600))
        #expect(code.count == 29)
        async let joined = other.join(code: code, at: place)
        let admission = Task {
            while try await sync.now().admitted != ["desktop"] { try await Task.sleep(for: .milliseconds(5)) }
        }
        #expect(try await joined.received == 1)
        try await admission.value
        try await sync.now()
        for machine in [laptop, desktop] { #expect(try machine.items() == ["a=1", "b=2"]) }
        #expect(try await other.status().machines.map(\.name).sorted() == ["desktop", "laptop"])
    }

    @Test(arguments: ["", String(repeating: "x", count: 129), "lap\u{7}top"])
    func machine_withAnUnusableName_isRefused(_ name: String) async throws {
        let sync = try world.machine("laptop").sync
        #expect(await Self.reason { try await sync.found(name: name, at: place) } == .invalidParameter)
        try await sync.found(name: "laptop", at: place)
        #expect(await Self.reason { _ = try await sync.invite(name: name) } == .invalidParameter)
    }

    @Test func machine_withTheLongestName_isTaken() async throws {
        let sync = try world.machine("laptop").sync
        let name = String(repeating: "x", count: 128)
        try await sync.found(name: name, at: place)
        #expect(try await sync.status().machines.map(\.name) == [name])
    }

    @Test func folder_thatCannotBeUsed_isRefused() async throws {
        let machine = try world.machine("laptop")
        try machine.add("a", "1")
        let (sync, code) = (machine.sync, RingMember.text(of: InvitationCode.make()))
        for path in ["", "shared", "/shared\0"] {
            #expect(await Self.reason { try await sync.found(name: "laptop", at: .folder(path)) } == .invalidParameter)
            #expect(await Self.reason { try await sync.join(code: code, at: .folder(path)) } == .invalidParameter)
        }
        let gone = folder + "/gone"
        #expect(await Self.reason { try await sync.found(name: "laptop", at: .folder(gone)) } == .unavailable)
        let own = machine.vault.location.folder
        #expect(await Self.reason { try await sync.found(name: "laptop", at: .folder(own)) } == .unsafeLocation)
        #expect(try await !sync.isInRing)
    }

    @Test func invitation_withImpossibleNumbers_isRefused() async throws {
        let sync = try await world.founder().sync
        for (duration, uses) in [(Duration.zero, 1), (.seconds(-1), 1), (.seconds(60), 0), (.seconds(60), 10_001)] {
            let reason = await Self.reason {
                _ = try await sync.invite(name: "desktop", validFor: duration, uses: uses)
            }
            #expect(reason == .invalidParameter)
        }
        _ = try await sync.invite(name: "fleet", validFor: .milliseconds(1), uses: 10_000)
    }

    @Test func invitation_ofSeveralUses_admitsSeveralMachines() async throws {
        let sync = try await world.founder().sync
        let code = try await sync.invite(name: "web", uses: 2)
        for name in ["first", "second"] {
            let machine = try world.machine(name).sync
            async let joined = machine.join(code: code, at: place)
            let admission = Task {
                while try await sync.now().admitted.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            }
            _ = try await joined
            try await admission.value
        }
        #expect(try await sync.status().machines.count == 3)
        #expect(try await sync.status().openInvitations == 0)
    }

    @Test func machine_thatNeedsApproval_waitsUntilItsIDIsApproved() async throws {
        let sync = try await world.founder().sync
        let code = try await sync.invite(name: "desktop", needsApproval: true)
        let (asked, asks) = AsyncStream.makeStream(of: String.self)
        let machine = try world.machine("desktop").sync
        let place = place
        let joining = Task { try await machine.join(code: code, at: place) { asks.yield($0) } }
        let id = try #require(await asked.first { _ in true })
        #expect(id.count == 39)
        for _ in 0..<2 {
            #expect(try await sync.now().waiting == [SyncRequest(id: id, name: "desktop", onlyReads: false)])
        }
        #expect(try await !machine.isInRing)
        let approved = try await sync.approve([id.uppercased()])
        #expect(approved.admitted == ["desktop"] && approved.waiting.isEmpty)
        _ = try await joining.value
        #expect(try await machine.isInRing)
    }

    @Test func joining_thatIsCancelled_leavesNobodyToLetIn() async throws {
        let sync = try await world.founder().sync
        let code = try await sync.invite(name: "desktop")
        let machine = try world.machine("desktop").sync
        let (asked, asks) = AsyncStream.makeStream(of: String.self)
        let place = place
        let joining = Task { try await machine.join(code: code, at: place) { asks.yield($0) } }
        _ = await asked.first { _ in true }
        joining.cancel()
        await #expect(throws: KeychainError.self) { try await joining.value }
        #expect(try await sync.now().admitted.isEmpty)
        #expect(try await sync.status().openInvitations == 1)
    }

    @Test func requestsThatAreNone_areRemoved() async throws {
        let laptop = try await world.founder()
        _ = try await laptop.member.invite(name: "fleet", for: .seconds(3600), uses: 100)
        let carrier = FolderCarrier(world.shared, ring: try await world.replica(laptop).log.id)
        let invitation = try await carrier.list().names.compactMap {
            if case .invitation(let id) = $0 { id } else { nil }
        }
        let id = try #require(invitation.first)
        for (number, length) in [1, JoinRequest.length, JoinRequest.length + 1].enumerated() {
            let name = ObjectName.request(id, RequestID([UInt8](repeating: UInt8(number), count: 16)))
            _ = try await carrier.publish(name, Data(count: length), beside: false)
        }
        try await laptop.exchange()
        #expect(try await !carrier.list().names.contains { if case .request = $0 { true } else { false } })
    }

    @Test func invitation_thatCannotBePublished_isWithdrawn() async throws {
        let laptop = try await world.founder()
        try await world.view(laptop).fail(CarrierFailure(.unavailable, "The test lets this call fail."))
        let error = await #expect(throws: KeychainError.self) { _ = try await laptop.sync.invite(name: "desktop") }
        #expect(error?.reason == .unavailable && error?.message.contains("is withdrawn") == true)
        #expect(try await laptop.sync.status().openInvitations == 0)
    }

    @Test func invitation_whoseCodeCannotBeShown_isWithdrawn() async throws {
        let laptop = try await world.founder()
        let error = await #expect(throws: KeychainError.self) {
            try await laptop.member.invite(name: "desktop", for: .seconds(3600)) { _ throws(KeychainError) in
                throw KeychainError(.inputOutput, "The paper is used up.")
            }
        }
        #expect(error?.reason == .inputOutput && error?.message.hasPrefix("The paper is used up.") == true)
        #expect(try await laptop.sync.status().openInvitations == 0)
        // The next exchange takes it away.
        try await laptop.exchange()
        #expect(try await world.names(laptop) { if case .invitation = $0 { true } else { false } } == [])
    }

    @Test func invitation_thatIsCancelledWhileItIsPublished_isWithdrawn() async throws {
        let laptop = try await world.founder()
        let view = try await world.view(laptop)
        view.hold()
        let inviting = Task { try await laptop.sync.invite(name: "desktop") }
        try await yieldUntil("the publication") { view.heldCount == 1 }
        inviting.cancel()
        view.release()
        let error = await #expect(throws: KeychainError.self) { _ = try await inviting.value }
        #expect(error?.reason == .cancelled)
        #expect(try await laptop.sync.status().openInvitations == 0)
    }

    @Test func invitation_thatIsCancelledWhileItsCodeIsShown_isWithdrawn() async throws {
        let laptop = try await world.founder()
        let inviting = Task {
            try await laptop.member.invite(name: "desktop", for: .seconds(3600)) { _ throws(KeychainError) in
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        let error = await #expect(throws: KeychainError.self) { _ = try await inviting.value }
        #expect(error?.reason == .cancelled)
        #expect(try await laptop.sync.status().openInvitations == 0)
    }

    /// The vault is locked when the code is to be shown.
    @Test func invitation_thatCannotBeWithdrawn_isSaidToBeOpenAndHowToEndIt() async throws {
        let laptop = try await world.founder()
        let error = await #expect(throws: KeychainError.self) {
            try await laptop.member.invite(name: "desktop", for: .seconds(3600)) { _ throws(KeychainError) in
                do { try laptop.lock() } catch { throw KeychainError(.unsupported, "It was not locked: \(error)") }
                throw KeychainError(.inputOutput, "The paper is used up.")
            }
        }
        #expect(error?.reason == .inputOutput)
        for text in ["The invitation is open until 20", "keychainctl rotate; then: keychainctl sync now"] {
            #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        }
    }

    @Test func approval_ofAnotherMachine_admitsNobody() async throws {
        let sync = try await world.founder().sync
        let code = try await sync.invite(name: "desktop", needsApproval: true)
        let machine = try world.machine("desktop").sync
        let (asked, asks) = AsyncStream.makeStream(of: String.self)
        let place = place
        let joining = Task { try await machine.join(code: code, at: place) { asks.yield($0) } }
        defer { joining.cancel() }
        _ = await asked.first { _ in true }
        let other = String(repeating: "0", count: 32)
        #expect(try await sync.approve([other]).admitted.isEmpty)
        #expect(try await sync.now().waiting.count == 1)
        #expect(await Self.reason { try await sync.approve(["desktop"]) } == .itemNotFound)
    }

    @Test func code_thatIsMistypedOrUnknown_admitsNobody() async throws {
        _ = try await world.founder()
        let sync = try world.machine("desktop").sync
        for text in ["", "7K2M", String(repeating: "0", count: 24)] {
            let code = SecretBytes(text: text)
            #expect(await Self.reason { try await sync.join(code: code, at: place) } == .invalidParameter)
        }
        let unknown = RingMember.text(of: InvitationCode.make())
        #expect(await Self.reason { try await sync.join(code: unknown, at: place) } == .itemNotFound)
    }

    @Test func join_thatNobodyAnswers_timesOut() async throws {
        let code = try await world.founder().sync.invite(name: "desktop")
        let sync = try world.machine("desktop").sync
        #expect(await Self.reason { try await sync.join(code: code, at: place, timeout: .zero) } == .timedOut)
    }

    @Test func machine_removedByItsID_isNoMember() async throws {
        let (_, sync, _, other) = try await pair()
        let id = try #require(try await sync.status().machines.first { !$0.isThisMachine }?.id)
        #expect(try await sync.remove(id).isComplete)
        #expect(try await sync.status().machines.map(\.name) == ["laptop"])
        #expect(await Self.reason { try await other.now() } == .missingEntitlement)
        #expect(try await !other.status().isMember)
    }

    @Test func removal_ofThisMachineOrOfNone_isRefused() async throws {
        let (_, sync, _, _) = try await pair()
        let own = try #require(try await sync.status().machines.first { $0.isThisMachine }?.id)
        for id in [own, "", "0123"] { #expect(await Self.reason { try await sync.remove(id) } == .itemNotFound) }
        #expect(try await sync.status().machines.count == 2)
    }

    @Test func machine_thatLeaves_keepsItsItems() async throws {
        let (laptop, sync, _, _) = try await pair()
        try laptop.add("a", "1")
        try await sync.leave()
        #expect(try await !sync.isInRing)
        #expect(try laptop.items() == ["a=1"])
    }

    // MARK: - Conflicts

    /// Both machines have changed the item; the desktop's value is the later one.
    private func conflict() async throws -> (Machine, KeychainSync, Machine, KeychainSync) {
        let (laptop, sync, desktop, other) = try await pair()
        try laptop.add("a", "0")
        for machine in [laptop, desktop] { try await machine.exchange() }
        try laptop.update("a", "laptop's")
        try await Task.sleep(for: .milliseconds(5))
        try desktop.update("a", "desktop's")
        for machine in [laptop, desktop, laptop] { try await machine.exchange() }
        return (laptop, sync, desktop, other)
    }

    @Test func conflict_isListedWithoutValues_whichAreReadByAsking() async throws {
        let (_, sync, _, _) = try await conflict()
        let conflicts = try await sync.conflicts()
        let conflict = try #require(conflicts.first)
        #expect(conflicts.count == 1)
        #expect(conflict.itemClass == .genericPassword && conflict.service == "s" && conflict.account == "a")
        #expect(conflict.server == nil && conflict.accessGroup == "default")
        #expect(conflict.versions.map(\.isShown) == [true, false])
        #expect(conflict.versions.map(\.machine) == ["desktop", "laptop"])
        #expect(conflict.versions[0].written > conflict.versions[1].written)
        #expect(Set(conflict.versions.map(\.id.utf8.count)) == [8])
        var values: [String] = []
        for version in conflict.versions {
            values.append(String(decoding: try #require(try await version.value()), as: UTF8.self))
        }
        #expect(values == ["desktop's", "laptop's"])
        #expect(try await sync.status().conflicts == 1)
    }

    @Test(arguments: [0, 1]) func value_thatIsKept_isTheOnlyOneOnAllMachines(_ index: Int) async throws {
        let (laptop, sync, desktop, other) = try await conflict()
        let conflict = try #require(try await sync.conflicts().first)
        try await conflict.keep(conflict.versions[index])
        let kept = index == 0 ? "a=desktop's" : "a=laptop's"
        #expect(try laptop.items() == [kept])
        try await sync.now()
        try await other.now()
        #expect(try desktop.items() == [kept])
        for sync in [sync, other] { #expect(try await sync.conflicts().isEmpty) }
    }

    @Test func value_ofAnotherItem_isNotKept() async throws {
        let (laptop, sync, desktop, _) = try await conflict()
        try laptop.add("b", "laptop's")
        try desktop.add("b", "desktop's")
        try await world.settle(laptop, desktop)
        let conflicts = try await sync.conflicts()
        try #require(conflicts.count == 2)
        let foreign = conflicts[1].versions[1]
        #expect(await Self.reason { try await conflicts[0].keep(foreign) } == .itemNotFound)
        #expect(try await sync.conflicts().count == 2)
    }

    @Test func value_thatIsNotKeptAnyMore_isNotFound() async throws {
        let (laptop, sync, _, _) = try await conflict()
        let versions = try #require(try await sync.conflicts().first?.versions)
        try laptop.update("a", "new")
        #expect(await Self.reason { _ = try await versions[0].value() } == .itemNotFound)
        // The one that had lost against it is kept.
        #expect(try await versions[1].value() == Data("laptop's".utf8))
    }
}
