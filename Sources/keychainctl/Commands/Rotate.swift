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
                run it again to continue. Damaged items are moved to the quarantine, and their keys are \
                kept. Items bound to this device require the device key that the vault is bound to; \
                without it they are not changed, and the exit code is 13.

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
            let kept = try vault.rotate(authority: authority) { progress.show($0) }
            progress.end()
            if kept > 0 { Output.note("Items bound to another device, which keep the keys of that device: \(kept).") }
        }
    }
}
