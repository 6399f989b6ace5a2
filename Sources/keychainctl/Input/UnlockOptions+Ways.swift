// SPDX-License-Identifier: Apache-2.0
// What to tell the user of a locked vault: the options and the service that open this vault, and no others.

import KeychainKit
import KeychainVault

extension UnlockOptions {
    /// The options with which a command gets a secret of this vault.
    static func ways(_ vault: Vault) throws(KeychainError) -> [String] {
        let kinds = try vault.protectors.compactMap(\.kind)
        return [.passphrase, .recoveryKey, .keyFile, .tpm].filter(kinds.contains).compactMap(way)
    }

    /// How the vault opens where `unlock` serves nobody else; begins with a space.
    static func adviceForOneCommand(_ vault: Vault) throws(KeychainError) -> String {
        let ways = try ways(vault)
        guard let first = ways.first else { return try serviceAdvice(vault) }
        return " Give a secret to the command that needs it, with \(ways.joined(separator: " or ")). For example: "
            + "keychainctl get \(first) …"
    }

    /// The failure with advice that helps: `unlock` does not if each process must unlock separately, or if only a
    /// service has the secret.
    static func locked(_ vault: Vault, _ failure: KeychainError) throws(KeychainError) -> KeychainError {
        guard failure.reason == .locked else { return failure }
        let (ways, service) = (try ways(vault), try serviceAdvice(vault))
        guard !ways.isEmpty else {
            return service.isEmpty ? failure : KeychainError(.locked, "The keychain is locked." + service)
        }
        guard vault.unlockCacheInUse == .process else { return KeychainError(.locked, failure.message + service) }
        return KeychainError(
            .locked,
            "The keychain is locked, and here each process must unlock it for itself. Give a secret to this command "
                + "with \(ways.joined(separator: " or ")).\(service)")
    }

    /// The failure to ask for a secret of the kind. Names what could be given instead of an answer.
    func failure(ofAskingFor kind: ProtectorKind, _ failure: KeychainError, _ vault: Vault) throws(KeychainError)
        -> KeychainError
    {
        guard failure.reason == .interactionNotAllowed else { return failure }
        let ways =
            switch given?.source {
            case nil: try Self.ways(vault)
            case .hardware: ["--pin-fd 3"]
            default: [Self.way(kind)].compactMap(\.self)
            }
        guard !ways.isEmpty else { return failure }
        return KeychainError(
            .interactionNotAllowed,
            "There is no terminal to ask on. Give the secret with \(ways.joined(separator: " or ")).")
    }

    private static func way(_ kind: ProtectorKind) -> String? {
        switch kind {
        case .passphrase: "--passphrase-fd 3"
        case .recoveryKey: "--recovery-key-fd 3"
        case .keyFile: "--key-file PATH"
        case .tpm: "--tpm2"
        default: nil
        }
    }

    /// Begins with a space; empty if no service has a secret of the vault.
    static func serviceAdvice(_ vault: Vault) throws(KeychainError) -> String {
        try vault.protectors.contains { $0.kind == .credential } ? " " + credentialAdvice : ""
    }

    static let credentialAdvice =
        "A service with the systemd credential 'swift-keychain.key' (in $CREDENTIALS_DIRECTORY, by LoadCredential=) opens it "
        + "without a prompt."
}
