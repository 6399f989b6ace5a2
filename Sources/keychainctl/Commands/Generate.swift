// SPDX-License-Identifier: Apache-2.0
// keychainctl generate: store a random value.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit

extension Keychainctl {
    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "generate",
            abstract: "Generate a random password and store it.",
            usage: """
                keychainctl generate --service <name> --account <name> [<options>]
                keychainctl generate --server <host> --account <name> [<options>]
                """,
            discussion: """
                Each character is chosen by the kernel's random generator, all with the same \
                probability. The entropy is printed to standard error, and the password only with \
                --print. An existing item is not changed, and the exit code is 4, unless --replace is \
                given.

                --characters takes alphanumeric, letters, digits, hex (0-9a-f), ascii (letters, digits \
                and the symbols of a keyboard), or the characters themselves after an \
                equals sign: --characters =abc123.

                EXAMPLES
                  keychainctl generate -s example.com -a alice
                  keychainctl generate -s wifi -a guests --length 16 --characters digits --print
                  keychainctl generate -s example.com -a alice --replace && keychainctl copy -s example.com
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Attributes") var attributes: AttributeOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: ArgumentHelp("The number of characters, 1 to 4096.", valueName: "number"))
        var length: Int = 24

        @Option(help: ArgumentHelp("The characters to choose from.", valueName: "set"))
        var characters = PasswordCharacters.alphanumeric

        @Option(
            help: ArgumentHelp(
                "When the item opens: \(AccessibilityName.help). Or Apple's names, such as ck.", valueName: "class")
        )
        var accessibility: AccessibilityName?

        @Flag(help: "Change the item if it exists.")
        var replace = false

        @Flag(help: "Print the password to standard output too.")
        var print = false

        func validate() throws {
            try item.requireServiceOrServer()
            guard item.account != nil else { throw ValidationError("Give --account.") }
            guard (1...4096).contains(length) else { throw ValidationError("--length takes a number from 1 to 4096.") }
        }

        func run() throws {
            let keychain = try UserKeychain(for: .generate)
            var value = characters.password(length)
            defer { value.wipe() }
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in try store(value, keychain) }
            Output.note("Stored a password with \(characters.entropyText(length)) bits of entropy.")
            guard print else { return }
            do throws(KeychainError) {
                try Output.write(value)
                if Terminal.isTerminal(STDOUT_FILENO) { try Output.write("\n") }
            } catch {
                throw KeychainError(error.reason, "The password was stored. \(error.message)")
            }
        }

        private func store(_ value: Data, _ keychain: UserKeychain) throws(KeychainError) {
            let (given, when) = (attributes.given, accessibility?.accessibility)
            guard !replace else { return try keychain.set(item, given, when, value: value) }
            do throws(KeychainError) {
                try keychain.create(item, given, when, value: value)
            } catch {
                guard error.reason == .duplicateItem else { throw error }
                throw KeychainError(
                    .duplicateItem, "The item exists and was not changed. To give it a new password, add: --replace")
            }
        }
    }
}
