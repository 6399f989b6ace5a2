// SPDX-License-Identifier: Apache-2.0
// keychainctl import-archive: the items of an export, into the vault.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct ImportArchive: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import-archive",
            abstract: "Import the items of a file that 'export' wrote.",
            usage: "keychainctl import-archive <file> [--merge | --replace] [<options>]",
            discussion: """
                The whole file is read and verified first. Then the command shows how many items are \
                new, equal and different, lists the different ones, and asks. With --merge, the default, \
                new items are added, and different ones stay as they are in the vault. The exit code is then 4, \
                unless you give --merge. With --replace, \
                these get everything that the file has of them. Items that are only in the vault stay \
                in both cases. The same file can be imported any number of times: run the command again \
                if it was interrupted.

                The file is encrypted with a passphrase, which you are asked for, or to recipients, one \
                of whose identities you give. Files that `age` encrypted are read too, and those of \
                export --clear-text json.

                With --dry-run, nothing is changed. It prints a table of what would be added, replaced \
                or kept. The exit code is 4 in the same cases.

                EXAMPLES
                  keychainctl import-archive items.age
                  keychainctl import-archive items.age --identity key.txt --dry-run
                  keychainctl import-archive items.age --replace --yes \\
                    --file-passphrase-fd 3 3< passphrase
                """)

        @Argument(help: ArgumentHelp("What `export` wrote.", valueName: "file"), completion: .file())
        var file: String

        @Option(
            help: ArgumentHelp("A file with private keys of age, as age-keygen writes it.", valueName: "path"),
            completion: .file())
        var identity: [String] = []

        @Option(help: ArgumentHelp("Read the passphrase of the file from this open descriptor.", valueName: "number"))
        var filePassphraseFd: String?

        @Flag(help: "Keep items of the vault that differ from the file. This is the default.")
        var merge = false

        @Flag(help: "Replace items of the vault that differ from the file.")
        var replace = false

        @Flag(help: "Show what would happen, and change nothing.")
        var dryRun = false

        @OptionGroup var confirmation: Confirmation
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws {
            try Descriptors.check(["--file-passphrase-fd": filePassphraseFd])
            guard !merge || !replace else { throw ValidationError("Give either --merge or --replace.") }
            guard identity.isEmpty || filePassphraseFd == nil else {
                throw ValidationError("Give either --identity or --file-passphrase-fd.")
            }
            if let fd = filePassphraseFd.flatMap(Descriptors.number), unlock.uses(fd) {
                throw ValidationError(
                    "The passphrase of the file and the secret that opens the vault use the same descriptor. Use two.")
            }
        }

        func run() throws {
            let vault = try UserKeychain().vault
            let archive = try ArchiveFile(file)
            try openArchive(archive)
            let authorization = Authorization(
                AuthenticationContext { () throws(KeychainError) in try Authenticators.forExplicitRequest() })
            let plan = try unlock.unlocking(vault) { () throws(KeychainError) in
                try ImportPlan(archive, vault, authorization)
            }
            let view = ImportView(plan: plan, path: file, isReplacing: replace)
            guard !dryRun else {
                try view.show()
                return try checkDecision(plan)
            }
            guard view.hasWork else {
                Output.note(view.summary + " Nothing was changed.")
                return try checkDecision(plan)
            }
            view.listDifferent()
            try confirmation.ask(view.summary)
            let importer = Importer(
                store: KeepingStore(vault, .importArchive), plan: plan, isReplacing: replace,
                authorization: authorization)
            // The comparison has unlocked the vault: a secret on a descriptor can be read only once.
            try view.tell(carryOut(importer, archive))
            try checkDecision(plan)
        }

        /// The command was to import all items, and the user has not said which of two is right. As `import` does.
        private func checkDecision(_ plan: ImportPlan) throws(KeychainError) {
            guard plan.different == 0 || merge || replace else {
                throw KeychainError(
                    .duplicateItem,
                    "Some items are different in the vault and \(dryRun ? "would be" : "were") kept. Decide with "
                        + "--replace or --merge.")
            }
        }

        private func carryOut(
            _ importer: Importer, _ archive: ArchiveFile
        ) throws(KeychainError) -> Importer.Report {
            let progress = ProgressLine()
            defer { progress.end() }
            return try importer.run(archive) { progress.show($0) }
        }

        // MARK: - The key of the file

        private static let tries = 3

        private func openArchive(_ archive: ArchiveFile) throws(KeychainError) {
            guard archive.header != nil else {
                guard identity.isEmpty, filePassphraseFd == nil else {
                    throw KeychainError(
                        .invalidParameter,
                        "'\(archive.path)' is not encrypted. Leave out --identity and --file-passphrase-fd.")
                }
                return
            }
            if archive.takesPassphrase { return try openWithPassphrase(archive) }
            guard !identity.isEmpty else {
                throw KeychainError(
                    .invalidParameter,
                    "'\(archive.path)' is encrypted to recipients. Give a private key: --identity FILE")
            }
            var identities: [AgeIdentity] = []
            for path in identity { identities += try AgeKeyFiles.identities(path) }
            try archive.unlock(with: identities)
        }

        private func openWithPassphrase(_ archive: ArchiveFile) throws(KeychainError) {
            guard identity.isEmpty else {
                throw KeychainError(
                    .invalidParameter, "'\(archive.path)' opens with a passphrase. Leave out --identity.")
            }
            if let descriptor = filePassphraseFd.flatMap(Descriptors.number) {
                return try archive.unlock(
                    with: AgePassphrase(secret: try SecretInput.read(descriptor).withoutFinalNewline()))
            }
            for attempt in 1...Self.tries {
                do throws(KeychainError) {
                    let secret = try ArchivePassphrase.ask("Passphrase of the file: ")
                    return try archive.unlock(with: AgePassphrase(secret: secret))
                } catch {
                    guard error.reason == .authenticationFailed, attempt < Self.tries else { throw error }
                    Output.note("That does not open the file. Try again.")
                }
            }
        }
    }
}

