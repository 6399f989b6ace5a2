// SPDX-License-Identifier: Apache-2.0
// keychainctl inject: fill a template with values.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Inject: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inject",
            abstract: "Fill a template with values.",
            usage: "keychainctl inject [--in <file>] [--out <file> [--replace]] [<options>]",
            discussion: """
                A reference in the template is written as {{ keychain://SERVICE/ACCOUNT#FIELD }}. Without \
                braces it ends at white space, a quote, a comma or a bracket. For the forms of references \
                see keychainctl run --help. Values are inserted unchanged: nothing is escaped for the \
                format of the file.

                The template is standard input or the file of --in. The result goes to standard output or \
                to the file of --out, which only you can read (mode 0600). If a reference cannot be \
                resolved, nothing is written.

                EXAMPLES
                  keychainctl inject --in app.conf.in --out app.conf
                  echo 'password={{ keychain://db/app#password }}' | keychainctl inject
                """)

        @Option(
            name: .customLong("in"),
            help: ArgumentHelp("Read the template from this file; default, or -: standard input.", valueName: "file"),
            completion: .file())
        var input: String?

        @Option(
            name: .customLong("out"),
            help: ArgumentHelp("Write the result to this file; default, or -: standard output.", valueName: "file"),
            completion: .file())
        var output: String?

        @Flag(help: "With --out: replace the file if it exists.")
        var replace = false

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        private static let limit = 64 << 20

        func validate() throws {
            guard !replace || ![nil, "-"].contains(output) else {
                throw ValidationError("--replace needs --out with the name of a file.")
            }
        }

        func run() throws {
            guard ![nil, "-"].contains(input) || !unlock.uses(STDIN_FILENO) else {
                throw ValidationError(
                    "The template and the secret that opens the vault use the same descriptor. Use two.")
            }
            let template = try Template(text())
            let keychain = try UserKeychain()
            let place = try output.flatMap { $0 == "-" ? nil : $0 }.map { path in
                try NewFilePlace(
                    forPrograms: path, replacing: replace, outside: keychain.vault.location, keyFile: unlock.keyFile)
            }
            var filled = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in
                    var values = ReferencedValues(keychain)
                    defer { values.wipe() }
                    return try template.filled(&values)
                }
            }
            defer { filled.wipe() }
            guard let place else { return try Output.write(filled) }
            try NewFile.write(filled, to: place)
        }

        private func text() throws(KeychainError) -> Data {
            if let input, input != "-" { return try InputFile.read(input, limit: Self.limit) }
            return try InputFile.read(STDIN_FILENO, name: "standard input", limit: Self.limit)
        }
    }
}
