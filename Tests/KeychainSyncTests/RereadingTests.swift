// SPDX-License-Identifier: Apache-2.0
// Damage in a folder that a listing does not show, to what machines that join need.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import KeychainVault
import SecretMemory
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

struct RereadingTests {
    private let folder: TemporaryFolder
    private let place: CarrierPlace
    /// How far the clocks of the machines are ahead, in milliseconds.
    private let ahead = Guarded<UInt64>(0)

    init() throws {
        folder = try TemporaryFolder("keychain-rereading")
        place = .folder(folder.path + "/shared")
        try FileManager.default.createDirectory(atPath: folder.path + "/shared", withIntermediateDirectories: true)
        // It is noon: no test begins on one day and ends on the next one.
        ahead.withLock { $0 = Self.day * 3 / 2 - RingMember.systemTime() % Self.day }
    }

    /// In milliseconds.
    private static let day: UInt64 = 86_400_000

    private func machine(_ name: String) throws -> Machine {
        try Machine(folder.path, name) { [ahead] in RingMember.systemTime() + ahead.withLock { $0 } }
    }

    private func pair() async throws -> (Machine, Machine) {
        let (laptop, desktop) = (try machine("laptop"), try machine("desktop"))
        _ = try await laptop.member.found(name: "laptop", at: place)
        try await laptop.admit(desktop, at: place)
        for machine in [laptop, desktop, laptop] { try await machine.exchange() }
        return (laptop, desktop)
    }

    private func replica(_ machine: Machine) async throws -> Replica {
        var report = ExchangeReport()
        return try await machine.member.take(&report) { _, _ in [] }.state.replica
    }

    private func carrier(_ machine: Machine) async throws -> FolderCarrier {
        FolderCarrier(folder.path + "/shared", ring: try await replica(machine).log.id)
    }

    /// Changes one bit of each file of some kinds that was there for a while. Names, lengths and dates stay.
    ///
    /// - Returns: The objects.
    private func damage(_ kinds: [String], _ machine: Machine) async throws -> [ObjectName] {
        let ring = try await replica(machine).log.id.hex
        let top = folder.path + "/shared/skc1/" + ring
        for kind in kinds {
            for file in try FileManager.default.subpathsOfDirectory(atPath: top + "/" + kind)
            where file.hasSuffix(".skc") {
                let path = "\(top)/\(kind)/\(file)"
                var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
                bytes[bytes.count / 2] ^= 1
                try bytes.write(to: URL(fileURLWithPath: path))
                let date = Date(timeIntervalSinceNow: -700)
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
            }
        }
        let names = try await carrier(machine).list().names
        return names.filter { kinds.contains(String($0.text.prefix(1))) }.sorted()
    }

    private func damaged(_ names: [ObjectName], _ machine: Machine) async throws -> [ObjectName] {
        try await carrier(machine).read(names).damaged
    }

    private func advanceADay() { ahead.withLock { $0 += Self.day } }

