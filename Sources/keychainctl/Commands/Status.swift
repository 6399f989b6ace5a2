// SPDX-License-Identifier: Apache-2.0
// keychainctl status: where the vault is, and its state.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault
import SecretMemory

extension Keychainctl {
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show where the vault is, what protects it and whether it is intact.",
            discussion: """
                With --json: an object with the keys vaultFolder, deviceKeyFile, exists, formatVersion, \
                readOnly, protectors (word, kind, id, created, protectsFrom, doesNotProtectFrom), items \
                (a count for each class), damaged, wronglyIndexed, indexMissing, indexForeign, quarantined (counts), \
                keybagCopyDamaged, walHoldsRemovedData, keyMemoryLocked, \
                lockState (beforeFirstUnlock, locked, unlocked), opensByItself, openedBy (the word of a \
                protector), wrongCredential (the file of a credential that does not open the vault, or null), strength (a sentence), unlockCache (kernel, process), deviceKeyFits, \
                rotationPending, notRotated, locked and ofAnotherDevice (counts), differences (an array of sentences; \
                null if they cannot be found), rollbackWatched (whether this machine remembers a state of the \
                vault; null while it is locked) and memoryProtection (secretMemory, locked, swappable). \
                If there is no vault yet, exists is false, counts are 0 and what describes it is null.

                Values are not opened. To check them: keychainctl doctor

                EXAMPLES
                  keychainctl status
                  keychainctl status --json | jq .damaged
                """)

        @OptionGroup var stray: StrayWords

        @Flag(help: "Print JSON, for programs.")
        var json = false

        func run() throws {
            let status = try UserKeychain().vault.status()
            try Output.write(json ? JSONOutput.line(StatusJSON(status: status)) : status.text)
        }
    }
}

// MARK: - For people

extension VaultStatus {
    fileprivate var text: String {
        let absent = [("state", "not created yet. To create it: keychainctl init, or store an item")]
        let rows = places + (exists ? locking + condition + protectors : absent)
        return rows.map { title, value in
            title + String(repeating: " ", count: 14 - title.count) + value.escapingControls() + "\n"
        }.joined()
    }

    private var places: [(String, String)] {
        [("vault", location.folder), ("device key", location.deviceKeyFile)]
    }

    private var locking: [(String, String)] {
        [
            ("state", lockStateText),
            ("strength", strength ?? "unknown: all protectors were made by a newer version"),
            ("unlock cache", unlockCacheText),
            ("this device", bindingText),
        ] + (wrongCredential.map { [("credential", "wrong: '\($0)' does not open this vault")] } ?? [])
    }

    private var condition: [(String, String)] {
        [
            ("format", String(formatVersion)),
            ("access", isReadOnly ? "read-only: this user cannot write the vault" : "read and write"),
            ("items", counts),
            (
                "damaged",
                (damagedCount == 0 ? "none found" : "\(damagedCount), not changed")
                    + ". Values are not opened here. To check them too: keychainctl doctor"
            ),
            ("index", indexText),
            (
                "quarantined",
                quarantinedCount == 0 ? "none" : "\(quarantinedCount). See: keychainctl quarantine list"
            ),
            ("keybag copy", isKeybagCopyDamaged ? "one of two is damaged; the next write repairs it" : "both intact"),
            ("completeness", completeness),
            ("rollback", rollbackText),
            (
                "removed data",
                walHoldsRemovedData
                    ? "may still be in the WAL: a process was reading it, the disk was full, or vault.lock was removed; "
                        + "the next write erases it"
                    : "erased"
            ),
            ("rotation", rotationText),
            ("key memory", SecretBytes.protection.text),
            ("groups", "all: entitlements do not restrict this tool"),
        ]
    }

    private var indexText: String {
        let faults = [
            (wronglyIndexedCount, "items indexed under another key"), (missingIndexCount, "entries missing"),
            (foreignIndexCount, "wrong entries"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return faults.isEmpty ? "consistent" : faults.joined(separator: ", ") + ". Run: keychainctl doctor --repair"
    }

    private var completeness: String {
        guard let headFindings else { return "unknown until the vault is unlocked" }
        guard !headFindings.isEmpty else { return "matches the last known state" }
        let limits =
            isChangedDespiteFindings
            ? "rotations and removals of protectors are refused, and other changes, which only count the rows of a large vault, are not"
            : "the vault cannot be changed"
        return headFindings.sentence + "; " + limits + ": see keychainctl accept --help"
    }

    private var rollbackText: String {
        switch isRollbackWatched {
        case true?: "detected: this machine has a record of the newest state"
        case false?:
            "not detected: this machine has no record of the current state; "
                + (rollbackRecordFailure.map { "the record cannot be written: " + $0.message }
                    ?? "the next write makes one, if '\(location.stateFolder)' can be written")
        case nil: "unknown until the vault is unlocked"
        }
    }

    private var counts: String {
        var counts = ItemClass.allCases.compactMap { itemClass in
            itemCounts[itemClass].map { "\(itemClass.name) \($0)" }
        }
        if lockedCount > 0 { counts.append("\(lockedCount) locked") }
        if ofAnotherDeviceCount > 0 { counts.append("\(ofAnotherDeviceCount) bound to another device") }
        return counts.isEmpty ? "none" : counts.joined(separator: ", ")
    }

    private var protectors: [(String, String)] {
        slots.flatMap { slot in
            let added = ", added \(slot.added), id \(slot.id.uuidString.lowercased())"
            guard let kind = slot.kind else { return [("opened by", "a kind made by a newer version" + added)] }
            return [
                ("opened by", kind.name + added),
                ("", "protects from: " + kind.protectsFrom),
                ("", "does not protect from: " + kind.doesNotProtectFrom),
            ]
        }
    }
}
