// SPDX-License-Identifier: Apache-2.0
// keychainctl key: private keys by tag.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Key: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "key",
            abstract: "Keep private keys, and sign with them.",
            discussion: """
                A tag names a key in an access group. Programs find the same keys with `KeyStore` and with \
                Apple's functions. Lists show fingerprints, as ssh-keygen prints them; private bytes \
                leave the vault only by `key export`, and those of a key on a token never.

                The history does not keep keys: a deleted or replaced key is gone for good.

                EXAMPLES
                  keychainctl key generate ed25519 --tag release
                  keychainctl key import ~/.ssh/id_ed25519 --tag ssh
                  keychainctl key list
                  keychainctl key public --tag release
                  keychainctl key sign --tag release archive.tar > archive.tar.sig
                  keychainctl key verify --tag release --signature archive.tar.sig archive.tar
                """,
            subcommands: [
                Generate.self, Import.self, List.self, Public.self, Export.self, Sign.self, Verify.self, Delete.self,
            ])
    }
}

extension Keychainctl.Key {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List private keys with their fingerprints.",
            usage: "keychainctl key list [<options>] [--json | --wide]",
            discussion: """
                If there are no keys, nothing is printed ([] with --json) and the exit code is 0. There is \
                no authentication prompt: for a key that requires authentication, only its tag and type \
                are shown. SSH has no fingerprints of X25519, ML-KEM, ML-DSA and X-Wing keys.

                A key on a token, such as a TPM, is shown with the token's name. A key without a tag is shown \
                with '-': key delete and key export take its applicationLabel, which --json shows.

                With --json: an array of objects with the keys tag, type, size, fingerprint, \
                applicationLabel, label, accessGroup, created, modified, synchronizable, accessibility, \
                requiresAuthentication and token. Dates are ISO 8601 in UTC; missing attributes are null.

                EXAMPLES
                  keychainctl key list
                  keychainctl key list --json | jq -r '.[].fingerprint'
                """)

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(
            help: ArgumentHelp("Only the keys of this access group.", valueName: "name"),
            transform: AccessGroupName.checked)
        var accessGroup: String?

        @Flag(help: "Print JSON, for programs.")
        var json = false

        @Flag(help: "Print whole names on a terminal too.")
        var wide = false

        func run() throws {
            let keychain = try UserKeychain()
            let found = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in
                    try keychain.keys(accessGroup: accessGroup, synchronizable: false).listedKeys()
                }
            }
            try Output.write(
                json
                    ? JSONOutput.line(found.entries.map(KeyJSON.init))
                    : KeyListing(keys: found.entries).text(within: wide ? nil : Output.columns))
            found.warnOfMissing()
        }
    }

    struct Public: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "public",
            abstract: "Write the public key to standard output.",
            usage: "keychainctl key public --tag <name> [--openssh] [<options>]",
            discussion: """
                EXAMPLES
                  keychainctl key public --tag release > release.pem
                  keychainctl key public --tag ssh --openssh >> ~/.ssh/authorized_keys
                """)

        @OptionGroup(title: "Key") var key: KeyOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Flag(help: "A line of OpenSSH, with the tag as its comment, instead of PEM.")
        var openssh = false

        func run() throws {
            let keychain = try UserKeychain()
            let publicKey = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in try key.publicKey(in: keychain) }
            }
            guard openssh else { return try Output.write(publicKey.pem) }
            guard let line = publicKey.openSSH(comment: key.tag.escapingControls()) else {
                throw KeychainError(.unsupported, "SSH has no keys of type \(publicKey.typeName). Leave out --openssh.")
            }
            try Output.write(line + "\n")
        }
    }

    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Remove a private key for good.",
            usage: """
                keychainctl key delete --tag <name> [<options>]
                keychainctl key delete --application-label <hex> [<options>]
                """,
            discussion: """
                Nothing is kept, and `undo` cannot bring the key back. If several keys have the tag, all \
                are removed in one step, marked for synchronization or not, and so are their public halves. \
                With --synchronizable, only the marked ones are removed. If they are in several access \
                groups, none is removed and the exit code is 4: name one with --access-group. Nothing is \
                printed.

                A key without a tag, such as one of an identity whose certificate was deleted, is named by \
                --application-label. Keys with a tag stay then.

                EXAMPLES
                  keychainctl key delete --tag release
                """)

        @OptionGroup(title: "Key") var key: StoredKeyOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let keychain = try UserKeychain()
            // Otherwise looking for the key would create a vault.
            guard try !keychain.vault.protectors.isEmpty else { throw KeychainError.noKey }
            let isRemoved = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try key.remove(in: keychain)
            }
            guard isRemoved else { throw KeychainError.noKey }
        }
    }
}