    /// Another machine asks to join by an invitation.
    private func letServerAsk(_ laptop: Machine) async throws -> (FolderCarrier, Joiner) {
        let code = try await laptop.member.invite(name: "server", for: .seconds(3600))
        let carrier = try await carrier(laptop)
        var joiner = Joiner(code: code, keys: .make())
        try joiner.received(try #require(try await carrier.read([joiner.objectName]).objects.first).bytes)
        let (name, request) = try #require(try joiner.request())
        _ = try await carrier.publish(name, request)
        return (carrier, joiner)
    }

    // MARK: - Putting right

    @Test func exchange_withoutAReason_readsNothingAgain() async throws {
        let (laptop, _) = try await pair()
        let names = try await damage(["g", "k"], laptop)
        try await laptop.exchange()
        #expect(try await damaged(names, laptop) == names)
    }

    @Test func damage_isPutRight_beforeAMachineIsLetIn() async throws {
        let (laptop, _) = try await pair()
        let (carrier, joiner) = try await letServerAsk(laptop)
        let names = try await damage(["g", "k"], laptop)
        #expect(try await damaged(names, laptop) == names)
        #expect(try await laptop.exchange().admitted == ["server"])
        #expect(try await damaged(names, laptop) == [])
        let objects = try await carrier.read(Array(try await carrier.list().names)).objects
        let wraps = objects.filter { $0.name.isWrap }.map(\.bytes)
        let entries = objects.filter { if case .entry = $0.name { true } else { false } }.map(\.bytes)
        #expect(try joiner.finish(wraps: wraps, entries: entries).log.ring.active.count == 3)
    }

    @Test func damage_isPutRight_byAllMachinesTogetherInADay() async throws {
        let (laptop, desktop) = try await pair()
        let names = try await damage(["g", "k"], laptop)
        advanceADay()
        for machine in [laptop, desktop] { try await machine.exchange() }
        #expect(try await damaged(names, laptop) == [])
    }

    /// The wraps of both were made by the laptop.
    @Test func damage_isPutRight_byOneMachineInAsManyDaysAsThereAre() async throws {
        let (laptop, desktop) = try await pair()
        let names = try await damage(["g", "k"], laptop)
        for _ in 0..<2 {
            advanceADay()
            try await desktop.exchange()
        }
        #expect(try await damaged(names, laptop) == [])
    }

    @Test func damage_isPutRight_byRepair() async throws {
        let (laptop, desktop) = try await pair()
        let names = try await damage(["g", "k"], laptop)
        _ = try await desktop.member.repair()
        #expect(try await damaged(names, laptop) == [])
    }

    // MARK: - Something else than a file

    /// Puts a folder in the place of a file.
    ///
    /// - Returns: Its path.
    private func replace(_ name: ObjectName, _ machine: Machine) async throws -> String {
        let top = folder.path + "/shared/skc1/" + (try await replica(machine).log.id.hex)
        let file = try #require(
            try FileManager.default.subpathsOfDirectory(atPath: top).first { $0.hasPrefix(name.text + "-") })
        try FileManager.default.removeItem(atPath: "\(top)/\(file)")
        try FileManager.default.createDirectory(atPath: "\(top)/\(file)", withIntermediateDirectories: false)
        return "\(top)/\(file)"
    }

    private func expectNamed(_ path: String, by call: () async throws -> Void) async {
        let error = await #expect(throws: KeychainError.self) { try await call() }
        #expect(error?.reason == .unavailable && error?.message.contains("'\(path)'") == true)
        #expect(error?.message.contains("Move it away.") == true)
    }

    /// The laptop has made them, and lets nobody in until they are files again.
    @Test(arguments: ["g", "k"]) func folderInThePlaceOfWhatOpensTheRing_failsExchanges(_ kind: String) async throws {
        let (laptop, _) = try await pair()
        let (carrier, _) = try await letServerAsk(laptop)
        let names = try await carrier.list().names.filter { $0.text.hasPrefix(kind + "/") }.sorted()
        let path = try await replace(try #require(names.first), laptop)
        await expectNamed(path) { _ = try await laptop.exchange() }
        await expectNamed(path) { _ = try await laptop.member.repair() }
        #expect(try await laptop.member.status().openInvitations == 1)
        try FileManager.default.removeItem(atPath: path)
        let exchanges = [try await laptop.exchange(), try await laptop.exchange()]
        #expect(exchanges.flatMap(\.admitted) == ["server"])
    }

    @Test func folderInThePlaceOfAKey_isNamedByTheMachineThatNeedsIt() async throws {
        let (laptop, desktop) = try await pair()
        var report = ExchangeReport()
        let step = try await laptop.member.take(&report) { state, _ in try state.replica.rotate() }
        _ = try await laptop.member.carryOut(step.effects, try laptop.member.carrier(of: step.state), &report)
        let name = ObjectName.wrap(step.state.replica.ring.current, try await replica(desktop).member)
        _ = try await replace(name, laptop)
        #expect(try await desktop.exchange().findings.contains(.refused(name, .malformed)))
    }

    @Test func join_thatAFolderKeepsOut_namesIt() async throws {
        let (laptop, _) = try await pair()
        let code = try await laptop.member.invite(name: "server", for: .seconds(3600))
        let names = try await carrier(laptop).list().names.filter { if case .entry = $0 { true } else { false } }
        let name = try #require(names.min())
        _ = try await replace(name, laptop)
        let error = await #expect(throws: KeychainError.self) {
            _ = try await machine("server").member.join(code, at: place, wait: .zero)
        }
        #expect(error?.reason == .timedOut && error?.message.contains("'\(name.text)'") == true)
    }

