// SPDX-License-Identifier: Apache-2.0
// keychainctl security: macOS's command of that name.

import ArgumentParser

extension Keychainctl {
    struct Security: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "security",
            abstract: "Run a command of macOS's `security`, with its flags, texts and exit codes.",
            usage: "keychainctl security [-i] [-q] [-v] <command> [<options>]",
            discussion: """
                Scripts for macOS run unchanged if they find this tool under the name `security`: put a \
                link of that name into a folder of PATH. Keychain files that arguments name are access \
                groups of the vault; the login keychain is the group 'default'. The exit codes are \
                macOS's: 44 means that no item matches, 45 that it exists. \
                Docs/Security-command.md lists every flag.

                EXAMPLES
                  keychainctl security help
                  keychainctl security add-generic-password -s example.com -a alice -w
                  keychainctl security find-generic-password -s example.com -a alice -w
                  ln -s "$(command -v keychainctl)" ~/.local/bin/security
                """)

        @Argument(parsing: .captureForPassthrough, help: "The command with its options.")
        var words: [String] = []

        func run() throws { throw Self.outcome(of: words) }

        /// `Keychainctl` calls it before the parser, which would take `-h` and `--version` for its own.
        static func outcome(of words: [String]) -> ExitCode { ExitCode(SecurityTool.run(words)) }
    }
}
