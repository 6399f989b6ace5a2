// SPDX-License-Identifier: Apache-2.0
// The protector behind a credential that systemd hands to a service.

import Foundation
import KeychainEngine
import SecretMemory

/// Wraps under a key derived from the credential `swift-keychain.key` in `$CREDENTIALS_DIRECTORY` (systemd.exec(5)).
/// Parameters: salt (32 bytes).
struct CredentialProtector: KeyProtector {
    static let kind = ProtectorKind(
        number: 4, word: "credential", name: "systemd credential", holder: .machine, input: .found,
        protectsFrom: "everyone but the service that the credential is given to, and root",
        doesNotProtectFrom: "root; other programs of the service's user; whoever can read the unit's credential file")

    static let fileName = "swift-keychain.key"

    let secret: SecretBytes

    static func probe(_ surroundings: Surroundings) throws(KeychainError) -> (any Protector)? {
        guard let path = path(surroundings.settings) else { return nil }
        guard let secret = try PrivateFile.readSecret(path, limit: KeyFileProtector.lengths.upperBound) else {
            return nil
        }
        try KeyFileProtector.checkLength(secret, "The credential '\(path)'")
        return CredentialProtector(secret: secret)
    }

    /// Where the credential would be; `nil` if this process was given none.
    static func path(_ settings: VaultSettings) -> String? {
        guard let folder = settings.credentialsFolder, !folder.isEmpty else { return nil }
        return folder + "/" + fileName
    }

    static func make(_: SecretBytes, _: Surroundings) -> (any Protector)? { nil }
}