    // MARK: - Joining

    @Test func join_thatDamageKeepsOut_namesIt() async throws {
        let (laptop, _) = try await pair()
        let code = try await laptop.member.invite(name: "server", for: .seconds(3600))
        let name = try #require(try await damage(["g"], laptop).first)
        let error = await #expect(throws: KeychainError.self) {
            _ = try await machine("server").member.join(code, at: place, wait: .zero)
        }
        #expect(error?.reason == .timedOut)
        #expect(error?.message.contains("'\(name.text)'") == true && error?.message.contains("sync repair") == true)
    }

    /// - Parameter kinds: Whether it lacks the log or its keys.
    @Test(arguments: ["g", "k"]) func recoveryKey_thatDamageKeepsOut_namesIt(_ kind: String) async throws {
        let (laptop, _) = try await pair()
        let text = try await laptop.member.addRecoveryKey()
        try await laptop.exchange()
        guard case .key(let key) = RecoveryKey.read(text) else { throw KeychainError(.corrupt, "No recovery key.") }
        let names = try await damage([kind], laptop)
        let new = try machine("new")
        let error = await #expect(throws: KeychainError.self) {
            _ = try await new.member.join(recoveryKey: key, name: "new", at: place)
        }
        #expect(error?.reason == .unavailable)
        #expect(names.contains { error?.message.contains("'\($0.text)'") == true })
        _ = try await laptop.member.repair()
        _ = try await new.member.join(recoveryKey: key, name: "new", at: place)
        #expect(try new.vault.isInRing)
    }

    // MARK: - What is whole

    private func reread(_ objects: [(name: ObjectName, bytes: Data)], _ names: [ObjectName], by replica: Replica)
        -> [Effect]
    {
        var replica = replica
        return replica.reread(names, as: objects, damaged: [], at: 1, wrapping: true)
    }

    /// A hostile carrier can find other bytes with the same fingerprint.
    @Test func otherBytes_thatAreNone_areReplaced() async throws {
        let world = try World(2)
        for replica in world.machines {
            let names = replica.essentials(in: world.listing())
            let junk = reread(names.map { ($0, Data("junk".utf8)) }, names, by: replica)
            #expect(junk.count == names.count && names.count == 4)
            #expect(junk.allSatisfy { if case .writeBeside = $0 { true } else { false } })
        }
    }

    @Test func otherBytes_thatOthersCanUse_stay() async throws {
        let world = try World(2)
        let replica = world.machines[1]
        let names = replica.essentials(in: world.listing())
        var objects: [(name: ObjectName, bytes: Data)] = []
        for name in names {
            guard case .entry(let hash) = name else {
                objects.append((name, try #require(world.carrier[name])))
                continue
            }
            objects.append((name, try #require(replica.log.entries[hash]).sealed(with: replica.keyring.ring)))
        }
        #expect(objects.contains { world.carrier[$0.name] != $0.bytes })
        #expect(reread(objects, names, by: replica) == [])
    }

    @Test func parts_ofAllMachinesOnADay_areEverything() throws {
        var world = try World(3)
        for index in world.machines.indices { world.look(index) }
        let all = world.machines[0].essentials(in: world.listing())
        for day in UInt64(0)..<4 {
            let parts = world.machines.map { $0.essentials(in: world.listing(), onDay: day) }
            #expect(parts.flatMap(\.self).sorted() == all && parts.allSatisfy { $0.count == all.count / 3 })
        }
    }

    /// It can write no wraps, and there may be thousands of readers.
    @Test func reader_readsOnlyEntriesAgain_andNoneWithoutBeingAsked() throws {
        var world = try World(1)
        try world.join(as: .reader)
        let names = world.machines[1].essentials(in: world.listing())
        #expect(!names.isEmpty && !names.contains(where: \.isWrap))
        #expect(world.machines[1].essentials(in: world.listing(), onDay: 1) == [])
    }
}
