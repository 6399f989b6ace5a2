// SPDX-License-Identifier: Apache-2.0
// keychainctl backup and restore: the vault as one file, and back.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Backup: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a copy of the vault into one file.",
            usage: "keychainctl backup <file> [--replace] [--json]",
            discussion: """
                Other programs go on reading and writing meanwhile; the vault may be locked. The copy \
                is checked from end to end before it gets its name. Told is what opens it: whoever has \
                that and the file has everything in it. The device key is never in it.

                With --json: an object with the keys file, vault, formatVersion, items, quarantined, \
                damaged, locked, ofAnotherDevice (counts), opening (by-itself, unlockable, not-here), \
                opensWithDeviceKeyAlone, keybagCopyDamaged and protectors.

                EXAMPLES
                  keychainctl backup /media/stick/vault.backup
                  keychainctl backup ~/vault.backup --replace
                """)

        @Argument(help: ArgumentHelp("Where to write it; not in the vault's folder.", valueName: "file"))
        var file: String

        @Flag(help: "Replace an older backup of that name.")
        var replace = false

        @Flag(help: "Print JSON, for programs.")
        var json = false

        func run() throws {
            let backup = try UserKeychain().vault.backup(to: file, replacing: replace)
            if json { try Output.write(JSONOutput.line(BackupJSON(backup: backup))) }
            Output.note("'\(backup.file)' holds \(backup.contentText). " + backup.openingText)
            for warning in backup.warnings { Output.note("Warning: " + warning) }
        }
    }

    struct Restore: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put a backup in the vault's place.",
            usage: "keychainctl restore <file> [--yes] [--force] [--json] [<options>]",
            discussion: """
                The file is checked from end to end first. The vault that is replaced is kept, as a \
                file in the vault's folder, until you remove it. Other programs go on in the restored \
                vault. On a terminal you are asked before a vault is replaced; elsewhere --yes is \
                needed. A secret that is given has to open the backup; else nothing is changed.

                What was restored is older than what this machine has seen, so it has to be accepted \
                before it can be written. That is done at once; if it is locked here it takes a secret \
                that opens it. Without one this command fails when all else is done, except with --force, \
                and the vault can be read: see keychainctl accept --help.

                With --json: the object that `backup` prints, and the keys replaced, the file that the \
                vault of before is kept in, or null, and accepted, whether it can be written at once.

                EXAMPLES
                  keychainctl restore /media/stick/vault.backup
                  keychainctl restore ~/vault.backup --yes
                """)

        @Argument(help: ArgumentHelp("What `backup` wrote.", valueName: "file"))
        var file: String

        @Flag(help: "Also if nothing here opens it, or items in it are damaged.")
        var force = false

        @Flag(help: "Print JSON, for programs.")
        var json = false

        @OptionGroup var confirmation: Confirmation
        @OptionGroup(title: "Unlocking, for this command alone") var unlock: UnlockOptions

        func run() throws {
            let vault = try UserKeychain().vault
            let backup = try vault.examineBackup(file)
            Output.note("'\(backup.file)' holds \(backup.contentText). " + backup.openingText)
            let secret = try checkedSecret(vault)
            try confirm(vault, backup)
            let done = try vault.restore(from: file, force: force, asShown: backup)
            Output.note("It is the vault in '\(vault.location.folder)' now.")
            if let replaced = done.replaced {
                Output.note("The vault of before is kept in '\(replaced)'. Remove it when nobody needs it any more.")
            }
            let obstacle = acceptUnlocked(vault, secret, done.obstacle)
            if json {
                try Output.write(
                    JSONOutput.line(BackupJSON(backup: done.backup, restoration: done, isAccepted: obstacle == nil)))
            }
            guard let obstacle else { return }
            guard force else { throw Self.notAccepted(obstacle) }
            Output.note(Self.notAccepted(obstacle).message)
        }

        /// The secret that was given, which opens the backup; `nil` if none was.
        private func checkedSecret(_ vault: Vault) throws(KeychainError) -> ProtectorSecret? {
            guard unlock.given != nil else { return nil }
            var checked: ProtectorSecret?
            try unlock.unlock(vault) { (secret) throws(KeychainError) in
                try vault.checkBackup(file, opensWith: secret)
                checked = secret
            }
            return checked
        }

        /// A vault that starts locked takes somebody who unlocks it. Whoever forces a backup into place may not have what opens it.
        private func acceptUnlocked(
            _ vault: Vault, _ secret: ProtectorSecret?, _ obstacle: KeychainError?
        ) -> KeychainError? {
            guard let obstacle, obstacle.reason == .locked else { return obstacle }
            do throws(KeychainError) {
                guard let secret else {
                    try unlock.unlocking(vault) { () throws(KeychainError) in _ = try vault.accept() }
                    return nil
                }
                try vault.unlock(secret, keepingKeysIn: .process)
                try vault.accept()
                return nil
            } catch {
                return error
            }
        }

        private static func notAccepted(_ cause: KeychainError) -> KeychainError {
            let advice =
                cause.reason == .locked ? " If it can then be read and not written, run: keychainctl accept" : ""
            return KeychainError(
                cause.reason, "The backup was restored, but could not be accepted: \(cause.message)\(advice)")
        }

        private func confirm(_ vault: Vault, _ backup: VaultBackup) throws(KeychainError) {
            let folder = vault.location.folder
            guard !confirmation.yes, access(folder + "/vault.db", F_OK) == 0 else { return }
            let which: String
            do throws(KeychainError) {
                which = try vault.id == backup.vaultID ? "an older state of it" : "another vault"
            } catch {
                // To go on would wait as long once more.
                if error.reason == .busy { throw error }
                which = "this backup"  // What is there does not open; it is kept all the same.
            }
            try confirmation.ask("The vault in '\(folder)' will be replaced by \(which), and kept as a file.")
        }
    }
}

