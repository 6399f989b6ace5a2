// SPDX-License-Identifier: Apache-2.0
// keychainctl edit: change a value in an editor.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit

extension Keychainctl {
    struct Edit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit",
            abstract: "Change a value in your editor.",
            usage: """
                keychainctl edit --service <name> [--account <name>] [<options>]
                keychainctl edit --server <host> [--account <name>] [<options>]
                """,
            discussion: """
                The editor is $VISUAL, else $EDITOR. It gets a file in memory that only you can open; the \
                file is overwritten and removed afterwards. Without a folder in memory (XDG_RUNTIME_DIR or \
                /dev/shm), the command refuses. Some editors keep copies elsewhere: turn off their swap, \
                undo and backup files, as in the example.

                If the editor fails, or the text stays the same, nothing is written. If another process \
                has changed the value meanwhile, its value stays and the exit code is 11. If the text \
                cannot be stored for another reason, the command asks on a terminal whether to try again. \
                Only text can be edited. If the value had no newline at its end, one that the editor has \
                added is removed.

                EXAMPLES
                  keychainctl edit -s example.com -a alice
                  VISUAL='vim -n -i NONE' keychainctl edit -s db -a app
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: "Only an item with this label.")
        var label: String?

        @Flag(help: "Allow an empty value, which is otherwise refused.")
        var allowEmpty = false

        func validate() throws {
            try item.requireServiceOrServer()
        }

        func run() throws {
            let keychain = try UserKeychain(for: .edit)
            let editor = try Editor()
            let (found, original) = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in
                    let found = try keychain.onlyItem(item, label: label)
                    return (found, try keychain.value(of: found))
                }
            }
            var old = original
            defer { old.wipe() }
            try Self.checkIsText(old)
            var new = try Self.withoutAddedNewline(editor.edited(old, hasInput: !unlock.uses(STDIN_FILENO)), old)
            defer { new.wipe() }
            guard new != old else { return Output.note("The value stays the same.") }
            guard Self.isText(new) else {
                throw KeychainError(
                    .typeMismatch,
                    "What the editor has saved is not text in UTF-8, so nothing was changed. Set the editor to UTF-8 and edit again."
                )
            }
            guard !new.isEmpty || allowEmpty else {
                throw KeychainError(
                    .invalidParameter, "The text is empty, so nothing was changed. To store it, add --allow-empty.")
            }
            try writeUntilStored(new, insteadOf: old, found, keychain)
        }

        /// The text is nowhere else, so the person who typed it may repair what is in the way and try again.
        private func writeUntilStored(
            _ new: Data, insteadOf old: Data, _ item: KeychainItem, _ keychain: UserKeychain
        ) throws(KeychainError) {
            while true {
                do throws(KeychainError) {
                    return try write(new, insteadOf: old, item, keychain)
                } catch {
                    guard error != Self.changedMeanwhile, Terminal.isTerminal(STDIN_FILENO) else { throw error }
                    Output.complain(error.message)
                    Output.prompt("Your changes are not stored. Try again? [Y/n] ")
                    guard let answer = readLine(), !["n", "no"].contains(answer.lowercased()) else {
                        throw KeychainError(error.reason, "Your changes were dropped.")
                    }
                }
            }
        }

        /// A secret on a descriptor can be read once, and the vault is open for this process since then.
        private func write(
            _ new: Data, insteadOf old: Data, _ item: KeychainItem, _ keychain: UserKeychain
        ) throws(KeychainError) {
            let change = { () throws(KeychainError) in
                try keychain.update(item) { (value) throws(KeychainError) in
                    guard value == old else { throw Self.changedMeanwhile }
                    value = new
                }
            }
            if unlock.given == nil { try unlock.unlocking(keychain.vault, change) } else { try change() }
        }

        private static func checkIsText(_ value: Data) throws(KeychainError) {
            guard isText(value) else {
                throw KeychainError(
                    .typeMismatch,
                    "The value is not text, so it cannot be edited. Use: keychainctl get and keychainctl set")
            }
        }

        private static func isText(_ value: Data) -> Bool {
            !value.contains(0) && String(validating: value, as: UTF8.self) != nil
        }

        private static func withoutAddedNewline(_ new: Data, _ old: Data) -> Data {
            let newline = UInt8(ascii: "\n")
            return new.last == newline && old.last != newline ? Data(new.dropLast()) : new
        }

        private static let changedMeanwhile = KeychainError(
            .busy, "Another process has changed the value meanwhile. It was kept, and your changes were dropped.")
    }
}
