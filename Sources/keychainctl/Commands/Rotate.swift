// SPDX-License-Identifier: Apache-2.0
// keychainctl rotate: new class keys.

import ArgumentParser
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Encrypt every item again with new keys, and destroy the old keys.",
            usage: "keychainctl rotate [<options>]",
            discussion: """
                Other programs can read and write during the rotation. You can interrupt it at any time; \
                run it again to continue. Items bound to this device require the device key that the vault is bound to; \
                without it they are not changed, and the exit code is 13.

                Damaged items cannot be encrypted again. They are moved to the quarantine, their old keys are \
                kept, and the exit code is 8, although all other items have new keys. To list them: \
                keychainctl quarantine list

                EXAMPLES
                  keychainctl rotate
                  keychainctl rotate --passphrase-fd 3 3< passphrase
                """)

        @OptionGroup(title: "Secret that opens the vault") var options: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            let authority = try options.authority(vault)
            let progress = ProgressLine()
            defer { progress.end() }
            var damaged = 0
            do throws(KeychainError) {
                let kept = try vault.rotate(
                    authority: authority, progress: { progress.show($0) }, quarantined: { damaged += $0 })
                progress.end()
                RemovedDataNotice.tell(vault)
                if kept > 0 {
                    Output.note("Items bound to another device, which keep the keys of that device: \(kept).")
                }
            } catch {
                progress.end()
                QuarantineNotice.tell(damaged)
                throw error
            }
            guard damaged == 0 else {
                throw KeychainError(.corrupt, "Not all items have new keys. " + QuarantineNotice.text(damaged))
            }
        }
    }
}

/// The message about damaged items that a rotation has found.
enum QuarantineNotice {
    static func text(_ count: Int) -> String {
        "Damaged items, moved to the quarantine with their old keys: \(count). To list them: keychainctl quarantine list"
    }

    /// Nothing if there are none.
    static func tell(_ count: Int) {
        if count > 0 { Output.note(text(count)) }
    }
}

/// The message of a command that erases something, if the WAL may still hold it.
enum RemovedDataNotice {
    static func tell(_ vault: Vault) {
        do throws(KeychainError) {
            guard try vault.walHoldsRemovedData else { return }
            Output.note(
                "What was removed may still be in the WAL of the vault, because another process was reading it or the disk "
                    + "was full. The next change of the vault erases it, unless a process is still reading. To check, run: "
                    + "keychainctl status")
        } catch {
            // The removal is made, whatever becomes of this.
            Output.complain(error.message)
        }
    }
}
