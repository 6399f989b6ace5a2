// SPDX-License-Identifier: Apache-2.0
// Operations on the vault itself and on what opens it.

import Foundation
import KeychainEngine
import KeychainVault

extension Needles {
    private var backup: String { NSTemporaryDirectory() + "/backup" }
    private var isWrong: Bool { outcome == "error" }

    func changeVault() throws {
        let words = operation.split(separator: "-", maxSplits: 1).map(String.init)
        switch words[0] {
        case "unlock": try vault.unlock(Planted.secret(words[1], isWrong: isWrong))
        case "lock": try lock()
        case "protect": try protect(words[1])
        case "rotate": try vault.rotate(authority: authority)
        case "adopt": try vault.adoptDevice(authority: authority)
        case "backup": try vault.backup(to: backup)
        case "restore": try vault.restore(from: backup)
        case "accept": guard try !vault.accept().isEmpty else { exit(66) }
        case "unquarantine": guard try vault.restoreQuarantined().map(\.state) == [.opens] else { exit(66) }
        case "quarantined":
            let found = try vault.quarantinedItems()
            guard found.map(\.state) == (unlocksBefore ? [.opens] : [.locked]) else { exit(66) }
        case "purge": guard try vault.purgeQuarantined() == 1 else { exit(66) }
        case "examine":
            guard (problems(of: vault) == "no problem") == (outcome == "ok") else { exit(66) }
        case "repair": guard try vault.repairIndex().addedCount > 0 else { exit(66) }
        default: exit(64)
        }
    }

    private var authority: ProtectorSecret { Planted.secret("passphrase", isWrong: isWrong) }

    private func lock() throws {
        if outcome == "ok" { try vault.unlock(Planted.secret("passphrase")) }
        try vault.lock()
    }

    private func protect(_ what: String) throws {
        switch what {
        case "add-passphrase", "add-recovery-key":
            try vault.addProtector(Planted.newSecret(String(what.dropFirst(4))), authority: authority)
        case "change":
            let secret = Planted.newSecret("passphrase")
            try vault.changeProtector(slot("passphrase"), to: secret, authority: authority)
        case "remove": guard try vault.removeProtector(slot("key-file"), authority: authority) else { exit(66) }
        default: exit(64)
        }
    }

    private func slot(_ word: String) throws -> UUID {
        guard let slot = try vault.status().slots.first(where: { $0.kind?.word == word }) else { exit(65) }
        return slot.id
    }
}
