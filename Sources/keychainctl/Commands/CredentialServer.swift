// SPDX-License-Identifier: Apache-2.0
// keychainctl credential-server: answer LoadCredential= of systemd with the value of an item.

import ArgumentParser
import Foundation
import KeychainKit

extension Keychainctl {
    struct CredentialServer: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "credential-server",
            abstract: "Answer LoadCredential= of a systemd service with the value of an item.",
            usage: "keychainctl credential-server [<options>]",
            discussion: """
                systemd starts this command for each connection to a socket unit, with the connection as \
                standard input. systemd names the unit and the credential, and gets the value of the \
                generic password whose service is the unit and whose account is the credential. For \
                'web@1.service', an item of 'web@.service' answers if there is none of its own. No other \
                item is read, and the user is never asked.

                Only root and the user of this command get answers. If there is none, the service does \
                not start: systemd reports that the credential is too large, and the journal of this \
                command has the reason.

                `make install` and the Debian package install the socket unit:

                  systemctl --user enable --now swift-keychain-credentials.socket

                The unit of the service then has:

                  [Service]
                  LoadCredential=db-password:%t/swift-keychain/credentials.sock
                  ExecStartPre=test -s %d/db-password

                %t is the runtime folder of the manager that starts the service; for a service of the \
                system, write /run/user/UID instead. The test of ExecStartPre is for a case that systemd \
                cannot detect: if this command is killed before it answers, the credential is empty.

                EXAMPLES
                  keychainctl set -s web.service -a db-password
                  systemctl --user restart web.service
                """)

        @OptionGroup(title: "Unlocking, for this answer only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        /// A connection that only ends is an empty credential for systemd, and the service would start with it.
        static func refuseIfServing() {
            guard CommandLine.arguments.dropFirst().first == configuration.commandName,
                let peer = try? CredentialConnection(STDIN_FILENO)
            else { return }
            peer.refuse()
        }

        func validate() throws {
            guard !unlock.uses(STDIN_FILENO) else {
                throw ValidationError("Standard input is the connection. Give the secret on another descriptor.")
            }
            guard !unlock.recoveryKey else {
                throw ValidationError("The user is never asked here. Use --recovery-key-fd.")
            }
        }

        func run() throws {
            let connection = try CredentialConnection(STDIN_FILENO)
            do throws(KeychainError) {
                try answer(connection)
            } catch {
                connection.refuse()
                throw error
            }
        }

        private func answer(_ connection: CredentialConnection) throws(KeychainError) {
            try connection.checkPeer()
            let request = try connection.request()
            var value = try value(request)
            defer { value.wipe() }
            guard value.count <= CredentialConnection.largestCredential else {
                throw KeychainError(
                    .tooLarge, "The value for \(request.words) is too large: a credential of systemd has at most 1 MiB."
                )
            }
            try connection.send(value)
        }

        private func value(_ request: CredentialRequest) throws(KeychainError) -> Data {
            let keychain = try UserKeychain()
            // Without a given secret nothing is unlocked, because that would ask.
            guard unlock.given != nil else { return try keychain.credential(request) }
            return try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.credential(request)
            }
        }
    }
}

extension UserKeychain {
    fileprivate func credential(_ request: CredentialRequest) throws(KeychainError) -> Data {
        try reading { () throws(KeychainError) in
            var catalog = KeychainCatalog(store: vault, accessGroups: .unrestricted)
            catalog.allowsInteraction = false
            for service in request.services {
                let found = try foundItems(ItemFilter(account: request.credential, service: service))
                if let failure = found.failure { throw failure }
                guard let item = found.items.first else { continue }
                guard found.items.count == 1 else { throw request.several(found.items.count) }
                guard let value = try catalog.value(of: item) else { continue }
                return value
            }
            throw request.notFound
        }
    }
}

extension CredentialRequest {
    /// For messages. Names of units and credentials are no secrets.
    fileprivate var words: String { "the credential '\(credential)' of '\(unit)'" }

    fileprivate var notFound: KeychainError {
        KeychainError(
            .itemNotFound,
            "No item answers \(words). To add it: keychainctl set -s '\(unit)' -a '\(credential)'")
    }

    fileprivate func several(_ count: Int) -> KeychainError {
        KeychainError(
            .duplicateItem,
            "\(count) items match \(words), but exactly one must. To see which: keychainctl list -s '\(unit)' -a "
                + "'\(credential)'")
    }
}
