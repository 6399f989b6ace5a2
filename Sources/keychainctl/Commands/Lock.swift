// SPDX-License-Identifier: Apache-2.0
// keychainctl lock and unlock: for all processes of the user.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Lock: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lock",
            abstract: "Lock the vault, for all your processes.",
            discussion: """
                Items of the classes "after first unlock" stay open until the system restarts, so that \
                background programs continue to work; --all closes them too.

                A vault that the device key opens cannot be locked: exit code 14. Where the kernel \
                keyring is not used, each process keeps its own keys, and other processes cannot be \
                locked: exit code 13. If a credential opens the vault, all other processes are locked, \
                and the command reports that the service with the credential can still open it.

                EXAMPLES
                  keychainctl lock
                  keychainctl lock --all
                """)

        @Flag(help: "Also close items that stay open after the first unlock.")
        var all = false

        @OptionGroup var stray: StrayWords

        func run() throws {
            do throws(KeychainError) {
                try lock(try UserKeychain.existingVault())
            } catch {
                // Which keys are the vault's, only its files tell.
                guard [.unsafeLocation, .corrupt, .inputOutput, .newerFormat].contains(error.reason) else {
                    throw error
                }
                throw KeychainError(
                    error.reason,
                    "Nothing was locked: if the vault is unlocked, its keys stay where they are. \(error.message) "
                        + "Then lock it again.")
            }
        }

        private func lock(_ vault: Vault) throws(KeychainError) {
            if vault.unlockCacheInUse == .process, try vault.openedBy != .deviceKey {
                throw KeychainError(
                    .unavailable,
                    "Nothing was locked. \(OwnKeys.reason(vault)). The vault stays open in a process that unlocked it until that "
                        + "process locks it or ends." + OwnKeys.advice(vault))
            }
            guard try vault.lock(forgettingFirstUnlock: all) != nil else { return }
            Output.note(
                "Locked for your other processes. This process still opens the vault with the credential in "
                    + "'\(vault.settings.credentialsFolder ?? "")', and so does every process of the same service.")
        }
    }

    struct Unlock: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unlock",
            abstract: "Unlock the vault, for all your processes.",
            usage: "keychainctl unlock [<options>]",
            discussion: """
                You enter the passphrase at a prompt; it is not shown. A newline at the end of a \
                passphrase or recovery key on a descriptor is ignored. The vault stays unlocked until \
                you lock it, until it has not been used for the time given with --timeout, or until the \
                system restarts.

                The kernel keyring holds the keys. Where it is not available, as in many containers, \
                each process must unlock the vault for itself, and this command ends with code 13. Give \
                its options to `get`, `set`, `list` or `delete` instead.

                EXAMPLES
                  keychainctl unlock
                  keychainctl unlock --timeout 15m
                  keychainctl unlock --passphrase-fd 3 3< passphrase
                  keychainctl unlock --key-file /media/stick/keychain.key
                """)

        @OptionGroup(title: "Secret") var options: UnlockOptions

        @Option(
            help: ArgumentHelp(
                "Lock after this long without use: 90s, 15m, 8h, 2d; a number alone is seconds.", valueName: "time"),
            transform: IdleTimeout.init)
        var timeout: IdleTimeout?

        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            if options.given == nil, try opensAnyway(vault) { return }
            try checkServesOthers(vault)
            try options.unlock(vault) { (secret) throws(KeychainError) in
                try vault.unlock(secret, idleTimeout: timeout?.duration)
            }
        }

        private func opensAnyway(_ vault: Vault) throws(KeychainError) -> Bool {
            guard let kind = try vault.openedBy else { return false }
            guard kind == .credential else {
                Output.note("This vault opens without a prompt, so there is nothing to unlock.")
                return true
            }
            let ways = try UnlockOptions.ways(vault).joined(separator: " or ")
            Output.note(
                "This process opens the vault with the credential, so there is nothing to unlock. To unlock it for processes "
                    + "outside the service, "
                    + (ways.isEmpty
                        ? "first add a secret: keychainctl protect add passphrase" : "give a secret with \(ways)."))
            return true
        }

        private func checkServesOthers(_ vault: Vault) throws(KeychainError) {
            guard vault.unlockCacheInUse == .process else { return }
            let wrong = try options.given == nil ? vault.wrongCredential : nil
            let cause = wrong.map { "The credential '\($0)' does not open this vault. " } ?? ""
            throw KeychainError(
                .unavailable,
                "\(cause)\(OwnKeys.reason(vault)), so an unlock would have no effect after this command."
                    + (try UnlockOptions.adviceForOneCommand(vault)))
        }
    }
}

/// The messages for systems on which each process keeps its own keys.
private enum OwnKeys {
    static func reason(_ vault: Vault) -> String {
        vault.settings.unlockCache == .process
            ? "KEYCHAIN_UNLOCK_CACHE=process keeps the keys in each process"
            : "The kernel keyring is not available here, so each process keeps its own keys"
    }

    static func advice(_ vault: Vault) -> String {
        vault.settings.unlockCache == .process
            ? " Keys in the kernel keyring stay there too. To remove them, unset the variable and run the command again."
            : ""
    }
}
