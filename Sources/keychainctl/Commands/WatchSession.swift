// SPDX-License-Identifier: Apache-2.0
// keychainctl watch-session: lock when the screen is locked and before the system sleeps.

import ArgumentParser
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct WatchSession: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch-session",
            abstract: "Lock the vault when your session is locked, and before the system sleeps.",
            discussion: """
                This waits until systemd-logind reports that one of your sessions is locked or that the \
                system is about to sleep. Then it locks the vault as `lock` does; the system sleeps only \
                after that. It runs until you stop it or the connection to the system bus is lost.

                `make install` and the Debian package install a unit that runs it as a service. Without \
                them, write ~/.config/systemd/user/keychain-lock.service, with your path to the tool:

                  [Unit]
                  Description=Lock the keychain with the session
                  [Service]
                  ExecStart=%h/.local/bin/keychainctl watch-session
                  Restart=on-failure
                  [Install]
                  WantedBy=default.target

                EXAMPLES
                  keychainctl watch-session
                  systemctl --user enable --now keychain-lock.service
                """)

        @Flag(help: "Also close items that stay open after the first unlock.")
        var all = false

        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain().vault
            guard vault.unlockCacheInUse == .kernel else { throw Self.useless }
            let watch = try LoginSessionWatch()
            if !watch.delaySleep() {
                Output.note(
                    "Warning: the system does not wait for this command before it sleeps, so the vault may be locked only "
                        + "after it wakes up.")
            }
            Output.note("Waiting for a session to be locked, or the system to sleep.")
            while true { try handle(watch.next(), vault, watch) }
        }

        private func handle(_ event: LoginSessionWatch.Event, _ vault: Vault, _ watch: LoginSessionWatch) throws {
            switch event {
            case .locked: lock(vault, "the session was locked")
            case .goingToSleep:
                lock(vault, "the system goes to sleep")
                watch.allowSleep()
            case .awake: _ = watch.delaySleep()
            }
        }

        /// A failure to lock now does not prevent locking the next time.
        private func lock(_ vault: Vault, _ why: String) {
            do throws(KeychainError) {
                let stillOpens = try vault.lock(forgettingFirstUnlock: all)
                try Vault.closeAll()
                Output.note(
                    "Locked because \(why)."
                        + (stillOpens == nil ? "" : " This service still opens it with its credential."))
            } catch {
                Output.complain(error.message)
            }
        }

        private static let useless = KeychainError(
            .unavailable,
            "The kernel keyring is not used here. Each process keeps its own keys, so this command cannot lock the vault. "
                + "To see why, run: keychainctl doctor")
    }
}
