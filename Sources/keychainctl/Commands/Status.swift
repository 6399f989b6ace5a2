// SPDX-License-Identifier: Apache-2.0
// keychainctl status: where the vault is and how it fares.

import ArgumentParser
import KeychainAuthenticators
import KeychainEngine
import KeychainVault

extension Keychainctl {
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show where the vault is, what protects it and whether it is whole.",
            discussion: """
                With --json: an object with the keys vaultFolder, deviceKeyFile, exists, formatVersion, \
                readOnly, protectors (kind, created, protectsFrom, doesNotProtectFrom), items (a count \
                for each class), damaged, quarantined, keybagCopyDamaged and keyMemoryLocked.

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
        let rows = places + (exists ? condition + protectors : [("state", "not made yet; the first `set` makes it")])
        return rows.map { title, value in
            title + String(repeating: " ", count: 14 - title.count) + value.escapingControls() + "\n"
        }.joined()
    }

    private var places: [(String, String)] {
        [("vault", location.folder), ("device key", location.deviceKeyFile)]
    }

    private var condition: [(String, String)] {
        [
            ("format", String(formatVersion)),
            ("access", isReadOnly ? "read-only: this user cannot write the vault" : "read and write"),
            ("items", counts),
            ("damaged", damagedCount == 0 ? "none" : "\(damagedCount); they were left as they are: restore a backup"),
            ("quarantined", quarantinedCount == 0 ? "none" : "\(quarantinedCount) damaged items set aside, bytes kept"),
            ("keybag copy", isKeybagCopyDamaged ? "one of two damaged; the next write mends it" : "both good"),
            ("key memory", isKeyMemoryLocked ? "kept out of swap" : "not locked: may be swapped out (ulimit -l)"),
        ]
    }

    private var counts: String {
        let counts = ItemClass.allCases.compactMap { itemClass in
            itemCounts[itemClass].map { "\(itemClass.name) \($0)" }
        }
        return counts.isEmpty ? "none" : counts.joined(separator: ", ")
    }

    private var protectors: [(String, String)] {
        slots.flatMap { slot in
            let added = ", added " + slot.created.timestamp(withFraction: false)
            guard let kind = slot.kind else { return [("opened by", "a kind made by a newer version" + added)] }
            return [
                ("opened by", kind.name + added),
                ("", "protects from: " + kind.protectsFrom),
                ("", "does not protect from: " + kind.doesNotProtectFrom),
            ]
        }
    }
}
