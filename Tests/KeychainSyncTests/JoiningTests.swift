// SPDX-License-Identifier: Apache-2.0
// Invitations: both sides, and a carrier between them that does what it likes.

import Foundation
import KeychainCrypto
import SecretMemory
import Testing

@testable import KeychainSyncCore

struct JoiningTests {
    private struct Inviter {
        var log: RingLog
        var keyring: Keyring
        let keys = DeviceKeys.make()
        let member: MemberID
        var entries: [Data] = []
        var invitation: Invitation

        init(uses: Int = 1, role: Role = .device, needsApproval: Bool = false) throws {
            let (log, ringKeys, change) = try RingLog.found(name: "laptop", keys: keys)
            (self.log, keyring, member) = (log, Keyring(ring: ringKeys), try keys.publicKeys().member)
            keyring.add(change.keys, root: change.root)
            entries = try change.entries.map { try $0.sealed(with: ringKeys) }
            invitation = Invitation(
                code: InvitationCode.make(), name: "desktop", role: role, expires: 1000, uses: uses,
                needsApproval: needsApproval)
        }

        mutating func answer(_ requests: [Data], at now: UInt64 = 1) throws -> (wraps: [Data], outcome: [String]) {
            var (wraps, outcome) = ([Data](), [String]())
            for answer in invitation.answer(requests, at: now, &log, keyring, author: member, signer: keys) {
                switch answer {
                case .admitted(_, let entry, let wrap):
                    if let entry { entries.append(try entry.sealed(with: keyring.ring)) }
                    wraps.append(wrap.bytes)
                    outcome.append(entry == nil ? "again" : "admitted")
                case .waiting: outcome.append("waiting")
                case .postponed: outcome.append("postponed")
                case .expired: outcome.append("expired")
                case .usedUp: outcome.append("used up")
                case .refused(let refusal): outcome.append("\(refusal)")
                }
            }
            return (wraps, outcome)
        }
    }

    private func joiner(_ inviter: Inviter) throws -> (Joiner, request: Data) {
        var joiner = Joiner(code: inviter.invitation.code, keys: .make())
        try joiner.received(inviter.invitation.offer(inviter.log))
        return (joiner, try #require(try joiner.request()).1)
    }

    @Test func joiner_withTheCode_isInTheRing() throws {
        var inviter = try Inviter()
        let (joiner, request) = try joiner(inviter)
        #expect(joiner.objectName == inviter.invitation.objectName)
        let (wraps, outcome) = try inviter.answer([request])
        #expect(outcome == ["admitted"])
        let ring = try joiner.finish(wraps: wraps, entries: inviter.entries.shuffled())
        #expect(ring.log.id == inviter.log.id)
        #expect(ring.log.ring.active.map(\.name).sorted() == ["desktop", "laptop"])
        #expect(try ring.keyring.keys(of: ring.log.ring.current).id == inviter.log.ring.current)
        #expect(ring.keyring.ring.item([1]) == inviter.keyring.ring.item([1]))
    }

    /// It may be on its way. The machine keeps its keys, and joins when it has arrived.
    @Test func joiner_withoutTheEntryThatAdmitsIt_isNotTakenForARemovedMachine() throws {
        var inviter = try Inviter()
        let (joiner, request) = try joiner(inviter)
        let earlier = inviter.entries
        let (wraps, _) = try inviter.answer([request])
        #expect(throws: Refusal.noKey) { try joiner.finish(wraps: wraps, entries: earlier) }
        #expect(try joiner.finish(wraps: wraps, entries: inviter.entries).log.id == inviter.log.id)
    }

    /// Attack: a false ring for a joiner.
    @Test func joiner_shownARingByWhoDoesNotKnowTheCode_givesNothingAway() throws {
        let (inviter, attacker) = (try Inviter(), try Inviter())
        var joiner = Joiner(code: inviter.invitation.code, keys: .make())
        #expect(throws: Refusal.notAuthentic) { try joiner.received(attacker.invitation.offer(attacker.log)) }
        #expect(try joiner.request() == nil)
        #expect(throws: Refusal.notAMember) { try joiner.finish(wraps: [], entries: attacker.entries) }
    }

    /// Attack: the keys of the joiner are replaced.
    @Test func request_withOtherKeysOrAnyByteChanged_isRefused() throws {
        var inviter = try Inviter()
        let (_, request) = try joiner(inviter)
        for index in stride(from: 0, to: request.count, by: 11) {
            var changed = request
            changed[index] ^= 1
            #expect(try inviter.answer([changed]).outcome == ["notAuthentic"])
        }
        #expect(inviter.log.ring.active.count == 1)
        #expect(
            try inviter.answer([Data(), Data(count: 40), Data(count: 20_000)]).outcome == [
                "malformed", "notAuthentic", "tooLarge",
            ])
    }

