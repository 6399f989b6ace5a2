// SPDX-License-Identifier: Apache-2.0
// keychainctl import: store the entries of another program.

import ArgumentParser
import Foundation
import KeychainKit
import SecretMemory

extension Keychainctl {
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import passwords from other programs.",
            usage: "keychainctl import <format> [<file>] [<options>]",
            discussion: """
                FORMATS
                \(ImportFormat.table)

                The whole file is read and checked first: if a part of it cannot be read, nothing is \
                imported. Then each entry is stored, read back and compared, and one line is printed \
                for it: added, unchanged, replaced, exists (kept), skipped, left out (as former values \
                are) or failed, with the reason. \
                After an error or ^C, import again: entries that are stored already are unchanged.

                An item that exists with another value is kept. The exit code is then 4, unless you give \
                --keep or --replace. It is 1 if an entry was skipped or failed. Notes, one-time passwords \
                and hidden fields may be secret: each becomes an item of its own, such as \
                'alice (notes)'. With --json, each line is an object with the keys result, dryRun, \
                origin, reason, name, service, server, protocol, port, path and account.

                --remove-source removes the file of netrc, git-credentials or env if the keychain has \
                every entry with the value of the file, and nobody has changed the file meanwhile. \
                Comments go with it. Its bytes may remain on the disk.

                EXAMPLES
                  keychainctl import netrc --dry-run
                  keychainctl import netrc --remove-source
                  keychainctl import firefox logins.csv
                  keepassxc-cli export -f xml db.kdbx | keychainctl import keepassxc -
                  keychainctl import 1password export.1pux
                  keychainctl import pass --access-group work
                """)

        @Argument(help: ArgumentHelp("What to import; see FORMATS.", valueName: "format"))
        var format: ImportFormat

        @Argument(
            help: ArgumentHelp("The file or folder; - for standard input.", valueName: "file"),
            completion: .file())
        var file: String?

        @Flag(help: "Only show what would happen.")
        var dryRun = false

        @Flag(help: "Replace the value, label and comment of items that exist with others.")
        var replace = false

        @Flag(help: "Keep items that exist with another value, without an error.")
        var keep = false

        @Flag(help: "Remove the file after everything in it was imported.")
        var removeSource = false

        @Flag(help: "Print one line of JSON for each entry, for programs.")
        var json = false

        @Flag(help: "With pass and gopass: store the whole text of an entry as its value, not only the first line.")
        var whole = false

        @Option(
            name: .customLong("protocol"),
            help: ArgumentHelp(
                "With netrc: the protocol of the items, since the file names none; default: https.", valueName: "name"))
        var protocolCode: ProtocolCode?

        @Option(
            help: ArgumentHelp("With env: the service of the items; default: the folder's name.", valueName: "name"))
        var service: String?

        @Option(
            help: ArgumentHelp(
                "The access group. Access groups prevent mistakes; they are not a security boundary.",
                valueName: "name"), transform: AccessGroupName.checked)
        var accessGroup: String?

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func validate() throws {
            guard !replace || !keep else { throw ValidationError("Give --replace or --keep, not both.") }
            guard !whole || format.isStore else {
                throw ValidationError("--whole can only be used with pass and gopass.")
            }
            guard service == nil || format == .env else {
                throw ValidationError("--service can only be used with env.")
            }
            guard protocolCode == nil || format == .netrc else {
                throw ValidationError("--protocol can only be used with netrc.")
            }
            guard format != .secretService || file == nil else {
                throw ValidationError("secret-service is read from the session bus, and takes no file.")
            }
            guard file != "" else { throw ValidationError("The name of the file is empty.") }
            if removeSource { try validateRemoval() }
        }

        private func validateRemoval() throws {
            guard !dryRun else { throw ValidationError("--remove-source cannot be used with --dry-run.") }
            guard file != "-" else { throw ValidationError("--remove-source needs a file, not standard input.") }
            guard format.isRemovable else {
                throw ValidationError(
                    "--remove-source cannot be used with \(format.rawValue), which has more than these entries. "
                        + "Remove the entries with their own program.")
            }
        }

        func run() throws {
            let keychain = try UserKeychain(for: .importing)
            guard file != "-" || !unlock.uses(STDIN_FILENO) else {
                throw ValidationError(
                    "The source and the secret that opens the vault use the same descriptor. Use two.")
            }
            let path = try sourcePath()
            if removeSource, let path { try ImportSource.checkIsRemovable(path) }
            let reader = ImportReader(
                format: format, path: path, keepsWhole: whole, service: service, protocolCode: protocolCode)
            let (records, source) = try reader.read()
            let run = ImportRun(
                records, in: keychain.store, accessGroup: accessGroup,
                replace ? .replace : keep ? .keep : .report, ImportReport(isDryRun: dryRun, isJSON: json))
            defer { run.wipe() }
            try store(run, of: records.count, keychain)
            try finish(run, source, keychain)
        }

        /// - Returns: `nil` for standard input.
        private func sourcePath() throws(KeychainError) -> String? {
            guard let file else { return try format.defaultPath(ProcessEnvironment.current) }
            return file == "-" ? nil : file
        }

        /// - Throws: What stopped the import, with what was stored before.
        private func store(_ run: ImportRun, of count: Int, _ keychain: UserKeychain) throws(KeychainError) {
            do throws(KeychainError) {
                try unlock.unlocking(keychain.vault) { () throws(KeychainError) in try run.run() }
            } catch {
                guard run.position > 0, !dryRun else { throw error }
                throw KeychainError(
                    error.reason,
                    "\(error.message) The import stopped after \(run.position) of \(count) entries; "
                        + "\(run.stored) were stored. The source was not changed. To continue, import again.")
            }
        }

        private func finish(
            _ run: ImportRun, _ source: ImportSource?, _ keychain: UserKeychain
        ) throws(KeychainError) {
            Output.note(summary(run))
            let isRemoving = removeSource && source != nil
            let kept = isRemoving ? " The source was not removed." : ""
            guard run.count(.skipped) + run.count(.failed) == 0 else {
                throw KeychainError(.undecodableInput, "Some entries were not imported; the report says why." + kept)
            }
            guard run.count(.kept) == 0 || keep && !isRemoving else {
                throw KeychainError(
                    .duplicateItem,
                    "Some items exist with another value and were kept. Decide with --replace or --keep." + kept)
            }
            guard isRemoving, run.hasEverything else { return }
            guard run.position > 0 else {
                throw KeychainError(.itemNotFound, "The source has no entries, so it was not removed.")
            }
            guard try isAllStillThere(run, keychain) else { throw .noLongerAllThere }
            try source?.remove()
        }

        private func isAllStillThere(_ run: ImportRun, _ keychain: UserKeychain) throws(KeychainError) -> Bool {
            do throws(KeychainError) {
                return try unlock.unlocking(keychain.vault) { () throws(KeychainError) in try run.isAllStillThere() }
            } catch {
                throw KeychainError(
                    error.reason,
                    "\(error.message) All entries were imported. They could not be read again, so the source was not removed."
                )
            }
        }

        private func summary(_ run: ImportRun) -> String {
            let words: [(ImportResult, String)] = [
                (.added, dryRun ? "to add" : "added"), (.replaced, dryRun ? "to replace" : "replaced"),
                (.unchanged, "unchanged"), (.kept, "kept"), (.skipped, "skipped"),
                (.leftOut, "left out"), (.failed, "failed"),
            ]
            let parts = words.filter { run.count($0.0) > 0 }.map { "\(run.count($0.0)) \($0.1)" }
            let text = parts.isEmpty ? "The source has no entries." : parts.joined(separator: ", ") + "."
            return dryRun ? text + " Nothing was changed (--dry-run)." : text
        }
    }
}

extension KeychainError {
    fileprivate static let noLongerAllThere = KeychainError(
        .typeMismatch,
        "The keychain does not have all entries any more: one has replaced another, or another program has changed them. "
            + "The source was not removed.")
}
