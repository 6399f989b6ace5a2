// SPDX-License-Identifier: Apache-2.0
// keychainctl export: all items in one file, encrypted or in clear text.

import ArgumentParser
import Foundation
import KeychainEngine
import KeychainKit
import KeychainVault
import SecretMemory

extension Keychainctl {
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write all items, with their values, into one encrypted file.",
            usage: """
                keychainctl export <file> [<options>]
                keychainctl export <file> --recipient <age1…> ... [<options>]
                keychainctl export <file> --clear-text (json | csv) [<options>]
                """,
            discussion: """
                The file is an age file (https://age-encryption.org): the program `age` decrypts it too. \
                It opens with a passphrase, which you enter twice, or with the identity (the private \
                key) of any recipient. `age-keygen` makes such keys. The content has everything of each \
                item: see "Exports" in Docs/FORMAT.md. It is one state of the vault, and is read again \
                and verified before the file gets its name. `import-archive` imports it.

                Items that require the user or a password are asked for. If an item cannot be read, no \
                file is written, and the items are listed; --skip-unreadable leaves them out. Items in \
                quarantine and keys on a token are never exported. An export opens without this vault and this machine: \
                a copy of the whole vault, with its keys, is made by `backup`.

                --clear-text writes the content without encryption: json has everything, one object on \
                each line; csv has the usual attributes of passwords. Only you can read the file, but \
                so can every program and every backup of yours. Remove it soon.

                With - for the file, standard output gets the whole content at once. It must not be a terminal.

                EXAMPLES
                  keychainctl export /media/stick/items.age
                  keychainctl export items.age --recipient age1… --recipients-file team.txt
                  keychainctl export items.age --file-passphrase-fd 3 3< passphrase
                  age --decrypt items.age | jq -r '.attributes.svce.text?'
                """)

        @Argument(
            help: ArgumentHelp(
                "The file to write; not in the vault folder. - for standard output.", valueName: "file"))
        var file: String

        @Option(help: ArgumentHelp("Encrypt to this public key of age. Can be repeated.", valueName: "age1…"))
        var recipient: [String] = []

        @Option(
            help: ArgumentHelp("Encrypt to the public keys in this file, one on each line.", valueName: "path"),
            completion: .file())
        var recipientsFile: String?

        @Option(help: ArgumentHelp("Read the passphrase of the file from this open descriptor.", valueName: "number"))
        var filePassphraseFd: String?

        @Option(
            help: ArgumentHelp("Only the items of this access group.", valueName: "name"),
            transform: AccessGroupName.checked)
        var onlyGroup: String?

        @Option(
            help: ArgumentHelp("Write clear text: json or csv.", valueName: "format"),
            completion: .list(ClearFormat.allCases.map(\.rawValue)))
        var clearText: String?

        @Flag(help: "Leave out items that cannot be read, and list them.")
        var skipUnreadable = false

        @Flag(help: "Replace an existing file of that name.")
        var replace = false

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws {
            try Descriptors.check(["--file-passphrase-fd": filePassphraseFd])
            if clearText != nil, format == nil { throw ValidationError("--clear-text takes json or csv.") }
            let ways = [!recipient.isEmpty || recipientsFile != nil, filePassphraseFd != nil, clearText != nil]
            guard ways.count(where: { $0 }) < 2 else {
                throw ValidationError("Give recipients, a passphrase or --clear-text, not several of these.")
            }
            if let fd = filePassphraseFd.flatMap(Descriptors.number), unlock.uses(fd) {
                throw ValidationError(
                    "The passphrase of the file and the secret that opens the vault use the same descriptor. Use two.")
            }
            _ = try given()
        }

        func run() throws {
            let vault = try UserKeychain.existingVault()
            let place = try NewFilePlace(file, replacing: replace, outside: vault.location, keyFile: unlock.keyFile)
            let recipients =
                try given()
                + (recipientsFile.map { path throws(KeychainError) in
                    try AgeKeyFiles.recipients(path)
                } ?? [])
            let source = ExportSource(vault: vault, group: onlyGroup)
            try checkReadable(source)
            let form = try form(recipients)
            let exporter = Exporter(source: source, form: form, place: place, isSkipping: skipUnreadable)
            try tell(carryOut(exporter), place, source)
        }

        private func carryOut(_ exporter: Exporter) throws(KeychainError) -> Exporter.Report {
            let progress = ProgressLine()
            defer { progress.end() }
            var exporter = exporter
            exporter.progress = { progress.show($0) }
            return try exporter.run()
        }

        private var format: ClearFormat? { clearText.flatMap(ClearFormat.init) }

        /// The recipients on the command line. They are not quoted: one may be a private key by mistake.
        private func given() throws -> [AgeRecipient] {
            try recipient.map { text in
                guard let recipient = AgeRecipient(text.utf8) else {
                    throw ValidationError(
                        "A value of --recipient is not an X25519 recipient of age (age1 and 58 characters). "
                            + "Keys of SSH and of plugins are not supported.")
                }
                return recipient
            }
        }

        /// Before the user enters a passphrase. It also unlocks the vault: a secret on a descriptor can be read only once.
        private func checkReadable(_ source: ExportSource) throws(KeychainError) {
            let keychain = try UserKeychain()
            let listed = try unlock.unlocking(source.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in try source.list() }
            }
            guard onlyGroup == nil || !listed.items.isEmpty else {
                throw KeychainError(.itemNotFound, "There are no items of that access group. No file was written.")
            }
        }

        private func form(_ recipients: [AgeRecipient]) throws(KeychainError) -> ExportForm {
            if let format { return .clear(format) }
            let key = AgeWrapping.newFileKey()
            var stanzas: [AgeStanza] = []
            for recipient in recipients { stanzas.append(try recipient.wrap(key)) }
            if stanzas.isEmpty { stanzas.append(try AgePassphrase(secret: try passphrase()).wrap(key)) }
            return .sealed(AgeHeader(stanzas, fileKey: key), key)
        }

        private func passphrase() throws(KeychainError) -> SecretBytes {
            let secret: SecretBytes
            if let descriptor = filePassphraseFd.flatMap(Descriptors.number) {
                secret = try SecretInput.read(descriptor).withoutFinalNewline()
            } else {
                secret = try ArchivePassphrase.askTwice("New passphrase of the file: ")
            }
            try ArchivePassphrase.check(secret)
            return secret
        }

        private func tell(_ report: Exporter.Report, _ place: NewFilePlace, _ source: ExportSource) {
            let count = report.count == 1 ? "1 item" : "\(report.count) items"
            if place.isOutput {
                Output.note("Written to standard output: \(count)\(format == nil ? ", encrypted" : " in clear text").")
            } else if format == nil {
                Output.note("'\(place.path)' holds \(count), encrypted. To import them: keychainctl import-archive")
            } else {
                Output.note(
                    "Warning: '\(place.path)' holds \(count) in clear text, values included. Everyone who can read the "
                        + "file has them. Remove it when you no longer need it.")
            }
            for item in report.leftOut { Output.note("Left out: \(item.name): \(item.failure.message)") }
            tellOfOthers(source)
        }

        /// The file was written, even if the vault cannot be looked at now.
        private func tellOfOthers(_ source: ExportSource) {
            do throws(KeychainError) {
                let onToken = try source.countOfTokenKeys()
                if onToken > 0 { Output.note("Keys on a token, which nothing exports: \(onToken).") }
                let quarantined = try source.vault.status().quarantinedCount
                if quarantined > 0 { Output.note("Items in quarantine, which are not exported: \(quarantined).") }
            } catch {
                Output.note(
                    "Whether items are in quarantine or on a token, and not exported, is unknown: \(error.message)")
            }
        }
    }
}
