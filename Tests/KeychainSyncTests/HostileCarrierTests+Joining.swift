// SPDX-License-Identifier: Apache-2.0
// A carrier between a machine that joins and the one that lets it in: attacks 22 to 24 and 36.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

extension HostileCarrierTests {
    /// A machine that has asked, and has ended waiting; its request stays.
    private func ask(_ name: String, _ code: SecretBytes, _ ring: RingID) async throws {
        let machine = try world.machine(name)
        world.view(of: name, ring).keepEverything()
        let error = await #expect(throws: KeychainError.self) {
            _ = try await machine.member.join(code, at: world.place, wait: .zero)
        }
        #expect(error?.reason == .timedOut)
    }

    private static func isRequest(_ name: ObjectName) -> Bool { if case .request = name { true } else { false } }
    private static func isInvitation(_ name: ObjectName) -> Bool { if case .invitation = name { true } else { false } }

    @Test func joiner_shownAFalseRing_uploadsNothing() async throws {
        let laptop = try await world.founder()
        let ring = try await world.replica(laptop).log.id
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        let (attacker, effects) = try Replica.founding(name: "laptop", keys: .make())
        let fake = world.base(attacker.log.id)
        for case .write(let name, let bytes) in effects { _ = try await fake.publish(name, bytes) }
        for name in try await world.names(laptop, where: Self.isInvitation) {
            _ = try await fake.publish(name, try await world.content(name, laptop))
        }
        world.view(of: "desktop", ring).withhold { _ in true }
        let desktop = try world.machine("desktop")
        try desktop.add("a", "1")
        let error = await #expect(throws: KeychainError.self) {
            _ = try await desktop.member.join(code, at: world.place, wait: .zero)
        }
        #expect(error?.reason == .itemNotFound)
        for ring in [ring, attacker.log.id] { #expect(world.view(of: "desktop", ring).published.isEmpty) }
    }

    /// A machine that has asked and waits.
    private func waiting(
        _ code: SecretBytes
    ) async throws -> (joining: Task<ExchangeReport, any Error>, ends: AsyncStream<Void>) {
        let desktop = try world.machine("desktop")
        let (asks, asked) = AsyncStream.makeStream(of: Void.self)
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let joining = Task {
            defer {
                asked.finish()
                ended.finish()
            }
            return try await desktop.member.join(
                code, at: world.place, interval: .milliseconds(5), asked: { _ in asked.yield() },
                gone: { ended.yield() })
        }
        for await _ in asks { break }
        return (joining, ends)
    }

    @Test func machine_whoseInvitationExpiresWhileItWaits_isTold() async throws {
        let laptop = try await world.founder()
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        let (joining, ends) = try await waiting(code)
        world.advance(3_600_000)
        try await laptop.exchange()
        for await _ in ends { break }
        joining.cancel()
        let error = await #expect(throws: KeychainError.self) { _ = try await joining.value }
        #expect(error?.reason == .cancelled)
    }

    @Test func machine_whoseInvitationIsOverWhenItsTimeIs_isToldBothReasons() async throws {
        let laptop = try await world.founder()
        let view = world.view(of: "desktop", try await world.replica(laptop).log.id)
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        let error = await #expect(throws: KeychainError.self) {
            _ = try await world.machine("desktop").member.join(
                code, at: world.place, wait: .zero, asked: { _ in view.withhold(Self.isInvitation) })
        }
        #expect(error?.reason == .timedOut && error?.message.contains("join again with the same code") == true)
    }

    /// It cannot tell whether it was let in.
    @Test func machine_thatAsksAgainAfterItsInvitation_isToldBothReasons() async throws {
        let laptop = try await world.founder()
        let ring = try await world.replica(laptop).log.id
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        try await ask("desktop", code, ring)
        world.advance(3_600_000)
        try await laptop.exchange()
        let error = await #expect(throws: KeychainError.self) {
            _ = try await world.machine("desktop").member.join(code, at: world.place, wait: .zero)
        }
        #expect(error?.reason == .itemNotFound && error?.message.contains("join again with the same code") == true)
    }

    /// Files arrive in any order.
    @Test func machine_whoseKeysArriveAfterItsInvitationIsGone_joins() async throws {
        let laptop = try await world.founder()
        let view = world.view(of: "desktop", try await world.replica(laptop).log.id)
        view.withhold { if case .wrap = $0 { true } else { false } }
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        let (joining, ends) = try await waiting(code)
        try await laptop.exchange()
        for await _ in ends { break }
        view.behave()
        _ = try await joining.value
        #expect(try await world.replica(laptop).ring.active.count == 2)
    }

    /// No byte of it means anything before it is authenticated: there are no costs and no other parameters to choose.
    @Test(.timeLimit(.minutes(60))) func offer_withAnyByteChanged_isNone() async throws {
        let laptop = try await world.founder()
        let ring = try await world.replica(laptop).log.id
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        let name = try #require(try await world.names(laptop, where: Self.isInvitation).first)
        let offer = try await world.content(name, laptop)
        let changed = offer.indices.map { index in
            var copy = offer
            copy[index] ^= 1
            return copy
        }
        world.view(of: "desktop", ring).forge(name, changed + [offer.dropLast(), offer + Data([0])])
        let desktop = try world.machine("desktop")
        let error = await #expect(throws: KeychainError.self) {
            _ = try await desktop.member.join(code, at: world.place, wait: .zero)
        }
        #expect(error?.reason == .itemNotFound)
        #expect(world.view(of: "desktop", ring).published.isEmpty)
    }

    @Test func request_withOtherKeys_admitsNobody() async throws {
        let laptop = try await world.founder()
        let ring = try await world.replica(laptop).log.id
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        try await ask("desktop", code, ring)
        let view = try await world.view(laptop)
        view.keepEverything()
        for round in 0..<24 {
            view.show { objects in
                for name in objects.keys where Self.isRequest(name) {
                    objects[name] = objects[name]?.flatMap { bytes in
                        bytes.indices.filter { $0 / 60 == round }.map { index in
                            var copy = bytes
                            copy[index] ^= 1
                            return copy
                        }
                    }
                }
            }
            #expect(try await laptop.exchange().admitted == [])
            view.behave()
            view.keepEverything()
        }
        #expect(try await laptop.member.status().members.count == 1)
        #expect(try await laptop.exchange().admitted == ["desktop"])
    }

    /// Before it in every order: objects that are none, copies of its request under other names, long ones, and one beside it.
    @Test func request_amongHundredsOfForeignOnes_isSeenAndAnswered() async throws {
        let laptop = try await world.founder()
        let ring = try await world.replica(laptop).log.id
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600), needsApproval: true)
        try await ask("desktop", code, ring)
        let name = try #require(try await world.names(laptop, where: Self.isRequest).first)
        guard case .request(let id, _) = name else { return }
        let request = try await world.content(name, laptop)
        let view = try await world.view(laptop)
        view.keepEverything()
        view.show { objects in
            for number in 0..<UInt16(400) {
                let other = ObjectName.request(
                    id, RequestID([0, UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 0, count: 13)))
                let contents = [
                    Data(count: request.count), request, Data(count: request.count + 1), request.dropLast() + [0],
                ]
                objects[other] = [contents[Int(number % 4)]]
            }
            objects[name]?.insert(Data(count: request.count), at: 0)
        }
        for _ in 0..<2 { #expect(try await laptop.exchange().waiting.map(\.name) == ["desktop"]) }
        let waiting = try await laptop.exchange().waiting
        #expect(try await laptop.member.approve(waiting.map(\.id)).admitted == ["desktop"])
    }

    /// The carrier lets this machine remove.
    @Test func junkBesideARequest_doesNotEndItsWaiting() async throws {
        let laptop = try await world.founder()
        let ring = try await world.replica(laptop).log.id
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600), needsApproval: true)
        try await ask("desktop", code, ring)
        let name = try #require(try await world.names(laptop, where: Self.isRequest).first)
        _ = try await world.base(ring).publish(name, Data("junk".utf8), beside: true)
        for _ in 0..<2 { #expect(try await laptop.exchange().waiting.map(\.name) == ["desktop"]) }
    }

    @Test func invitation_shownAgainAfterItsUse_admitsNobody() async throws {
        let laptop = try await world.founder()
        let ring = try await world.replica(laptop).log.id
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        let name = try #require(try await world.names(laptop, where: Self.isInvitation).first)
        let offer = try await world.content(name, laptop)
        try await ask("desktop", code, ring)
        #expect(try await laptop.exchange().admitted == ["desktop"])
        world.view(of: "tablet", ring).replay(offer, as: name)
        try await ask("tablet", code, ring)
        #expect(try await !world.names(laptop, where: Self.isRequest).isEmpty)
        #expect(try await laptop.exchange().admitted == [])
        #expect(try await laptop.member.status().members.count == 2)
    }

    @Test func invitation_usedTooLate_admitsNobody() async throws {
        let laptop = try await world.founder()
        let ring = try await world.replica(laptop).log.id
        let code = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        try await ask("desktop", code, ring)
        world.advance(3_600_000)
        #expect(try await laptop.exchange().admitted == [])
        #expect(try await laptop.member.status().members.count == 1)
    }
}
