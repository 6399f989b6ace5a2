// SPDX-License-Identifier: Apache-2.0
// The list of protectors.

import KeychainEngine

/// The registration table.
enum Protectors {
    static let all: [any Protector.Type] = [
        DeviceKeyProtector.self, PassphraseProtector.self, RecoveryKeyProtector.self, CredentialProtector.self,
        KeyFileProtector.self, TPMProtector.self,
    ]

    /// The protectors that open slots without a prompt.
    static func atHand(_ environment: ProtectorEnvironment) throws(KeychainError) -> [any Protector] {
        var found: [any Protector] = []
        for type in all where type.kind.input == .found {
            if let protector = try type.probe(environment) { found.append(protector) }
        }
        return found
    }

    static func type(_ kind: ProtectorKind) -> (any Protector.Type)? { all.first { $0.kind == kind } }
}

extension ProtectorKind {
    /// All kinds that this version knows.
    public static var all: [ProtectorKind] { Protectors.all.map { $0.kind } }

    /// The key in a file of this machine and user.
    public static var deviceKey: ProtectorKind { DeviceKeyProtector.kind }
    public static var passphrase: ProtectorKind { PassphraseProtector.kind }
    public static var recoveryKey: ProtectorKind { RecoveryKeyProtector.kind }
    public static var credential: ProtectorKind { CredentialProtector.kind }
    public static var keyFile: ProtectorKind { KeyFileProtector.kind }
    /// Sealed by a TPM, with or without a PIN.
    public static var tpm: ProtectorKind { TPMProtector.kind }

    /// - Returns: `nil` for a number that this version does not know.
    public init?(number: UInt8) {
        guard let known = Self.all.first(where: { $0.number == number }) else { return nil }
        self = known
    }

    /// - Returns: `nil` for an unknown word.
    public init?(word: String) {
        guard let known = Self.all.first(where: { $0.word == word }) else { return nil }
        self = known
    }
}
