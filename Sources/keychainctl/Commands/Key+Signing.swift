// SPDX-License-Identifier: Apache-2.0
// keychainctl key sign and verify.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKeyStore
import KeychainKeys
import KeychainKit

extension Keychainctl.Key {
    struct Sign: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign",
            abstract: "Sign a file or standard input.",
            usage: "keychainctl key sign [<file>] --tag <name> [<options>]",
            discussion: """
                The signature is written to standard output: as bytes, or as a line of Base64 with \
                --base64 and on a terminal. Without --algorithm it is that of the key: ed25519; ECDSA with \
                SHA-256, SHA-384 or SHA-512 for p256, p384 and p521, in DER; PKCS#1 v1.5 with SHA-256 for \
                RSA (rsa-sha256). `openssl dgst -verify` verifies these, `openssl pkeyutl -rawin` those of \
                ed25519. A message for ed25519 may be up to 64 MiB long, others have no limit.

                EXAMPLES
                  keychainctl key sign --tag release archive.tar > archive.tar.sig
                  printf %s "$header.$payload" | keychainctl key sign --tag token --raw --base64
                """)

        @Argument(help: ArgumentHelp("The file; default: standard input.", valueName: "file"), completion: .file())
        var file: String?

        @OptionGroup(title: "Key") var key: KeyOptions
        @OptionGroup(title: "Signature") var signature: SignatureOptions

        @Flag(help: "Write a line of Base64.")
        var base64 = false

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws {
            guard file == nil, unlock.uses(STDIN_FILENO) else { return }
            throw ValidationError("The message and a secret both come from standard input. Name the file to sign.")
        }

        func run() throws {
            let keychain = try UserKeychain()
            let found = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in try key.signingKey(in: keychain) }
            }
            let (algorithm, hash) = try signature.resolved(for: found.publicKey)
            let signature = try found.sign(SignedMessage.input(file, hash), algorithm)
            guard base64 || Terminal.isTerminal(STDOUT_FILENO) else { return try Output.write(signature) }
            try Output.write(signature.base64EncodedString() + "\n")
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Verify a signature of a file or of standard input.",
            usage: "keychainctl key verify <file> --tag <name> --signature <file> [<options>]",
            discussion: """
                The exit code is 0 if the signature was made with this key, and 7 if it was not. The \
                signature is in a file, as bytes or Base64. Give --algorithm and --raw as for `sign`.

                EXAMPLES
                  keychainctl key verify --tag release --signature archive.tar.sig archive.tar
                """)

        @Argument(help: ArgumentHelp("The file; default: standard input.", valueName: "file"), completion: .file())
        var file: String?

        @OptionGroup(title: "Key") var key: KeyOptions

        @Option(
            name: .customLong("signature"), help: ArgumentHelp("The file with the signature.", valueName: "file"),
            completion: .file())
        var signatureFile: String

        @OptionGroup(title: "Signature") var signature: SignatureOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        /// Longer than a signature of the largest key in Base64.
        private static let limit = 16 << 10

        func validate() throws {
            guard file == nil, unlock.uses(STDIN_FILENO) else { return }
            throw ValidationError("The message and a secret both come from standard input. Name the file to verify.")
        }

        func run() throws {
            let keychain = try UserKeychain()
            let publicKey = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in try key.publicKey(in: keychain) }
            }
            let (algorithm, hash) = try signature.resolved(for: publicKey)
            let given = try InputFile.read(signatureFile, limit: Self.limit)
            let input = try SignedMessage.input(file, hash)
            for signature in [given, Self.decoded(given)].compactMap(\.self) {
                guard try !isValid(signature, input, publicKey, algorithm) else {
                    return Output.note("The signature is that of the \(publicKey.shown).")
                }
            }
            throw KeychainError(
                .authenticationFailed,
                "This is no signature of this message with this key and algorithm. Do not trust the message.")
        }

        /// Base64 with white space around it.
        private static func decoded(_ text: Data) -> Data? {
            Data(base64Encoded: Data(text.filter { $0 > 0x20 }))
        }

        private func isValid(
            _ signature: Data, _ input: Data, _ key: PublicKey, _ algorithm: KeyAlgorithm
        ) throws(KeychainError) -> Bool {
            do throws(KeyFailure) {
                return try key.isValidSignature(signature, for: input, algorithm)
            } catch {
                throw error.inKeychainWords("The key")
            }
        }
    }
}