/// What the user sees of an import.
private struct ImportView {
    private static let mostListed = 20

    let plan: ImportPlan
    let path: String
    let isReplacing: Bool

    var hasWork: Bool { plan.missing > 0 || isReplacing && plan.different > 0 }

    /// One sentence for each group of items.
    var summary: String {
        var words = [
            "'\(path)' has \(Self.count(plan.states.count)): \(plan.missing) new, \(plan.equal) equal, "
                + "\(plan.different) different."
        ]
        if plan.missing > 0 { words.append("The new ones will be added.") }
        if plan.different > 0 {
            words.append(
                isReplacing
                    ? "The different ones in the vault will be replaced."
                    : "The different ones stay as they are in the vault; to replace them: --replace.")
        }
        return words.joined(separator: " ")
    }

    /// Names the first of the different items.
    func listDifferent() {
        let different = plan.entries.filter { $0.state != .missing }
        for entry in different.prefix(Self.mostListed) { Output.note("Different: \(entry.item.item.name)") }
        let rest = different.count - Self.mostListed
        if rest > 0 { Output.note("And \(rest) more. To list them: --dry-run") }
    }

    func show() throws(KeychainError) {
        let rows = plan.entries.map { entry in
            let action = entry.state == .missing ? "add" : isReplacing ? "replace" : "keep"
            return [action] + entry.item.cells
        }
        let table = TextTable(
            header: ["ACTION", "CLASS", "SERVICE/SERVER", "ACCOUNT", "LABEL", "GROUP", "MODIFIED"], rows: rows,
            cut: ["SERVICE/SERVER", "ACCOUNT", "LABEL", "GROUP"])
        if !rows.isEmpty { try Output.write(table.text(within: Output.columns)) }
        Output.note(summary + " This was a dry run: nothing was changed.")
    }

    /// - Throws: The failure of the first item that could not be stored.
    func tell(_ report: Importer.Report) throws(KeychainError) {
        Output.note("Added: \(report.added). Replaced: \(report.replaced).")
        guard let first = report.failed.first else { return }
        for item in report.failed { Output.note("Not imported: \(item.name): \(item.failure.message)") }
        throw KeychainError(
            first.failure.reason, "\(Self.count(report.failed.count)) could not be imported. The others were.")
    }

    private static func count(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }
}
