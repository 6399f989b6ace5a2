// SPDX-License-Identifier: Apache-2.0
// Exchanging, new keys, snapshots, repair, and recovery.

import Foundation
import KeychainEngine
import KeychainSync
import KeychainVault
import SecretMemory

extension RingVerb {
    static let exchange = RingVerb(
        name: "exchange", prepare: { try $0.prepare() }, run: { try await exchange($0) },
        again: { try await exchange($0) }, promise: desktopHasAll, isHitAtReads: true)

    private static func exchange(_ world: Exchanging) async throws -> String? {
        _ = try await world.member("laptop").exchange()
        return nil
    }

    /// The other machine gets everything without any help of this one.
    private static let desktopHasAll: @Sendable (Exchanging) throws -> String? = { world in
        try waiting { _ = try await world.member("desktop").exchange() }
        let items = try world.items(world.vault("desktop"))
        return items == Exchanging.expected ? nil : "what was sent is \(items)"
    }

    /// The vault gets new keys, so the machine gets others in the ring. An older copy of the vault then reads nothing newer.
    static let rotate = RingVerb(
        name: "rotate",
        prepare: { world in
            try world.prepare()
            try world.keepKeys(of: "laptop")
        },
        run: { try await rotate($0) }, again: { try await rotate($0) }, promise: desktopHasAll,
        afterwards: { world, _ in try world.secrecyProblem(asking: nil) },
        end: End(items: Exchanging.expected.merging(Exchanging.secrets) { $1 }))

    private static func rotate(_ world: Exchanging) async throws -> String? {
        let vault = try world.vault("laptop")
        _ = try vault.rotate()
        _ = try await RingMember(vault).exchange()
        return nil
    }

    /// The folder has lost a segment that both machines know, so that only a snapshot has everything.
    static let snapshot = RingVerb(
        name: "snapshot",
        prepare: { world in
            try world.prepare()
            try waiting { for name in ["laptop", "desktop"] { _ = try await world.member(name).exchange() } }
            try world.loseSegments()
        },
        run: { try await exchangeLater($0) }, again: { try await exchangeLater($0) },
        promise: { world in world.hasSnapshot ? nil : "there is no snapshot" },
        afterwards: { world, _ in
            try waiting { try await world.member("laptop").admit(world.member("phone"), "phone", at: world.place) }
            return nil
        }, end: End(machines: [["desktop", "laptop", "phone"]], exchanging: ["laptop", "desktop", "phone"]))

    /// A machine whose turn it is not writes a snapshot a minute later.
    private static func exchangeLater(_ world: Exchanging) async throws -> String? {
        let vault = try world.vault("laptop")
        _ = try await RingMember(vault).exchange()
        _ = try await RingMember(vault, clock: { RingMember.systemTime() + 61_000 }).exchange()
        return nil
    }

    static let repair = RingVerb(
        name: "repair", prepare: { try $0.prepare() }, run: { try await repair($0) }, again: { try await repair($0) },
        promise: desktopHasAll)

    private static func repair(_ world: Exchanging) async throws -> String? {
        _ = try await world.member("laptop").repair()
        return nil
    }

    // MARK: - Recovery

    /// Afterwards a machine comes in with the key that was shown last. An earlier one that was shown may remain, if it had reached the
    /// folder.
    static let recoveryKey = RingVerb(
        name: "recovery key",
        prepare: { world in
            try world.prepare()
            try world.add("f", "6", world.vault("phone"))
        },
        run: { try await makeKey($0) }, again: { try await makeKey($0) },
        afterwards: { world, key in
            try waiting { _ = try await recover(world, with: key ?? "") }
            return try world.unshownKeyProblem()
        },
        end: End(
            items: Exchanging.expected.merging(["f": "6"]) { $1 },
            machines: [
                ["desktop", "laptop", "phone", "recovery key"],
                ["desktop", "laptop", "phone", "recovery key", "recovery key"],
            ], exchanging: ["laptop", "desktop", "phone"]))

    private static func makeKey(_ world: Exchanging) async throws -> String? {
        let member = try world.member("laptop")
        let key = try await member.addRecoveryKey(showing: world.show).plainText
        _ = try await member.exchange()
        return key
    }

    static let recover = RingVerb(
        name: "recover",
        prepare: { world in
            try world.prepare()
            let member = try world.member("laptop")
            try waiting { [member] in
                let key = try await member.addRecoveryKey()
                _ = try await member.exchange()
                try world.keep(key.plainText, as: "key")
            }
            try world.add("f", "6", world.vault("phone"))
        },
        run: { world in try await recover(world, with: world.kept("key")) },
        again: { world in
            try await orExchange(world, "phone") { try await recover($0, with: world.kept("key")) }
        },
        promise: { world in
            try world.problemUnless("desktop") { $0.members.contains { $0.name == "phone" } }
        },
        end: End(
            items: Exchanging.expected.merging(["f": "6"]) { $1 },
            machines: [["desktop", "laptop", "phone", "recovery key"]], exchanging: ["laptop", "desktop", "phone"]))

    private static func recover(_ world: Exchanging, with text: String) async throws -> String? {
        _ = try await world.member("phone").join(
            recoveryKey: world.recoveryKey(text), name: "phone", at: world.place)
        return nil
    }
}