    /// Attack: a machine with the code whose keys nothing can be sealed to. In the log it would be unknown to all others, and so would be
    /// what follows.
    @Test(arguments: [UInt8(0), 0xFF])
    func request_withKeysThatNothingCanBeSealedTo_leavesTheLogAsItIs(byte: UInt8) throws {
        var inviter = try Inviter()
        let joiner = try joiner(inviter).0
        let (offer, tips) = (try #require(joiner.offer), inviter.log.tips)
        let wrapping = Data(repeating: byte, count: HybridKey.publicKeyLength)
        let keys = PublicKeys(signing: try joiner.keys.publicKeys().signing, wrapping: wrapping)
        let request = JoinRequest(ring: offer.ring, keys: keys, invitation: offer.nonce)
            .bytes(authenticatedBy: InvitationKeys(code: inviter.invitation.code).joiner)
        #expect(try inviter.answer([request]).outcome == ["malformed"])
        #expect(inviter.log.tips == tips && inviter.log.ring.active.count == 1)
        #expect(try inviter.answer([try self.joiner(inviter).request]).outcome == ["admitted"])
    }

    /// Attack: an invitation used again, or late.
    @Test func invitation_usedAgainOrLate_admitsNobody() throws {
        var inviter = try Inviter()
        let (_, first) = try joiner(inviter)
        let (_, second) = try joiner(inviter)
        #expect(try inviter.answer([first], at: 1000).outcome == ["expired"])
        #expect(try inviter.answer([first, second, first], at: 999).outcome == ["admitted", "used up", "again"])
        #expect(inviter.log.ring.active.count == 2)
    }

    @Test func request_forAnEarlierInvitationWithTheSameCode_isRefused() throws {
        var inviter = try Inviter()
        let (_, request) = try joiner(inviter)
        inviter.invitation = Invitation(code: inviter.invitation.code, name: "x", expires: 1000)
        #expect(try inviter.answer([request]).outcome == ["notAuthentic"])
    }

    @Test func removedMachine_withItsOldRequest_staysOut() throws {
        var inviter = try Inviter(uses: 5)
        let (_, request) = try joiner(inviter)
        #expect(try inviter.answer([request]).outcome == ["admitted"])
        let member = try #require(inviter.log.ring.active.first { $0.id != inviter.member }).id
        _ = try inviter.log.remove(
            [Removal(member: member, cuts: [:])], inviter.keyring.ring, author: inviter.member, signer: inviter.keys)
        #expect(try inviter.answer([request]).outcome != ["again"])
        #expect(!inviter.log.ring.isActive(member))
    }

    @Test func invitationForAFleet_admitsAsManyAsItHasUses() throws {
        var inviter = try Inviter(uses: 3, role: .reader)
        let requests = try (0..<4).map { _ in try joiner(inviter).request }
        #expect(try inviter.answer(requests).outcome == ["admitted", "admitted", "admitted", "used up"])
        #expect(Set(inviter.log.ring.active.map(\.name)).count == 4)
        #expect(inviter.log.ring.active.filter { $0.role == .reader }.count == 3)
    }

    @Test func invitationThatNeedsApproval_admitsOnlyTheApprovedMachine() throws {
        var inviter = try Inviter(needsApproval: true)
        let (own, other) = (try joiner(inviter), try joiner(inviter).request)
        #expect(try inviter.answer([own.request, other]).outcome == ["waiting", "waiting"])
        #expect(inviter.log.ring.active.count == 1)
        inviter.invitation.approve(try own.0.keys.publicKeys().member)
        #expect(try inviter.answer([other, own.request, other]).outcome == ["waiting", "admitted", "used up"])
        #expect(try inviter.answer([own.request]).outcome == ["again"])
    }

    @Test func approval_isStoredWithTheInvitation() throws {
        var inviter = try Inviter(uses: 2, needsApproval: true)
        let (own, other) = (try joiner(inviter), try joiner(inviter))
        inviter.invitation.approve(try own.0.keys.publicKeys().member)
        _ = try inviter.answer([own.request])
        inviter.invitation.approve(try other.0.keys.publicKeys().member)
        let stored = inviter.invitation.bytes().data
        inviter.invitation = try Invitation(stored: stored)
        #expect(try inviter.answer([own.request, other.request]).outcome == ["again", "admitted"])
        // An older version must not admit anybody by it.
        #expect(stored.first == 2)
        for count in 0..<stored.count - 32 {
            #expect(throws: Refusal.self) { _ = try Invitation(stored: stored.prefix(count)) }
        }
    }

    @Test func waitingMachine_whoseInvitationExpires_isNotAdmitted() throws {
        var inviter = try Inviter(needsApproval: true)
        let own = try joiner(inviter)
        #expect(try inviter.answer([own.request], at: 999).outcome == ["waiting"])
        inviter.invitation.approve(try own.0.keys.publicKeys().member)
        #expect(try inviter.answer([own.request], at: 1000).outcome == ["expired"])
    }

    @Test func requestsThatAreNone_inAnyNumber_keepNobodyOut() throws {
        var inviter = try Inviter()
        let noise = [Data](repeating: Data(count: JoinRequest.length), count: 300)
        #expect(try inviter.answer(noise + [joiner(inviter).request]).outcome.last == "admitted")
    }

    @Test func machinesThatWait_inAnyNumber_keepNobodyFromBeingSeen() throws {
        var inviter = try Inviter(needsApproval: true)
        let others = try (0...Bounds.admissions).map { _ in try joiner(inviter).request }
        let own = try joiner(inviter)
        inviter.invitation.approve(try own.0.keys.publicKeys().member)
        let outcome = try inviter.answer(others + [own.request]).outcome
        #expect(Set(outcome.dropLast()) == ["waiting"] && outcome.last == "admitted")
    }

    @Test func machinesAboveTheBound_areAdmittedNext_whateverElseIsShownAgain() throws {
        var inviter = try Inviter(uses: 1000)
        let requests = try (0...Bounds.admissions).map { _ in try joiner(inviter).request }
        #expect(try inviter.answer(requests).outcome.last == "postponed")
        #expect(inviter.log.ring.active.count == 1 + Bounds.admissions)
        #expect(try inviter.answer(requests).outcome.last == "admitted")
        #expect(
            try inviter.answer(requests).outcome == [String](repeating: "again", count: Bounds.admissions) + [
                "postponed"
            ])
    }

