// SPDX-License-Identifier: Apache-2.0
// The root command: its help, and the beginning and end of every run.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault

@main
extension Keychainctl {
    static let configuration = CommandConfiguration(
        commandName: "keychainctl",
        abstract: "Store passwords and other secrets in your keychain.",
        discussion: """
            EXAMPLES
              keychainctl set --service example.com --account alice
              keychainctl get --service example.com --account alice
              keychainctl list
              keychainctl status
              keychainctl protect add passphrase
              keychainctl unlock --timeout 15m

            You enter values at a prompt, or pass them on standard input or on a descriptor. \
            Values are never passed as arguments or environment variables, where other programs \
            can see them.

            PROMPTS
              Questions go to the terminal, even if standard input is a pipe. With
              KEYCHAIN_AUTHENTICATOR=none, a command on a locked vault fails instead.

            FILES
              The vault folder is $KEYCHAIN_VAULT, else
              $XDG_DATA_HOME/swift-keychain, else ~/.local/share/swift-keychain.
              The device key is $KEYCHAIN_DEVICE_KEY, else
              $XDG_CONFIG_HOME/swift-keychain/device.key, else
              ~/.config/swift-keychain/device.key. The newest known state of the vault
              is recorded in $XDG_STATE_HOME/swift-keychain, else
              ~/.local/state/swift-keychain, and in the kernel keyring. To keep it out
              of the keyring, set KEYCHAIN_ANCHORS=file.
              The TPM is /dev/tpmrm0, unless KEYCHAIN_TPM names another one for
              tpm2-tss, such as swtpm:path=/run/tpm.sock.

            ACCESS GROUPS
              This tool can access the items of all groups. It adds items to the group
              'default' unless you give --access-group. Entitlements restrict other
              programs, not this tool.

            EXIT CODES
            \(ExitStatus.table)
            """,
        version: packageVersion,
        // Each command states its name: deriving the names from the type names takes longer than the rest of a run.
        subcommands: [
            Set.self, Get.self, List.self, Search.self, Delete.self, History.self, Undo.self,
            Move.self, Expire.self, Edit.self, Copy.self, Generate.self,
            OneTimePassword.self, Run.self, Inject.self, ClearClipboard.self, Init.self, Unlock.self, Lock.self,
            Protect.self, Rotate.self,
            Status.self, Doctor.self, Accept.self, Quarantine.self, Backup.self, Restore.self, Sync.self,
            WatchSession.self, Security.self, GitCredential.self, DockerCredential.self, Askpass.self, Helper.self,
            Import.self, Export.self, ImportArchive.self, Key.self, Certificate.self, Identity.self, SSHAgent.self,
            CredentialServer.self,
        ])

    static func main() {
        Startup.prepare()
        do {
            let words = CalledName.words(CommandLine.arguments)
            try Startup.checkArguments(words)
            if words.first == "security" { throw Security.outcome(of: Array(words.dropFirst())) }
            try run(words)
            try Vault.closeAll()
        } catch let failure as KeychainError {
            end(failure)
        } catch let code as ExitCode {
            Foundation.exit(code.rawValue)
        } catch {
            CredentialServer.refuseIfServing()
            end(parsing: error)
        }
    }

    private static func run(_ words: [String]) throws {
        if let get = PlainGet.command(words) { return try get.run() }
        var command = try parsedDirectly(words) ?? parseAsRoot(words)
        try command.run()
    }

    /// Commands that scripts call often.
    private static let direct: [any ParsableCommand.Type] = [Get.self, Set.self, List.self, Delete.self]

    /// Parses a command without its root. With it, the parser reads the arguments four times, twice of them in search of requests for
    /// completions, which is a fifth of a run of `get`.
    ///
    /// - Returns: `nil` for all that the root has to answer: help, mistakes, and other commands.
    static func parsedDirectly(_ words: [String]) -> (any ParsableCommand)? {
        guard let name = words.first, let command = direct.first(where: { $0.configuration.commandName == name }) else {
            return nil
        }
        do {
            let parsed = try command.parseAsRoot(Array(words.dropFirst()))
            // A request for help is another command.
            return type(of: parsed) == command ? parsed : nil
        } catch {
            // The root reports it, with its own usage.
            return nil
        }
    }

    /// ^C at a prompt ends the tool by SIGINT itself, as the shell expects. Otherwise a shell loop would continue with
    /// the next command.
    private static func end(_ failure: KeychainError) -> Never {
        if failure.reason == .cancelled, let number = Terminal.cancellingSignal {
            signal(number, SIG_DFL)
            raise(number)
        }
        Output.complain(failure.message)
        Foundation.exit(failure.reason.exitStatus.rawValue)
    }

    /// Ends after an error of the argument parser: a request for help, or wrong arguments.
    private static func end(parsing error: any Error) -> Never {
        let text = withoutGivenWords(fullMessage(for: error))
        guard exitCode(for: error).isSuccess else {
            let prefix = "Error: "
            Output.complain(text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text)
            Foundation.exit(exitCode(for: error).rawValue)
        }
        do throws(KeychainError) {
            try Output.write(text.hasSuffix("\n") ? text : text + "\n")
        } catch {
            end(error)
        }
        Foundation.exit(ExitStatus.success.rawValue)
    }

    /// The parser quotes unexpected arguments, which may contain a secret. The arguments before them are commands.
    private static func withoutGivenWords(_ text: String) -> String {
        CommandLine.arguments.dropFirst(2).reduce(text) { text, word in
            let given = word.hasPrefix("-") ? word.drop { $0 != "=" }.dropFirst() : word[...]
            guard !given.isEmpty else { return text }
            // Byte by byte: an accent at the end of the argument would hide it from a search for characters.
            let shown = Array(text.utf8).replacing(Array("'\(given)'".utf8), with: "'…'".utf8)
            return String(decoding: shown, as: UTF8.self)
        }
    }
}
