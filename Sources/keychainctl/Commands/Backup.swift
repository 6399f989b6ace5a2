// SPDX-License-Identifier: Apache-2.0
// keychainctl backup and restore: the vault as one file, and back.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Backup: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup",
            abstract: "Write a copy of the vault into one file.",
            usage: "keychainctl backup <file> [--replace] [--json]",
            discussion: """
                Other programs can read and write during the backup, and the vault may be locked. The \
                copy is verified completely before it gets its name. The command prints what opens the \
                backup: anyone who has that and the file can read everything in it. The device key is \
                never part of a backup.

                With --json: an object with the keys file, vault, formatVersion, items, ofTheKeychain \
                (earlier versions of items, and settings; no list shows them), quarantined, damaged, locked, ofAnotherDevice (counts), opening (by-itself, unlockable, not-here), \
                opensWithDeviceKeyAlone, keybagCopyDamaged, differences (an array of sentences) and protectors.

                EXAMPLES
                  keychainctl backup /media/stick/vault.backup
                  keychainctl backup ~/vault.backup --replace
                """)

        @Argument(help: ArgumentHelp("The file to write; not in the vault folder.", valueName: "file"))
        var file: String

        @Flag(help: "Replace an existing backup of that name.")
        var replace = false

        @Flag(help: "Print JSON, for programs.")
        var json = false

        func validate() throws {
            guard file != "-" else {
                throw ValidationError(
                    "A backup is verified where it is written, which standard output cannot be. Name a file.")
            }
        }

        func run() throws {
            let vault = try UserKeychain().vault
            let backup = try ProgressLine.counting { (progress) throws(KeychainError) in
                try vault.backup(to: file, replacing: replace, progress: progress)
            }
            Output.note("'\(backup.file)' holds \(backup.contentText). " + backup.openingText)
            for warning in backup.warnings { Output.note("Warning: " + warning) }
            guard json else { return }
            try Output.write(
                JSONOutput.line(BackupJSON(backup: backup)), after: "The backup was written to '\(backup.file)'.")
        }
    }

    struct Restore: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Replace the vault with a backup.",
            usage: "keychainctl restore <file> [--yes] [--force] [--json] [<options>]",
            discussion: """
                The file is verified completely first. The replaced vault is kept as a file in the \
                vault folder until you remove it. Other programs continue with the restored vault. On a \
                terminal you are asked before a vault is replaced; without a terminal, --yes is \
                required. If you give a secret, it must open the backup; otherwise nothing is changed.

                A restored vault is older than the newest state known to this machine, so it must be \
                accepted before it can be changed. This command accepts it at once. That needs \
                the device key, or a secret that opens the backup. Without one, the vault is restored \
                and can be read, but the command fails unless --force is given: see \
                keychainctl accept --help.

                With --json: the object that `backup` prints, and the keys replaced (the file that \
                contains the previous vault, or null), replacedWAL (the file that contains the WAL of a \
                database that was missing, or null) and accepted (whether the vault can be changed now).

                EXAMPLES
                  keychainctl restore /media/stick/vault.backup
                  keychainctl restore ~/vault.backup --yes
                """)

        @Argument(help: ArgumentHelp("What `backup` wrote.", valueName: "file"))
        var file: String

        @Flag(help: "Restore it even if nothing here opens it, or if its items are damaged, missing or changed.")
        var force = false

        @Flag(help: "Print JSON, for programs.")
        var json = false

        @OptionGroup var confirmation: Confirmation
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func run() throws {
            let vault = try UserKeychain().vault
            let backup = try ProgressLine.counting { (progress) throws(KeychainError) in
                try vault.examineBackup(file, progress: progress)
            }
            Output.note("'\(backup.file)' holds \(backup.contentText). " + backup.openingText)
            let secret = try checkedSecret(vault, backup)
            try confirm(vault, backup)
            let done = try ProgressLine.counting { (progress) throws(KeychainError) in
                try vault.restore(from: file, force: force, asShown: backup, progress: progress)
            }
            Output.note("It is now the vault in '\(vault.location.folder)'.")
            if let replaced = done.replaced {
                Output.note("The previous vault is kept in '\(replaced)'. Remove it when you no longer need it.")
            }
            if let wal = done.replacedWAL {
                Output.note(
                    "The WAL of a missing database is kept in '\(wal)'. Remove that file when you no longer need it.")
            }
            let failure = acceptUnlocked(vault, secret, done.acceptanceFailure)
            if json {
                try Output.write(
                    JSONOutput.line(BackupJSON(backup: done.backup, restoration: done, isAccepted: failure == nil)),
                    after: "The backup was restored\(failure == nil ? "" : ", and could not be accepted").")
            }
            if let failure {
                guard force, Self.isExpected(failure, done) else {
                    // Neither failure hides the other one.
                    if let other = done.lockFailure { Output.complain(Self.notLocked(other).message) }
                    throw Self.notAccepted(failure)
                }
                Output.note(Self.notAccepted(failure).message)
            }
            if let failure = done.lockFailure { throw Self.notLocked(failure) }
        }

        private static func notLocked(_ cause: KeychainError) -> KeychainError {
            KeychainError(
                cause.reason,
                "The backup was restored, but the previous vault, which is kept, may still be unlocked: \(cause.message)"
            )
        }

        /// With `--force` nothing has to open the backup, but the medium must be readable and writable. Some failures
        /// of a medium have no separate reason.
        private static func isExpected(_ failure: KeychainError, _ done: VaultRestoration) -> Bool {
            guard done.isClosedHere else { return false }
            if failure == done.acceptanceFailure {
                return ![.inputOutput, .diskFull, .readOnly, .busy].contains(failure.reason)
            }
            // It was locked, and then the user was asked for the secret.
            return Self.failuresOfSecrets.contains(failure.reason)
        }

        private static let failuresOfSecrets: [KeychainError.Reason] = [
            .locked, .interactionNotAllowed, .cancelled, .authenticationFailed, .invalidParameter,
        ]

        /// The given secret, which opens the backup; `nil` if none was given.
        private func checkedSecret(
            _ vault: Vault, _ backup: VaultBackup
        ) throws(KeychainError) -> ProtectorSecret? {
            guard unlock.given != nil else { return nil }
            try unlock.checkIsNotAskedInVain(for: "'\(backup.file)'", backup.protectors)
            var checked: ProtectorSecret?
            try unlock.tryGiven(vault) { (secret) throws(KeychainError) in
                try vault.checkBackup(file, opensWith: secret)
                checked = secret
            }
            return checked
        }

        /// A vault that starts locked needs a secret from the user. A user who forces a restoration may not have one.
        private func acceptUnlocked(
            _ vault: Vault, _ secret: ProtectorSecret?, _ failure: KeychainError?
        ) -> KeychainError? {
            guard let failure, failure.reason == .locked else { return failure }
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
                cause.reason == .locked
                ? " If the vault can then be read but not changed, run: keychainctl accept"
                : " When that is resolved, run: keychainctl accept"
            // The message of a cancelled prompt says that nothing was changed.
            let why = cause.reason == .cancelled ? "The prompt was cancelled." : cause.message
            return KeychainError(
                cause.reason, "The backup was restored, but could not be accepted: \(why)\(advice)")
        }

        private func confirm(_ vault: Vault, _ backup: VaultBackup) throws(KeychainError) {
            let folder = vault.location.folder
            guard !confirmation.yes, access(folder + "/vault.db", F_OK) == 0 else { return }
            let which: String
            do throws(KeychainError) {
                which = try vault.id == backup.vaultID ? "an older state of it" : "another vault"
            } catch {
                // Continuing would wait as long again.
                if error.reason == .busy { throw error }
                which = "this backup"  // The current vault does not open; it is kept anyway.
            }
            try confirmation.ask(
                "The vault in '\(folder)' will be replaced by \(which). The current vault is kept as a file.")
        }
    }
}

