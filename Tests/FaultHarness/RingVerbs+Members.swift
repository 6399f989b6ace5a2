// SPDX-License-Identifier: Apache-2.0
// Founding, inviting, joining, admitting, removing, and leaving.

import Foundation
import KeychainEngine
import KeychainSync
import KeychainVault
import SecretMemory

extension RingVerb {
    // MARK: - Founding

    static let found = RingVerb(
        name: "found",
        prepare: { world in
            let (laptop, desktop) = (try world.vault("laptop"), try world.vault("desktop"))
            for (account, value) in [("a", "1"), ("b", "2")] { try world.add(account, value, laptop) }
            try world.add("d", "4", desktop)
        },
        run: { try await found($0) }, again: { world in try await orExchange(world, "laptop") { try await found($0) } },
        promise: { world in try world.vault("laptop").isInRing ? nil : "the vault is in no ring" },
        afterwards: { world, _ in
            let rings = try world.ringCount
            try waiting { try await world.member("laptop").admit(world.member("desktop"), "desktop", at: world.place) }
            return rings == 1 ? nil : "\(rings) rings were founded"
        }, end: End(items: ["a": "1", "b": "2", "d": "4"]))

    private static func found(_ world: Exchanging) async throws -> String? {
        _ = try await world.member("laptop").found(name: "laptop", at: world.place)
        return nil
    }

    /// A machine that is in its ring says so if the verb is repeated. It then has to exchange.
    static func orExchange(
        _ world: Exchanging, _ name: String, _ verb: (Exchanging) async throws -> String?
    ) async throws -> String? {
        do { return try await verb(world) } catch let error as KeychainError where error == .alreadyInRing {
            _ = try await world.member(name).exchange()
            return nil
        }
    }

    // MARK: - Inviting and joining

    static let invite = RingVerb(
        name: "invite", prepare: pairAndPhone, run: { try await invite($0) }, again: { try await invite($0) },
        afterwards: { world, code in
            try waiting {
                try await world.member("laptop").admit(world.member("phone"), with: world.code(code), at: world.place)
            }
            return nil
        }, end: threeMachines)

    private static func invite(_ world: Exchanging) async throws -> String? {
        RingMember.text(of: try await world.member("laptop").invite(name: "phone", for: .seconds(3600))).plainText
    }

    private static let pairAndPhone: @Sendable (Exchanging) throws -> Void = { world in
        try world.prepare()
        try world.add("f", "6", world.vault("phone"))
    }

    private static let threeMachines = End(
        items: Exchanging.expected.merging(["f": "6"]) { $1 }, machines: [["desktop", "laptop", "phone"]],
        exchanging: ["laptop", "desktop", "phone"])

    /// The machine that asks to be let in. The other one answers whatever has come, also from a machine that has died.
    static let join = RingVerb(
        name: "join",
        prepare: { world in
            try world.prepareInvitation(from: "desktop", to: "laptop")
            try world.add("e", "5", world.vault("laptop"))
        },
        run: { try await join($0, "laptop") },
        again: { world in try await orExchange(world, "laptop") { try await join($0, "laptop") } },
        beside: { world, meeting in
            meeting.ready()
            while !meeting.isOver {
                _ = try await world.member("desktop").exchange()
                meeting.looked()
                try await Task.sleep(for: .milliseconds(5))
            }
        },
        promise: { world in try world.vault("laptop").isInRing ? nil : "the vault is in no ring" },
        end: End(items: ["a": "1", "b": "2", "e": "5"]), isWatched: true)

    private static func join(_ world: Exchanging, _ name: String) async throws -> String? {
        _ = try await world.member(name).join(
            world.code(world.kept("code")), at: world.place, wait: .seconds(30), interval: .milliseconds(5))
        return nil
    }

    /// The machine that lets another one in.
    static let admit = RingVerb(
        name: "admit", prepare: { try prepareAdmission($0, needsApproval: false) },
        run: { world in
            _ = try await world.member("laptop").exchange()
            return nil
        },
        again: { world in
            _ = try await world.member("laptop").exchange()
            return nil
        }, beside: asks, end: End(items: ["a": "1", "b": "2", "d": "4", "e": "5"]))

    static let approve = RingVerb(
        name: "approve", prepare: { try prepareAdmission($0, needsApproval: true) }, run: { try await approve($0) },
        again: { world in
            // The machine may wait no longer.
            do { return try await approve(world) } catch is NobodyWaits { return nil }
        }, beside: asks, end: End(items: ["a": "1", "b": "2", "d": "4", "e": "5"]))

    private struct NobodyWaits: Error {}

    private static func approve(_ world: Exchanging) async throws -> String? {
        let member = try world.member("laptop")
        let machines = try await member.exchange().waiting
        guard !machines.isEmpty else { throw NobodyWaits() }
        _ = try await member.approve(machines.map(\.id))
        return nil
    }

    private static func prepareAdmission(_ world: Exchanging, needsApproval: Bool) throws {
        try world.prepareInvitation(from: "laptop", to: "desktop", needsApproval: needsApproval)
        try world.add("d", "4", world.vault("desktop"))
        try world.add("e", "5", world.vault("laptop"))
    }

    private static let asks: @Sendable (Exchanging, Meeting) async throws -> Void = { world, meeting in
        let (desktop, code) = (try world.member("desktop"), try world.code(world.kept("code")))
        _ = try await desktop.join(code, at: world.place, wait: .seconds(30), interval: .milliseconds(5)) { _ in
            meeting.ready()
        }
    }

    // MARK: - Removing and leaving

    static let remove = RingVerb(
        name: "remove",
        prepare: { world in
            try world.prepare()
            try waiting { try await world.member("laptop").admit(world.member("phone"), "phone", at: world.place) }
            try world.keepKeys(of: "phone")
        },
        run: { try await remove($0) },
        again: { world in
            do { return try await remove(world) } catch is NobodyWaits {
                _ = try await world.member("laptop").exchange()
                return nil
            }
        },
        promise: { try $0.problemUnless("desktop") { !$0.members.contains { $0.name == "phone" } } },
        afterwards: { world, _ in try world.secrecyProblem(asking: "phone") },
        end: End(items: Exchanging.expected.merging(Exchanging.secrets) { $1 }))

    private static func remove(_ world: Exchanging) async throws -> String? {
        let member = try world.member("laptop")
        let phone = try await member.status().members.filter { $0.name == "phone" }
        guard !phone.isEmpty else { throw NobodyWaits() }
        _ = try await member.remove(phone.map(\.id))
        return nil
    }

    static let leave = RingVerb(
        name: "leave", prepare: { try $0.prepare() }, run: { try await leave($0) },
        again: { world in
            guard try world.vault("laptop").isInRing else { return nil }
            return try await leave(world)
        },
        promise: { world in try world.vault("laptop").isInRing ? "the vault is in a ring" : nil },
        afterwards: { world, _ in
            let items = try world.items(world.vault("laptop"))
            guard items == ["a": "1", "b": "2", "e": "5"] else { return "leaving leaves \(items)" }
            try waiting { try await world.member("desktop").admit(world.member("laptop"), "laptop", at: world.place) }
            return nil
        },
        // The deletion of `c` was not sent before, and the machine joins as another one.
        end: End(
            items: Exchanging.expected.merging(["c": "2"]) { $1 }, machines: [["desktop", "laptop", "laptop"]]))

    private static func leave(_ world: Exchanging) async throws -> String? {
        try world.member("laptop").forget()
        return nil
    }
}