extension VaultBackup {
    fileprivate var contentText: String {
        let counts = [
            (damagedCount, "damaged"), (lockedCount, "locked and not looked at"),
            (ofAnotherDeviceCount, "for another device alone"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return (itemCount == 1 ? "1 item" : "\(itemCount) items")
            + (counts.isEmpty ? "" : " (" + counts.joined(separator: ", ") + ")")
            + (quarantinedCount > 0 ? ", and \(quarantinedCount) in quarantine" : "")
    }

    fileprivate var openingText: String {
        let names = protectors.map { $0.kind?.name ?? "a kind made by a newer version" }
        let here =
            switch opening {
            case .byItself: ""
            case .unlockable: " Here it starts locked."
            case .notHere: obstacle.map { " " + $0.message } ?? " Nothing that is here opens it."
            }
        return "It opens with: \(names.joined(separator: ", "))." + here
    }

    fileprivate var warnings: [String] {
        var warnings: [String] = []
        if opensWithDeviceKeyAlone {
            warnings.append(
                "only the device key opens it, which is not in it. Keep a copy of that file elsewhere, or run: "
                    + "keychainctl protect add recovery-key; and make the backup again.")
        }
        if damagedCount > 0 { warnings.append("items are damaged in the vault, and so in its copy.") }
        if isKeybagCopyDamaged { warnings.append("one of the two copies of the keybag is damaged.") }
        return warnings
    }
}

private struct BackupJSON: Encodable {
    let backup: VaultBackup
    var restoration: VaultRestoration?
    var isAccepted = false

    private enum Key: String, CodingKey {
        case file, vault, formatVersion, items, quarantined, damaged, locked, ofAnotherDevice, opening
        case opensWithDeviceKeyAlone, keybagCopyDamaged, protectors, replaced, accepted
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(backup.file, forKey: .file)
        try object.encode(backup.vaultID.uuidString.lowercased(), forKey: .vault)
        try object.encode(backup.formatVersion, forKey: .formatVersion)
        try object.encode(backup.itemCount, forKey: .items)
        try object.encode(backup.quarantinedCount, forKey: .quarantined)
        try object.encode(backup.damagedCount, forKey: .damaged)
        try object.encode(backup.lockedCount, forKey: .locked)
        try object.encode(backup.ofAnotherDeviceCount, forKey: .ofAnotherDevice)
        try object.encode(backup.opening.word, forKey: .opening)
        try object.encode(backup.opensWithDeviceKeyAlone, forKey: .opensWithDeviceKeyAlone)
        try object.encode(backup.isKeybagCopyDamaged, forKey: .keybagCopyDamaged)
        try object.encode(backup.protectors.map(ProtectorJSON.init), forKey: .protectors)
        if let restoration {
            try object.encode(restoration.replaced, forKey: .replaced)
            try object.encode(isAccepted, forKey: .accepted)
        }
    }
}

extension VaultBackup.Opening {
    /// The word in JSON; it never changes.
    fileprivate var word: String {
        switch self {
        case .byItself: "by-itself"
        case .unlockable: "unlockable"
        case .notHere: "not-here"
        }
    }
}
