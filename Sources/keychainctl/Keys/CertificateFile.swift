// SPDX-License-Identifier: Apache-2.0
// Files of certificates, with or without private keys.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import SecretMemory

enum CertificateFile {
    /// Several times the length of a file with all authorities that a system trusts.
    private static let limit = 1 << 20
    private static let expected = "file of certificates"

    /// - Parameter path: `nil`: standard input.
    static func content(
        _ path: String?, _ passphrase: KeyFilePassphraseOptions
    ) throws(KeychainError) -> KeyFileContent {
        let bytes = try KeyFile.read(path, limit: limit, expected: expected)
        do throws(KeyFailure) {
            return try KeyFileContent(bytes)
        } catch {
            guard error == .passphraseRequired else { throw error.inKeychainWords("The file", expected: expected) }
        }
        // Asked for only if the file needs it.
        let secret = try passphrase.passphrase()
        do throws(KeyFailure) {
            return try KeyFileContent(bytes, passphrase: secret)
        } catch {
            throw error.inKeychainWords("The file", expected: expected)
        }
    }

    /// A PKCS#12 file.
    static func file(of identity: PKCS12.Identity, _ passphrase: SecretBytes) throws(KeychainError) -> Data {
        do throws(KeyFailure) {
            return try identity.file(passphrase: passphrase)
        } catch {
            throw error.inKeychainWords("The identity")
        }
    }
}

/// What new items get.
struct NewCertificateOptions: ParsableArguments {
    @Option(help: "A name for people. Without it: the name in the file or in the certificate.")
    var label: String?

    @Option(
        help: ArgumentHelp(
            "When the items open: \(AccessibilityName.help). Or Apple's names, such as ck. Without it: certificates always, "
                + "keys when-unlocked.", valueName: "class")
    )
    var accessibility: AccessibilityName?

    func validate() throws {
        guard label?.isEmpty != true else { throw ValidationError("--label takes a name, not an empty text.") }
    }

    func store(
        _ content: KeyFileContent, tag: String? = nil, _ place: KeyPlaceOptions, in keychain: UserKeychain
    ) throws(KeychainError) -> ImportedItems {
        var store = place.store(in: keychain)
        store.accessibility = accessibility?.accessibility
        return try store.importExactly(content, tag: tag, label: label)
    }
}

extension ImportedItems {
    /// One line for each certificate, and the number of those that were there.
    func report() {
        for stored in certificates {
            let hasKey = identities.contains { $0.certificate.id == stored.id }
            // A name must not begin a line of its own.
            let name = (stored.certificate.name ?? "-").escapingControls()
            Output.note(
                "The vault has the certificate '\(name)'\(hasKey ? " with its private key" : ""): "
                    + stored.certificate.fingerprint)
        }
        Output.note("\(addedCount) added, \(existingCount) there already and unchanged.")
    }
}
