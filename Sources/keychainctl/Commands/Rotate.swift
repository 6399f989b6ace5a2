// SPDX-License-Identifier: Apache-2.0
// keychainctl rotate: new class keys.

import ArgumentParser
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Seal every item again under new keys, and destroy the old ones.",
            usage: "keychainctl rotate [<options>]",
            discussion: """
                Other programs go on reading and writing meanwhile. It may be interrupted at any \
                moment: running it again goes on with it. Damaged items go into quarantine, and their \
                keys stay. Items for this device alone need the device key that the vault is bound to; \
                without it they stay as they are, and the exit code is 13.

                EXAMPLES
                  keychainctl rotate
                  keychainctl rotate --passphrase-fd 3 3< passphrase
                """)

        @OptionGroup(title: "Secret that opens the vault") var options: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            let authority = try options.authority(vault)
            var hasShown = false
            defer { if hasShown { Output.showProgress("\n") } }
            let kept = try vault.rotate(authority: authority) { count in
                Output.showProgress("\(count) items")
                hasShown = true
            }
            if kept > 0 { Output.note("Items for another device alone keep the keys of that device: \(kept).") }
        }
    }
}