extension VaultBackup {
    /// As `list` counts.
    fileprivate var listedCount: Int { itemCount - internalItemCount }

    fileprivate var contentText: String {
        let counts = [
            (damagedCount, "damaged"), (lockedCount, "locked and not checked"),
            (ofAnotherDeviceCount, "bound to another device"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return (listedCount == 1 ? "1 item" : "\(listedCount) items")
            + (counts.isEmpty ? "" : " (" + counts.joined(separator: ", ") + ")")
            + (internalItemCount > 0 ? ", and for the keychain itself (history, settings) \(internalItemCount)" : "")
            + (quarantinedCount > 0 ? ", and \(quarantinedCount) in quarantine" : "")
    }

    fileprivate var openingText: String {
        let names = protectors.map { $0.kind?.name ?? "a kind made by a newer version" }
        let here =
            switch opening {
            case .byItself: ""
            case .unlockable: " On this machine it needs one of these secrets."
            case .notHere: deviceKeyFailure.map { " " + $0.message } ?? " Nothing on this machine opens it."
            }
        return "It opens with: \(names.joined(separator: ", "))." + here
    }

    fileprivate var warnings: [String] {
        var warnings: [String] = []
        if opensWithDeviceKeyAlone {
            warnings.append(
                "only the device key opens it, and the backup does not contain that key. Keep a copy of the device key "
                    + "elsewhere, or run: keychainctl protect add recovery-key; then make the backup again.")
        }
        if damagedCount > 0 { warnings.append("the vault and the backup have damaged items. See: keychainctl doctor") }
        if !differences.isEmpty {
            warnings.append(
                "the vault and the backup differ from their last known state: \(differences.sentence). The backup can "
                    + "be restored only with --force. See: keychainctl accept --help")
        }
        if isKeybagCopyDamaged { warnings.append("one of the two copies of the keybag is damaged.") }
        return warnings
    }
}

private struct BackupJSON: Encodable {
    let backup: VaultBackup
    var restoration: VaultRestoration?
    var isAccepted = false

    private enum Key: String, CodingKey {
        case file, vault, formatVersion, items, ofTheKeychain, quarantined, damaged, locked, ofAnotherDevice, opening
        case opensWithDeviceKeyAlone, keybagCopyDamaged, differences, protectors, replaced, replacedWAL, accepted
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(backup.file, forKey: .file)
        try object.encode(backup.vaultID.uuidString.lowercased(), forKey: .vault)
        try object.encode(backup.formatVersion, forKey: .formatVersion)
        try object.encode(backup.listedCount, forKey: .items)
        try object.encode(backup.internalItemCount, forKey: .ofTheKeychain)
        try object.encode(backup.quarantinedCount, forKey: .quarantined)
        try object.encode(backup.damagedCount, forKey: .damaged)
        try object.encode(backup.lockedCount, forKey: .locked)
        try object.encode(backup.ofAnotherDeviceCount, forKey: .ofAnotherDevice)
        try object.encode(backup.opening.word, forKey: .opening)
        try object.encode(backup.opensWithDeviceKeyAlone, forKey: .opensWithDeviceKeyAlone)
        try object.encode(backup.isKeybagCopyDamaged, forKey: .keybagCopyDamaged)
        try object.encode(backup.differences.map(\.message), forKey: .differences)
        try object.encode(backup.protectors.map(ProtectorJSON.init), forKey: .protectors)
        if let restoration {
            try object.encode(restoration.replaced, forKey: .replaced)
            try object.encode(restoration.replacedWAL, forKey: .replacedWAL)
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