    @Test func request_isOneOnlyWithTheCodeAndUnderItsOwnName() throws {
        let (inviter, other) = (try Inviter(), try Inviter())
        let (joiner, request) = try joiner(inviter)
        let (name, bytes) = try #require(try joiner.request())
        #expect(bytes == request && bytes.count == JoinRequest.length)
        #expect(inviter.invitation.isRequest(name, bytes))
        #expect(!other.invitation.isRequest(name, bytes))
        guard case .request(let id, _) = name else { return }
        #expect(!inviter.invitation.isRequest(.request(id, RequestID([UInt8](repeating: 0, count: 16))), bytes))
        #expect(!inviter.invitation.isRequest(name, bytes + [0]))
        #expect(!inviter.invitation.isRequest(.invitation(id), bytes))
    }

    /// Attacks: an old state of the right ring; a wrap by another author; a log without its beginning.
    @Test func joiner_shownLessThanTheInvitationNames_doesNotJoin() throws {
        var inviter = try Inviter()
        let (_, other) = try joiner(inviter)
        _ = try inviter.answer([other])
        inviter.invitation = Invitation(code: inviter.invitation.code, name: "third", expires: 1000)
        let (joiner, request) = try joiner(inviter)
        let (wraps, _) = try inviter.answer([request])
        let entries = inviter.entries
        #expect(entries.count == 3)
        for index in entries.indices {
            var shown = entries
            shown.remove(at: index)
            #expect(throws: Refusal.self) { try joiner.finish(wraps: wraps, entries: shown) }
        }
        for index in stride(from: 0, to: wraps[0].count, by: 97) {
            var changed = wraps[0]
            changed[index] ^= 1
            #expect(throws: Refusal.self) { try joiner.finish(wraps: [changed], entries: entries) }
        }
        #expect(try joiner.finish(wraps: [Data()] + wraps, entries: [Data()] + entries).log.ring.active.count == 3)
    }

    @Test func recoveryKey_opensTheRingAndAddsAMachine() throws {
        var inviter = try Inviter()
        let paper = DeviceKeys(recoveryKey: RecoveryKey.make())
        let card = MemberCard(role: .recovery, keys: try paper.publicKeys(), name: "paper")
        let (entry, wrap) = try inviter.log.admit(card, inviter.keyring, author: inviter.member, signer: inviter.keys)
        inviter.entries.append(try #require(entry).sealed(with: inviter.keyring.ring))
        let ring = try OpenedRing(
            inviter.log.id, tips: [], for: paper, wraps: [wrap.bytes], entries: inviter.entries)
        var log = ring.log
        let fresh = DeviceKeys.make()
        let device = MemberCard(role: .device, keys: try fresh.publicKeys(), name: "new")
        let (_, newWrap) = try log.admit(device, ring.keyring, author: card.id, signer: paper)
        #expect(log.ring.mayWrite(device.id))
        #expect(try log.keys(from: newWrap, for: fresh, ring.keyring.ring).0.id == log.ring.current)
    }
}
