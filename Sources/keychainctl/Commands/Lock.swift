// SPDX-License-Identifier: Apache-2.0
// keychainctl lock and unlock: for all processes of the user.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Lock: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lock the vault, for all your processes.",
            discussion: """
                Items of the classes "after first unlock" stay open until the system restarts, so that \
                programs in the background go on working; with --all they are closed too.

                A vault that the device key opens by itself cannot be locked: exit code 14. Where the \
                kernel keeps no keys, each process keeps those that it has unlocked for itself, and none \
                can be locked from outside: exit code 13. If a credential opens the vault, all others are \
                locked, and the command says that the service with the credential goes on.

                EXAMPLES
                  keychainctl lock
                  keychainctl lock --all
                """)

        @Flag(help: "Close as well what stays open after the first unlock.")
        var all = false

        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            if vault.unlockCacheInUse == .process, try vault.openedBy != .deviceKey {
                throw KeychainError(
                    .unavailable,
                    "Nothing was locked. \(OwnKeys.reason(vault)): one that has unlocked the vault stays open until it locks it "
                        + "itself or ends." + OwnKeys.advice(vault))
            }
            guard try vault.lock(forgettingFirstUnlock: all) != nil else { return }
            Output.note(
                "Locked for your other processes. This process still opens the vault with the credential in "
                    + "'\(vault.settings.credentialsFolder ?? "")', and so does whatever runs in the same service.")
        }
    }

    struct Unlock: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Unlock the vault, for all your processes.",
            usage: "keychainctl unlock [<options>]",
            discussion: """
                The passphrase is asked for on the terminal and not shown. A newline at the end of \
                what comes through a descriptor does not count. The vault stays unlocked until it is \
                locked, for as long as --timeout says after it was last used, or until the system \
                restarts.

                The kernel keeps the keys. Where it refuses, as in many containers, each process has \
                to unlock for itself: give the options of this verb to `get`, `set`, `list` or \
                `delete`; this one then ends with code 13.

                EXAMPLES
                  keychainctl unlock
                  keychainctl unlock --timeout 15m
                  keychainctl unlock --passphrase-fd 3 3< passphrase
                  keychainctl unlock --key-file /media/stick/keychain.key
                """)

        @OptionGroup(title: "Secret") var options: UnlockOptions

        @Option(help: ArgumentHelp("Lock after this long without use: 90s, 15m, 8h.", valueName: "time"))
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
            Output.note(
                kind == .credential
                    ? "This process opens the vault with the credential, so there is nothing to unlock. To unlock it for "
                        + "processes outside the service give a secret, for example --passphrase-fd 3."
                    : "This vault opens without asking anybody, so there is nothing to unlock.")
            return true
        }

        private func checkServesOthers(_ vault: Vault) throws(KeychainError) {
            guard vault.unlockCacheInUse == .process else { return }
            throw KeychainError(
                .unavailable,
                "\(OwnKeys.reason(vault)), so unlocking here would end with this command. Give the secret to the command that needs it, for "
                    + "example: keychainctl get --passphrase-fd 3 …")
        }
    }
}

/// What people are told where each process keeps the keys that it has unlocked.
private enum OwnKeys {
    static func reason(_ vault: Vault) -> String {
        vault.settings.unlockCache == .process
            ? "KEYCHAIN_UNLOCK_CACHE=process keeps the keys in each process"
            : "The kernel keeps no keys here, so each process keeps its own"
    }

    static func advice(_ vault: Vault) -> String {
        vault.settings.unlockCache == .process
            ? " What is unlocked in the kernel's keyring stays open too. To lock that, leave the variable out." : ""
    }
}

/// A time such as 90s, 15m or 8h.
struct IdleTimeout: ExpressibleByArgument {
    let duration: Duration

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600]

    init?(argument: String) {
        guard let unit = argument.last.flatMap({ Self.units[$0] }), argument.utf8.count <= 10,
            let number = Int64(argument.dropLast()), number > 0, number * unit <= UInt32.max
        else { return nil }
        duration = .seconds(number * unit)
    }
}
