// SPDX-License-Identifier: Apache-2.0
// keychainctl watch-session: lock with the screen, and before the system sleeps.

import ArgumentParser
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct WatchSession: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch-session",
            abstract: "Lock the vault with your session, and before the system sleeps.",
            discussion: """
                Waits for systemd-logind to say that one of your sessions is locked or that the system \
                is about to sleep, and locks the vault as `lock` does; the system sleeps only after \
                that. It runs until it is ended, and ends by itself if the system bus goes away.

                As ~/.config/systemd/user/keychain-lock.service, with your path to the tool:

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

        @Flag(help: "Close as well what stays open after the first unlock.")
        var all = false

        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain().vault
            guard vault.unlockCacheInUse == .kernel else { throw Self.useless }
            let watch = try LoginSessionWatch()
            if !watch.delaySleep() {
                Output.note(
                    "The system does not wait for this when it goes to sleep; the vault is locked all the same.")
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

        /// What keeps the vault from being locked now need not do so the next time.
        private func lock(_ vault: Vault, _ why: String) {
            do throws(KeychainError) {
                let stillOpens = try vault.lock(forgettingFirstUnlock: all)
                try Vault.closeAll()
                Output.note(
                    "Locked, since \(why)."
                        + (stillOpens == nil ? "" : " This service still opens it with its credential."))
            } catch {
                Output.complain(error.message)
            }
        }

        private static let useless = KeychainError(
            .unavailable,
            "Here each process keeps the keys that it has unlocked for itself, so there is nothing to lock from outside."
        )
    }
}
