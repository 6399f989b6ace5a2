// SPDX-License-Identifier: Apache-2.0
// The stored data of a paired television: its credentials and its certificate.

import Foundation
@_spi(Wrappers) import KeychainKit

/// A known television.
struct Pairing: Equatable, Sendable {
    var credentials: TVCredentials
    /// In DER; `nil` if there was no connection over TLS yet. It is a separate item, because the credentials have three
    /// fields.
    var certificate: Data?

    /// Whether this pairing belongs to the television with this address.
    func isOf(mac: String) -> Bool { MACAddress.areEqual(credentials.macAddress, mac) }
}

/// The pairing in the keychain.
struct PairingStore: Sendable {
    private let secrets: SecretStore
    private let account = LGTVControlManager.Constants.keychainAccount
    private let certificateAccount = LGTVControlManager.Constants.keychainAccount + ".certificate"

    init(_ keychain: ChosenKeychain) {
        secrets = keychain.secrets(service: LGTVControlManager.Constants.keychainService)
    }

    // MARK: - Without waiting

    func credentials() throws -> TVCredentials? {
        try secrets.read(Data.self, for: account).map { try JSON.decode(TVCredentials.self, from: $0) }
    }

    /// Saves credentials. It removes the certificate of another television, which would reject this one.
    func save(_ credentials: TVCredentials) throws {
        let bytes = try JSON.encode(credentials)
        let isAnother = try !isKnown(credentials)
        try secrets.transactionOrSteps { transaction in
            if isAnother { transaction.remove(for: certificateAccount) }
            try transaction.save(bytes, for: account)
        }
    }

    func clear() throws {
        try secrets.transactionOrSteps { transaction in
            transaction.remove(for: account)
            transaction.remove(for: certificateAccount)
        }
    }

    /// Whether the stored credentials belong to the same television. Unreadable credentials belong to none.
    private func isKnown(_ credentials: TVCredentials) throws -> Bool {
        do {
            return try self.credentials().map { MACAddress.areEqual($0.macAddress, credentials.macAddress) } ?? false
        } catch is JSON.Failure {
            return false
        }
    }

    // MARK: - Without blocking a thread

    nonisolated(nonsending) func pairing() async throws -> Pairing? {
        guard let bytes = try await secrets.read(Data.self, for: account) else { return nil }
        let credentials = try JSON.decode(TVCredentials.self, from: bytes)
        return Pairing(
            credentials: credentials, certificate: try await secrets.read(Data.self, for: certificateAccount))
    }

    /// Replaces the stored pairing, credentials and certificate at once.
    nonisolated(nonsending) func save(_ pairing: Pairing) async throws {
        let bytes = try JSON.encode(pairing.credentials)
        try await secrets.transactionOrSteps { (transaction) async throws in
            // This order matters if the changes are made one after another: a stale certificate only rejects the
            // television, but a missing one would accept any device.
            if let certificate = pairing.certificate { try transaction.save(certificate, for: certificateAccount) }
            try transaction.save(bytes, for: account)
            if pairing.certificate == nil { transaction.remove(for: certificateAccount) }
        }
    }
}
