// SPDX-License-Identifier: Apache-2.0
// The protector for a credential that systemd provides to a service.

import Foundation
import KeychainEngine
import SecretMemory

/// Wraps under a key derived from the credential `swift-keychain.key` in `$CREDENTIALS_DIRECTORY` (systemd.exec(5)).
/// Parameters: salt (32 bytes).
struct CredentialProtector: KeyProtector {
    static let kind = ProtectorKind(
        number: 4, word: "credential", name: "systemd credential", holder: .machine, input: .found,
        protectsFrom: "anyone except root and the service that gets the credential",
        doesNotProtectFrom: "root; other programs of the service's user; anyone who can read the unit's credential file"
    )

    static let fileName = "swift-keychain.key"

    let secret: SecretBytes

    static func probe(_ environment: ProtectorEnvironment) throws(KeychainError) -> (any Protector)? {
        guard let path = path(environment.settings) else { return nil }
        guard let secret = try PrivateFile.readSecret(path, limit: KeyFileProtector.lengths.upperBound) else {
            return nil
        }
        try KeyFileProtector.checkLength(secret, "The credential '\(path)'")
        return CredentialProtector(secret: secret)
    }

    /// The path of the credential; `nil` if this process has no credentials folder.
    static func path(_ settings: VaultSettings) -> String? {
        guard let folder = settings.credentialsFolder, !folder.isEmpty else { return nil }
        return folder + "/" + fileName
    }

    /// What is said if the credential was asked for and is not here.
    static func missing(_ settings: VaultSettings) -> KeychainError {
        let place =
            path(settings).map { "there is no file '\($0)'" }
            ?? "CREDENTIALS_DIRECTORY, the folder with '\(fileName)', is not set"
        return KeychainError(
            .unavailable,
            "There is no systemd credential here: \(place). Run this in a service with LoadCredential=\(fileName):PATH, or use "
                + "another protector.")
    }

    static func make(_: SecretBytes, _: ProtectorEnvironment) -> (any Protector)? { nil }
}
