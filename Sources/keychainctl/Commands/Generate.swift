// SPDX-License-Identifier: Apache-2.0
// keychainctl generate: store a random value.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainKit

extension Keychainctl {
    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "generate",
            abstract: "Generate a random password and store it.",
            usage: """
                keychainctl generate --service <name> --account <name> [<options>]
                keychainctl generate --server <host> --account <name> [<options>]
                keychainctl generate -s <name> -a <name> --words <number> [<options>]
                """,
            discussion: """
                Each character is chosen by the kernel's random generator, all with the same \
                probability. The entropy is printed to standard error, and the password only with \
                --print. An existing item is not changed, and the exit code is 4, unless --replace is \
                given.

                --characters takes alphanumeric, letters, digits, hex (0-9a-f), ascii (letters, digits \
                and the symbols of a keyboard), or the characters themselves after an \
                equals sign: --characters =abc123.

                --words makes a passphrase of so many words. They are chosen from the file of --word-list, \
                which has a word on each line, or a number and a word, as lists for dice do. Without it: from \
                the words of 3 to 9 small letters in \(WordList.usual). The entropy is that of \
                the different words in the list.

                EXAMPLES
                  keychainctl generate -s example.com -a alice
                  keychainctl generate -s laptop -a disk --words 6 --print
                  keychainctl generate -s wifi -a guests --characters digits --print
                  keychainctl generate -s example.com -a alice --replace &&
                    keychainctl copy -s example.com
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Attributes") var attributes: AttributeOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: ArgumentHelp("The number of characters, 1 to 4096; default: 24.", valueName: "number"))
        var length: Int?

        @Option(help: ArgumentHelp("The characters to choose from; default: alphanumeric.", valueName: "set"))
        var characters: PasswordCharacters?

        @Option(help: ArgumentHelp("Make a passphrase of 1 to 64 words instead.", valueName: "number"))
        var words: Int?

        @Option(
            help: ArgumentHelp("The file of the words; default: \(WordList.usual).", valueName: "file"),
            completion: .file())
        var wordList: String?

        @Option(
            help: ArgumentHelp(
                "What is between two words, 1 to 8 characters that are in no word; default: a space.",
                valueName: "text"))
        var separator: String?

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
            guard (1...4096).contains(length ?? 24) else {
                throw ValidationError("--length takes a number from 1 to 4096.")
            }
            try validateWords()
        }

        private func validateWords() throws {
            guard let words else {
                guard wordList == nil, separator == nil else {
                    throw ValidationError("--word-list and --separator need --words.")
                }
                return
            }
            guard (1...64).contains(words) else { throw ValidationError("--words takes a number from 1 to 64.") }
            guard length == nil, characters == nil else {
                throw ValidationError("Give --words, or --length and --characters, not both.")
            }
            let isVisible = separator?.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ?? true
            guard isVisible, (1...8).contains(separator?.count ?? 1) else {
                throw ValidationError("--separator takes 1 to 8 characters.")
            }
        }

        func run() throws {
            let keychain = try UserKeychain(for: .generate)
            var (value, description) = try made()
            defer { value.wipe() }
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in try store(value, keychain) }
            Output.note("Stored a \(description) bits of entropy.")
            guard print else { return }
            do throws(KeychainError) {
                try Output.write(value)
                if Terminal.isTerminal(STDOUT_FILENO) { try Output.write("\n") }
            } catch {
                throw KeychainError(error.reason, "The password was stored. \(error.message)")
            }
        }

        /// The new value, and what it is.
        private func made() throws(KeychainError) -> (Data, String) {
            guard let words else {
                let (characters, length) = (characters ?? .alphanumeric, length ?? 24)
                return (characters.password(length), "password with \(characters.entropyText(length))")
            }
            let separator = separator ?? " "
            let list = try WordList(wordList, separator: separator)
            let description = "passphrase of \(words) out of \(list.count) words with \(list.entropyText(words))"
            return (list.phrase(words, separator: separator), description)
        }

        private func store(_ value: Data, _ keychain: UserKeychain) throws(KeychainError) {
            let (given, when) = (attributes.given, accessibility?.accessibility)
            guard !replace else {
                return try keychain.set(item, given, Protection(accessibility: when), value: value)
            }
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
