// SPDX-License-Identifier: Apache-2.0
// Operations on whole vaults: backups, restorations, and what brings a vault back in order.

import KeychainEngine
import KeychainVault

extension Operation {
    static let copying: [Operation] = [
        Operation(name: "back up", template: .unclosed, steps: [backUp]),
        Operation(name: "back up again", template: .backedUp, steps: [add(100), backUp]),
        Operation(name: "restore", template: .backedUp, steps: [add(100), restore, add(101)]),
        Operation(name: "restore to an empty place", template: .backupAlone, steps: [restore, add(101)]),
        // Without the keys of the index it cannot be accepted at once.
        Operation(
            name: "restore while locked", template: .backedUpProtected,
            steps: [unlock, add(100), lock, restoreLocked, unlock, accept, add(101)]),
    ]

    static let repairing: [Operation] = [
        Operation(name: "accept", template: .robbed, steps: [accept, add(100)]),
        Operation(name: "repair the index", template: .misindexed, steps: [repairIndex, add(100)]),
        Operation(name: "put back quarantined", template: .quarantined, steps: [putBack, add(100)]),
        Operation(name: "purge quarantined", template: .quarantined, steps: [purge, add(100)]),
    ]

    // MARK: - Copies

    static let backUp = Step(
        { try $0.backup(to: $0.backupFile, replacing: true) },
        { ($0.backup, $0.backupOutbox) = ($0.items, $0.outbox) })

    /// It ends in two transactions: the restored vault is there, and it is accepted.
    static let restore = Step(
        { vault in
            guard try vault.restore(from: vault.backupFile).isAccepted else {
                throw HarnessError("the restored vault was not accepted")
            }
        },
        putBackup,
        between: [
            { state in
                putBackup(&state)
                state.head = .mayBeOlder
            }
        ])

    private static let restoreLocked = Step(
        { try $0.restore(from: $0.backupFile) },
        { state in
            putBackup(&state)
            state.head = .mayBeOlder
        })

    private static let accept = Step({ try $0.accept() }, { $0.head = .asLeft })

    @Sendable
    private static func putBackup(_ state: inout VaultState) {
        if state.openers.isEmpty { state.openers = [.deviceKey] } else { state.kept = state.items }
        (state.items, state.outbox) = (state.backup ?? [:], state.backupOutbox)
    }

    // MARK: - Repairs

    private static let repairIndex = Step({ _ = try $0.repairIndex() }, { $0.head = .asLeft })

    private static let putBack = Step(
        { _ = try $0.restoreQuarantined() },
        { state in
            state.items.merge(Template.quarantinedItems) { first, _ in first }
            state.quarantined = 0
        })

    private static let purge = Step({ _ = try $0.purgeQuarantined() }, { $0.quarantined = 0 })
}

extension Vault {
    /// Of the place that the vault is in.
    var backupFile: String { Place(root: String(location.folder.dropLast("/vault".count))).backupFile }
}
