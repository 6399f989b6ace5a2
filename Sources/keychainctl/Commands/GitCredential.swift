// SPDX-License-Identifier: Apache-2.0
// keychainctl git-credential: git's credential helper.

import ArgumentParser
import Foundation
import KeychainKit

extension Keychainctl {
    struct GitCredential: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "git-credential",
            abstract: "The credential helper of git: get, store, erase, capability.",
            usage: "keychainctl git-credential <operation> [<options>]",
            discussion: """
                git runs this command, also through a link with the name git-credential-keychain, and \
                speaks its protocol on standard input and output. To let git use it:

                  keychainctl helper install git

                A credential is an internet password: the host, the port, the protocol, and the path if \
                git sends one (credential.useHttpPath). Its value is the password. An expiry, a refresh \
                token and an authentication type follow it as lines of their own. If no item has the protocol, one \
                that names no protocol is found, but not for http, which would send it in clear text.

                `get` prints nothing if no item matches, and never an expired password: of such an item, \
                it prints the user and the refresh token. `store` keeps an item that has the same \
                password, without an expiry that is over. `erase` removes what matches everything that git \
                gives, including the password. Operations that are not known are ignored, as git demands.

                If the vault is locked, the passphrase is asked for on the terminal. Otherwise the \
                command fails, and git asks the user.

                EXAMPLES
                  keychainctl set --server https://git.example.com -a alice
                  printf 'protocol=https\\nhost=git.example.com\\n\\n' |
                    keychainctl git-credential get
                  git config --global credential.helper \\
                    '/usr/local/bin/keychainctl git-credential'
                """)

        @Argument(help: ArgumentHelp("get, store, erase or capability.", valueName: "operation"))
        var words: [String] = []

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws {
            guard words.count == 1 else { throw ValidationError("Give one operation: get, store, erase, capability.") }
            guard !unlock.uses(STDIN_FILENO) else {
                throw ValidationError("Standard input is git's. Give the secret on another descriptor.")
            }
        }

        func run() throws {
            switch words[0] {
            case "get": try onRequest { (request, items) throws(KeychainError) in try get(request, items) }
            case "store":
                try onRequest { (request, items) throws(KeychainError) in
                    try items.store(request, try request.place)
                }
            case "erase":
                try onRequest { (request, items) throws(KeychainError) in
                    try items.erase(request, try request.place)
                }
            case "capability": try Output.write("version 0\ncapability authtype\n")
            default: return
            }
        }

        private func onRequest(
            _ body: (GitRequest, CredentialItems) throws(KeychainError) -> Void
        ) throws(KeychainError) {
            var input = try ProtocolInput.read(endsAtEmptyLine: true)
            defer { input.wipe() }
            var request = try GitRequest(input)
            defer { request.wipe() }
            // A mistake in the request must not lead to a prompt.
            _ = try request.place
            let keychain = try UserKeychain(for: .git)
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try body(request, CredentialItems(keychain: keychain))
            }
        }

        private func get(_ request: GitRequest, _ items: CredentialItems) throws(KeychainError) {
            let place = try request.place
            let found = try items.keychain.reading { () throws(KeychainError) in
                try items.first(
                    place, username: request.username, allowsAuthtype: request.allowsAuthtype, allowsExpired: true)
            }
            guard var found else { return }
            defer { found.value.wipe() }
            var answer = found.answer
            defer { answer.wipe() }
            try Output.write(answer)
        }
    }
}

extension CredentialItems.Found {
    fileprivate var answer: Data {
        let token = value.refreshToken ?? Data()
        var lines = Data(capacity: value.secret.count + token.count + (account?.utf8.count ?? 0) + 256)
        func add(_ key: String, _ text: some Sequence<UInt8>) {
            lines.append(contentsOf: key.utf8)
            lines.append(contentsOf: text)
            lines.append(UInt8(ascii: "\n"))
        }
        let isFresh = !value.isExpired(at: Date())
        if value.authtype != nil { add("capability[]=", "authtype".utf8) }
        if let account, !account.isEmpty || value.authtype == nil { add("username=", account.utf8) }
        if isFresh {
            if let authtype = value.authtype { add("authtype=", authtype.utf8) }
            add(value.authtype == nil ? "password=" : "credential=", value.secret)
            if let expiry = value.expiry { add("password_expiry_utc=", String(expiry).utf8) }
        }
        if !token.isEmpty { add("oauth_refresh_token=", token) }
        return lines
    }
}
