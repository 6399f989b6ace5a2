// SPDX-License-Identifier: Apache-2.0
// keychainctl askpass: answers the questions of git, ssh and sudo.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import SecretMemory

extension Keychainctl {
    struct Askpass: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "askpass",
            abstract: "Answer a question of git, ssh or sudo from the vault, or ask the user.",
            usage: "keychainctl askpass <prompt> [<options>]",
            discussion: """
                Programs run this command through a link with the name keychain-askpass, which \
                SSH_ASKPASS, GIT_ASKPASS and SUDO_ASKPASS name. To set it up for ssh:

                  keychainctl helper install ssh

                These questions are answered from the vault; store the answers before:

                  Enter passphrase for key '/path': set -s OpenSSH -a /path
                  user@host's password:             set --server ssh://host -a user
                  (user@host) Password:             set --server ssh://host -a user
                  [sudo] password for user:         set -s sudo -a user
                  Username for 'https://host':      set --server https://host -a user
                  Password for 'https://user@host': set --server https://host -a user

                Any other question goes to the terminal, for example whether the key of a host is \
                right. The command fails if there is none. A password for sudo in the vault lets every \
                program that runs as you become root.

                EXAMPLES
                  keychainctl set -s OpenSSH -a ~/.ssh/id_ed25519
                  SSH_ASKPASS=~/.local/bin/keychain-askpass SSH_ASKPASS_REQUIRE=force ssh host
                  SUDO_ASKPASS=~/.local/bin/keychain-askpass sudo -A id
                """)

        @Argument(help: ArgumentHelp("The question.", valueName: "prompt"))
        var words: [String] = []

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws {
            guard words.count == 1 else { throw ValidationError("Give the question as one argument.") }
        }

        func run() throws {
            let text = words[0]
            switch ProcessEnvironment.current.value("SSH_ASKPASS_PROMPT") {
            case "confirm": return try confirm(text)
            // A message that ssh withdraws by itself, such as to touch a security key.
            case "none": return Output.note(text)
            default: break
            }
            let question = AskpassQuestion(text)
            if let question, try answer(question) { return }
            guard AskpassTerminal.canAsk else { throw Self.unanswered(question) }
            try ask(text, question)
        }

        // MARK: - The vault

        /// - Returns: Whether an item was there.
        private func answer(_ question: AskpassQuestion) throws(KeychainError) -> Bool {
            let keychain = try UserKeychain()
            let answer = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in try keychain.answer(to: question) }
            }
            guard var answer else { return false }
            defer { answer.wipe() }
            try Output.write(answer)
            try Output.write("\n")
            return true
        }

        private static func unanswered(_ question: AskpassQuestion?) -> KeychainError {
            guard let question else {
                return KeychainError(
                    .interactionNotAllowed,
                    "This question is not one for the vault, and there is no terminal to ask on.")
            }
            return KeychainError(
                .itemNotFound,
                "No item answers this question, or several do, and there is no terminal to ask on. To see which items there are: "
                    + "keychainctl list. To store one: \(question.advice)")
        }

        // MARK: - The user

        private func ask(_ text: String, _ question: AskpassQuestion?) throws(KeychainError) {
            if Self.isShown(text, question) {
                return try Output.write(try AskpassTerminal.shownAnswer(text) + "\n")
            }
            if let secret = try AskpassTerminal.hiddenAnswer(text) { try Output.write(secret) }
            try Output.write("\n")
        }

        /// Whether the answer is no secret.
        private static func isShown(_ text: String, _ question: AskpassQuestion?) -> Bool {
            if case .username? = question { return true }
            return text.hasPrefix("Username") || text.split(separator: "(").contains { $0.hasPrefix("yes/no") }
        }

        /// ssh-agent asks whether a key may be used; the exit code is the answer.
        private func confirm(_ text: String) throws {
            guard AskpassTerminal.canAsk else { throw Self.unanswered(nil) }
            let answer = try AskpassTerminal.shownAnswer(text + " [y/N] ")
            guard ["y", "yes"].contains(answer.lowercased()) else { throw ExitCode(ExitStatus.failure.rawValue) }
        }
    }
}

extension UserKeychain {
    /// - Returns: `nil` if there is no item, or no single one.
    fileprivate func answer(to question: AskpassQuestion) throws(KeychainError) -> Data? {
        switch question {
        case .username(let place):
            // As bytes: accounts that only look the same are several.
            let accounts = Swift.Set(
                try CredentialItems(keychain: self).items(place, nil).map { Data(($0.account ?? "").utf8) })
            guard accounts.count == 1, let account = accounts.first, !account.isEmpty else { return nil }
            let isHidden = String(decoding: account, as: UTF8.self).unicodeScalars.contains(where: \.isInvisible)
            return isHidden ? nil : account
        case .password(let place, let accounts):
            for account in accounts {
                guard var found = try CredentialItems(keychain: self).first(place, username: account) else { continue }
                defer { found.value.wipe() }
                // A copy, since the original is wiped.
                return found.value.secret.withUnsafeBytes { Data($0) }
            }
            return nil
        case .keyPassphrase(let file):
            return try line(ItemFilter(account: file, service: AskpassQuestion.keyService)) { _ in true }
        case .sudo(let account):
            return try line(ItemFilter(account: account, service: AskpassQuestion.sudoService)) { _ in true }
        case .serverPassword(let host, let account):
            for spelling in host.hostSpellings {
                var filter = ItemFilter(account: account, server: spelling)
                filter.protocol = .ssh
                if let answer = try line(filter, { $0.port == nil && $0.path == nil }) { return answer }
            }
            return nil
        }
    }

    /// The value of the only item, without the line end that an editor appends.
    private func line(_ filter: ItemFilter, _ isMeant: (KeychainItem) -> Bool) throws(KeychainError) -> Data? {
        let found = try foundItems(filter)
        if let failure = found.failure { throw failure }
        let items = found.items.filter(isMeant)
        guard items.count == 1 else { return nil }
        var value = try value(of: items[0])
        if value.last == UInt8(ascii: "\n") { value.removeLast() }
        guard !value.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\n") }) else {
            value.wipe()
            throw KeychainError(
                .typeMismatch, "The value of the item has several lines or a zero, so it does not answer this question."
            )
        }
        return value
    }
}
