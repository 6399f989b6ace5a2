// SPDX-License-Identifier: Apache-2.0
// keychainctl ssh-agent: keys of the vault for ssh and git.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKeyStore
import KeychainKeys
import KeychainKit

extension Keychainctl {
    struct SSHAgent: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ssh-agent",
            abstract: "Let ssh and git sign with the private keys of the vault.",
            usage: "keychainctl ssh-agent [--socket <path>] [--tag <name> ...]",
            discussion: """
                The command listens on a socket until a signal ends it. It prints the variable that tells \
                ssh, git and ssh-add of the socket. Clients list keys and sign; `ssh-add -x` and -X lock \
                the agent and unlock it.

                All ed25519, ECDSA and RSA keys of the vault are offered, also those on a token, or those of --tag. A \
                key that several items contain is offered once. For them the user is never asked: keys that require \
                authentication are left out, and so are locked keys while the vault is locked. RSA signs with SHA-256 \
                or SHA-512, never with SHA-1.

                `ssh-add` adds keys of files, which are not stored: they are in the memory of the agent until `ssh-add -d` \
                or -D removes them, the time of -t is over, or the agent ends. Keys of -c ask before each use, as \
                KEYCHAIN_AUTHENTICATOR says (such as pinentry), else with the program that KEYCHAIN_ASKPASS or SSH_ASKPASS \
                names, else on the terminal, if the agent runs in its foreground. Keys of the vault are added and removed \
                with `keychainctl key` only.

                Every program of yours can use the socket, as it can use the vault. Do not forward it \
                to a machine that you do not trust.

                EXAMPLES
                  keychainctl ssh-agent --socket ~/.ssh/keychain.sock > /dev/null &
                  SSH_AUTH_SOCK=~/.ssh/keychain.sock ssh-add -l
                """)

        @Option(
            help: ArgumentHelp(
                "The socket; default: $XDG_RUNTIME_DIR/swift-keychain/ssh-agent.sock.", valueName: "path"),
            completion: .file())
        var socket: String?

        @Option(
            name: .shortAndLong,
            help: ArgumentHelp("Offer only the key of this tag. Can be repeated.", valueName: "name"),
            completion: .custom { words, _, _ in ItemCompletion.tags(words) })
        var tag: [String] = []

        @OptionGroup var stray: StrayWords

        func run() throws {
            let keychain = try UserKeychain()
            let listener = try SSHAgentSocket(socket ?? SSHAgentSocket.usualPath())
            let signals = EndingSignals(ofKeyboard: .end)
            let added = SSHAgentAddedKeys()
            // Called at least every half second while the agent waits for clients or for the user.
            let isOver = {
                added.removeExpired()
                return signals.received != nil
            }
            let complain = complaint()
            let answers = SSHAgentAnswers(
                SSHAgentVaultKeys(keychain: keychain, tags: tag, complain: complain), added: added,
                confirm: { (lines) throws(KeychainError) in
                    try SSHAgentConsent.ask(lines) { isOver() || listener.hasClientHungUp }
                },
                complain: complain)
            try Output.write("SSH_AUTH_SOCK='\(listener.path)'; export SSH_AUTH_SOCK\n")
            defer { added.removeAll() }
            try listener.serve(until: isOver, { answers.reply(to: $0) }, finish: { answers.message(of: $0) })
            // The signal ends the program, and nothing else is run then.
            added.removeAll()
            listener.removeFile()
            signals.raiseReceived()
        }

        /// The same failure again and again, as while the vault is locked, is told once.
        private func complaint() -> (String) -> Void {
            var last = ""
            return { message in
                if message != last { Output.complain(message) }
                last = message
            }
        }
    }
}
