// SPDX-License-Identifier: Apache-2.0
// Operations on a vault in a ring: its outbox gets every change of a shared item, in the same transaction.

import KeychainEngine
import KeychainSync
import KeychainVault

extension Operation {
    static let sharing: [Operation] = [
        Operation(name: "share", template: .inRing, steps: [addShared(100)], every: 2),
        Operation(name: "update shared", template: .inRing, steps: [updateShared(0)], isWarm: true, every: 2),
        Operation(
            name: "delete shared", template: .inRing, steps: [deleteSent, deleteUnsent], isWarm: true, every: 4),
        Operation(name: "shared transaction", template: .inRing, steps: [sharedTransaction], isWarm: true, every: 4),
        Operation(
            name: "exchange", template: .inRing, steps: [updateShared(0), exchange, addShared(100)], every: 4),
        Operation(
            name: "change protector in a ring", template: .inRing, steps: [changeRecoveryKey, updateShared(0)],
            every: 4),
        Operation(
            name: "remove device key in a ring", template: .inRing, steps: [removeDeviceKey, unlock, addShared(100)],
            every: 6),
        Operation(
            name: "rotate in a ring", template: .inRing, steps: [rotate, addShared(100)], isWarm: true, every: 6),
        Operation(name: "back up in a ring", template: .inRing, steps: [addShared(100), backUp], every: 4),
        Operation(name: "restore in a ring", template: .inRingBackedUp, steps: [restore, addShared(100)], every: 6),
    ]

    // MARK: - Items

    private static func addShared(_ number: Int) -> Step {
        Step({ try $0.addShared("shared-\(number)", "added") }, { $0.share("shared-\(number)", "added") })
    }

    private static func updateShared(_ number: Int) -> Step {
        Step({ try $0.updateShared("shared-\(number)", "updated") }, { $0.share("shared-\(number)", "updated") })
    }

    /// Other machines have it.
    private static let deleteSent = Step(
        { try $0.deleteShared("shared-2") },
        { state in
            state.items["shared-2"] = nil
            state.outbox?.insert("-shared-2")
        })

    /// No other machine knows of it.
    private static let deleteUnsent = Step(
        { try $0.deleteShared("shared-5") },
        { state in
            state.items["shared-5"] = nil
            state.outbox?.remove("shared-5 unsent")
        })

    /// Items are added, changed and removed, shared ones and others, as one.
    private static let sharedTransaction = Step(
        { vault in
            try Engine(store: vault).transaction(as: Items.query("")) { (requests) throws(KeychainError) in
                try requests.add(Items.item("new", "added"), accessGroups: .unrestricted)
                for number in 100..<103 {
                    try requests.add(Items.sharedItem("shared-\(number)", "added"), accessGroups: .unrestricted)
                }
                for account in ["shared-0", "shared-3"] {
                    _ = try requests.update(
                        Items.sharedQuery(account), with: Items.changes("updated"), accessGroups: .unrestricted)
                }
                _ = try requests.delete(Items.sharedQuery("shared-2"), accessGroups: .unrestricted)
            }
        },
        { state in
            state.items["new"] = "added"
            for number in 100..<103 { state.share("shared-\(number)", "added") }
            for account in ["shared-0", "shared-3"] { state.share(account, "updated") }
            state.items["shared-2"] = nil
            state.outbox?.insert("-shared-2")
        })

    // MARK: - The ring

    /// It has many transactions. The first one takes everything from the outbox, a later one applies what has arrived.
    private static let exchange = Step(
        { vault in try waiting { _ = try await RingMember(vault).exchange() } },
        { state in
            state.send()
            state.items.merge(Ring.arriving) { $1 }
        },
        between: [{ $0.send() }])
}

extension VaultState {
    fileprivate mutating func send() { (outbox, isSending) = ([], true) }

    /// A shared item is added or changed.
    fileprivate mutating func share(_ account: String, _ value: String) {
        if let old = items[account] { outbox?.remove("\(account) \(old)") }
        items[account] = value
        outbox?.insert("\(account) \(value)")
    }
}
