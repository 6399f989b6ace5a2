// SPDX-License-Identifier: Apache-2.0
// keychainctl init: create the vault.

import ArgumentParser
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Create the vault if there is none, and choose what opens it.",
            usage: "keychainctl init [<options>]",
            discussion: """
                Without options, a device key opens the vault without a prompt. The device key is a file \
                of yours. The first `set` creates such a vault too. With --no-device-key, only the other \
                secrets open the vault, and it starts locked.

                The recovery key is written to standard output, once. If there is already a vault, \
                nothing is changed; the exit code is 4 if it does not match the options.

                EXAMPLES
                  keychainctl init
                  keychainctl init --passphrase --recovery-key --no-device-key
                  keychainctl init --passphrase-fd 3 3< passphrase
                """)

        @Flag(help: "Ask for a passphrase that opens the vault.")
        var passphrase = false

        @Option(help: ArgumentHelp("Read the passphrase from this open descriptor.", valueName: "number"))
        var passphraseFd: String?

        @Flag(help: "Create a recovery key, in case the passphrase is forgotten.")
        var recoveryKey = false

        @Flag(help: "Do not let the device key open the vault.")
        var noDeviceKey = false

        @OptionGroup var stray: StrayWords

        func validate() throws {
            try Descriptors.check(["--passphrase-fd": passphraseFd])
            guard !noDeviceKey || wantsPassphrase || recoveryKey else {
                throw ValidationError("With --no-device-key, give --passphrase or --recovery-key as well.")
            }
        }

        private var wantsPassphrase: Bool { passphrase || passphraseFd != nil }

        func run() throws {
            let vault = try UserKeychain().vault
            guard try vault.protectors.isEmpty else { return try checkPresent(vault) }
            // Asked first: if the user cancels here, nothing has been created.
            var secrets: [ProtectorSecret] = []
            if wantsPassphrase {
                let text = try NewPassphrase.read(passphraseFd.flatMap(Descriptors.number))
                secrets.append(ProtectorSecret(.passphrase, text))
            }
            if recoveryKey { secrets.append(ProtectorSecret(.recoveryKey, Vault.makeRecoveryKey())) }
            try RecoveryKeyOutput.showing(secrets) { () throws(KeychainError) in
                guard try vault.create() else { throw opensOtherwise(vault) }
                try afterCreation(vault) { () throws(KeychainError) in try add(secrets, to: vault) }
            }
            Output.note("The vault is in '\(vault.location.folder)'.")
            guard noDeviceKey else { return }
            try afterCreation(vault) { () throws(KeychainError) in
                try removeDeviceKey(vault, authority: secrets.first)
            }
        }

        /// A step after which the vault stays, whether it succeeds or not. The device key may then still open it.
        private func afterCreation(
            _ vault: Vault, _ step: () throws(KeychainError) -> Void
        ) throws(KeychainError) {
            do throws(KeychainError) {
                try step()
            } catch {
                throw error.after(
                    "The vault in '\(vault.location.folder)' was created, but a later step failed.",
                    next: "To see what opens it, run: keychainctl protect list")
            }
        }

        private func add(_ secrets: [ProtectorSecret], to vault: Vault) throws(KeychainError) {
            // The first secret authorizes the others.
            for secret in secrets {
                let isFirst = try !vault.protectors.contains { $0.kind?.holder == .person }
                try vault.addProtector(secret, authority: isFirst ? nil : secrets.first)
            }
        }

        private func removeDeviceKey(_ vault: Vault, authority: ProtectorSecret?) throws(KeychainError) {
            for slot in try vault.protectors where slot.kind == .deviceKey {
                try vault.removeProtector(slot.id, authority: authority)
            }
            try LockNotice.tell(vault)
        }

        private func checkPresent(_ vault: Vault) throws(KeychainError) {
            let kinds = try vault.protectors.compactMap(\.kind)
            let isAsAsked =
                (!wantsPassphrase || kinds.contains(.passphrase)) && (!recoveryKey || kinds.contains(.recoveryKey))
                && (!noDeviceKey || !kinds.contains(.deviceKey))
            guard isAsAsked, try opensWithGiven(vault) else { throw opensOtherwise(vault) }
            Output.note("There is already a vault in '\(vault.location.folder)'; nothing was changed.")
        }

        /// Whether a passphrase that a script gives is one of the vault. A person is not asked for it.
        private func opensWithGiven(_ vault: Vault) throws(KeychainError) -> Bool {
            guard let descriptor = passphraseFd.flatMap(Descriptors.number) else { return true }
            do throws(KeychainError) {
                try vault.unlock(
                    ProtectorSecret(.passphrase, try NewPassphrase.read(descriptor)), keepingKeysIn: .process)
                return true
            } catch {
                guard error.reason == .authenticationFailed else { throw error }
                return false
            }
        }

        private func opensOtherwise(_ vault: Vault) -> KeychainError {
            KeychainError(
                .duplicateItem,
                "There is already a vault in '\(vault.location.folder)', and what opens it does not match the options. "
                    + "Nothing was changed. To change what opens it, see: keychainctl protect --help")
        }
    }
}

/// The message after which nothing opens the vault by itself any more.
enum LockNotice {
    static func tell(_ vault: Vault) throws(KeychainError) {
        guard try !vault.opensByItself else { return }
        // It may have been unlocked while the device key existed.
        try vault.lock()
        Output.note("The vault is locked now. " + vault.settings.unlockAdvice)
    }

    /// After a change that is made, whatever becomes of this.
    static func tell(_ vault: Vault, ifItWasUnlocked wasUnlocked: Bool) {
        do throws(KeychainError) {
            if wasUnlocked { try tell(vault) }
        } catch {
            Output.complain(error.message)
        }
    }
}
