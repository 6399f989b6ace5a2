// SPDX-License-Identifier: Apache-2.0
// What is kept of a paired television: its credentials, and the certificate that it showed.

import Foundation
import KeychainKit

/// A television as it is known.
struct Pairing: Equatable, Sendable {
    var credentials: TVCredentials
    /// In DER; `nil`: it has not been connected to over TLS. In an item of its own: the credentials have three fields.
    var certificate: Data?

    /// Whether a television is the one of this pairing.
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

    /// Saves credentials. The certificate of another television goes: it would refuse this one.
    func save(_ credentials: TVCredentials) throws {
        let bytes = try JSON.encode(credentials)
        let isAnother = try !isKnown(credentials)
        try inOneStep { (transaction) throws(KeychainKit.KeychainError) in
            try transaction.save(bytes, for: account)
            if isAnother { transaction.remove(certificateAccount) }
        } orElse: { () throws(KeychainKit.KeychainError) in
            if isAnother { try secrets.remove(certificateAccount) }
            try secrets.save(bytes, for: account)
        }
    }

    func clear() throws {
        try inOneStep { transaction in
            transaction.remove(account)
            transaction.remove(certificateAccount)
        } orElse: { () throws(KeychainKit.KeychainError) in
            try secrets.remove(account)
            try secrets.remove(certificateAccount)
        }
    }

    /// Whether the credentials that are there are for the same television. Those that cannot be read are for none.
    private func isKnown(_ credentials: TVCredentials) throws -> Bool {
        do {
            return try self.credentials().map { MACAddress.areEqual($0.macAddress, credentials.macAddress) } ?? false
        } catch is JSON.Failure {
            return false
        }
    }

    /// Makes several changes at once; where the keychain cannot, as Apple's, one after the other.
    private func inOneStep(
        _ body: (SecretTransaction) throws(KeychainKit.KeychainError) -> Void,
        orElse single: () throws(KeychainKit.KeychainError) -> Void
    ) throws {
        do {
            try secrets.transaction(body)
        } catch let error as KeychainKit.KeychainError where error.reason == .unsupported {
            try single()
        }
    }

    // MARK: - Without blocking a thread

    nonisolated(nonsending) func pairing() async throws -> Pairing? {
        guard let bytes = try await secrets.read(Data.self, for: account) else { return nil }
        let credentials = try JSON.decode(TVCredentials.self, from: bytes)
        return Pairing(
            credentials: credentials, certificate: try await secrets.read(Data.self, for: certificateAccount))
    }

    /// Replaces what there was by a pairing, credentials and certificate at once.
    nonisolated(nonsending) func save(_ pairing: Pairing) async throws {
        let bytes = try JSON.encode(pairing.credentials)
        do {
            try await secrets.transaction { (transaction) async throws in
                try transaction.save(bytes, for: account)
                guard let certificate = pairing.certificate else { return transaction.remove(certificateAccount) }
                try transaction.save(certificate, for: certificateAccount)
            }
        } catch let error as KeychainKit.KeychainError where error.reason == .unsupported {
            // The certificate first: one that is too many refuses, one that is missing would trust anybody.
            if let certificate = pairing.certificate {
                try await secrets.save(certificate, for: certificateAccount)
                try await secrets.save(bytes, for: account)
            } else {
                try await secrets.save(bytes, for: account)
                try await secrets.remove(certificateAccount)
            }
        }
    }
}
