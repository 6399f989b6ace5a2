// SPDX-License-Identifier: Apache-2.0
// keychainctl otp: print a one-time code.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit

extension Keychainctl {
    struct OneTimePassword: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "otp",
            abstract: "Print a one-time code.",
            usage: """
                keychainctl otp --service <name> [--account <name>] [<options>]
                keychainctl otp --server <host> [--account <name>] [<options>]
                """,
            discussion: """
                The value of the item is an otpauth:// URL, as QR codes contain it: \
                otpauth://totp/NAME?secret=BASE32 with a code for the time (RFC 6238), or \
                otpauth://hotp/NAME?secret=BASE32&counter=0 with a code for a counter (RFC 4226). The \
                parameters algorithm (SHA1, SHA256, SHA512), digits (6 to 8) and period (in seconds) are \
                understood. White space around the URL is ignored, such as the newline that zbarimg prints \
                after the text of a QR code.

                A counter advances in the vault before the code is printed, so that no code is printed \
                twice, also by several processes at once.

                EXAMPLES
                  keychainctl otp -s otp -a github
                  zbarimg -q --raw code.png | keychainctl set -s otp -a github
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: "Only an item with this label.")
        var label: String?

        @Option(
            help: ArgumentHelp("The code of this time instead of now, in seconds since 1970.", valueName: "seconds"))
        var at: UInt64?

        func validate() throws {
            try item.requireServiceOrServer()
        }

        func run() throws {
            let keychain = try UserKeychain(for: .otp)
            let (code, done) = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try self.code(keychain)
            }
            guard let done else { return try Output.write(code + "\n") }
            try Output.write(code + "\n", after: done)
        }

        /// - Returns: The code, and what was changed for it.
        private func code(_ keychain: UserKeychain) throws(KeychainError) -> (code: String, done: String?) {
            let (found, value) = try keychain.reading { () throws(KeychainError) in
                let found = try keychain.onlyItem(item, label: label)
                return (found, try keychain.value(of: found))
            }
            let url = try OTPAuthURL(value)
            switch url.kind {
            case .counter:
                guard at == nil else { throw Self.hasNoTime }
                return (try Self.next(found, keychain), "The counter was advanced.")
            case .time(let period): return (url.code.code(try now / period), nil)
            }
        }

        private var now: UInt64 {
            get throws(KeychainError) {
                if let at { return at }
                let seconds = Date().timeIntervalSince1970
                guard seconds >= 0, seconds < 1e15 else {
                    throw KeychainError(.unavailable, "The clock of this machine is before 1970. Set it and try again.")
                }
                return UInt64(seconds)
            }
        }

        /// Another process may have advanced the counter meanwhile. The change runs again then.
        private static func next(_ item: KeychainItem, _ keychain: UserKeychain) throws(KeychainError) -> String {
            try keychain.update(item) { (value) throws(KeychainError) in
                let url = try OTPAuthURL(value)
                guard case .counter(let counter) = url.kind, let next = url.advanced() else { throw isAtItsEnd }
                value = next
                return url.code.code(counter)
            }
        }

        private static let isAtItsEnd = KeychainError(
            .typeMismatch, "The counter of the one-time password cannot advance. Register it at its server again.")
        private static let hasNoTime = KeychainError(
            .invalidParameter, "--at is for codes of the time. This one-time password has a counter.")
    }
}
