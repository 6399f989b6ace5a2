// SPDX-License-Identifier: Apache-2.0
// A passphrase that opens an age file (scrypt).

import Crypto
import CryptoExtras
import Foundation
import KeychainKit
import SecretMemory

/// The passphrase is used byte for byte, as the program `age` does: unlike passphrases of the vault it is not composed.
struct AgePassphrase {
    static let kind = "scrypt"
    /// 256 MiB and about a second for each guess, as the program `age` writes it.
    private static let workFactor = 18
    /// 4 GiB. A file could otherwise ask for any amount of work and memory.
    private static let mostWork = 22
    private static let saltLength = 16

    let secret: SecretBytes

    func wrap(_ fileKey: SymmetricKey) throws(KeychainError) -> AgeStanza {
        var salt = Data(count: Self.saltLength)
        salt.withUnsafeMutableBytes(fillWithRandomBytes)
        let body = try AgeWrapping.wrap(fileKey, with: key(salt, Self.workFactor))
        return AgeStanza(arguments: [Self.kind, salt.unpaddedBase64, String(Self.workFactor)], body: body)
    }

    /// - Returns: `nil` for a wrong passphrase.
    /// - Throws: `corrupt` for a malformed stanza, `unsupported` for one that asks for too much work.
    func unwrap(_ stanza: AgeStanza) throws(KeychainError) -> SymmetricKey? {
        guard stanza.arguments.count == 3, stanza.body.count == AgeWrapping.fileKeyLength + 16,
            let salt = Data(unpaddedBase64: stanza.arguments[1]), salt.count == Self.saltLength,
            let work = Self.number(stanza.arguments[2])
        else { throw .damagedArchive("its header is malformed") }
        guard work <= Self.mostWork else {
            throw KeychainError(
                .unsupported,
                "The file asks for 2^\(work) rounds of work to test a passphrase. At most 2^\(Self.mostWork) are done.")
        }
        return AgeWrapping.unwrap(stanza.body, with: try key(salt, work))
    }

    /// The one spelling of a number from 1 to 99.
    private static func number(_ text: String) -> Int? {
        guard (1...2).contains(text.utf8.count), let number = Int(text), number > 0, String(number) == text else {
            return nil
        }
        return number
    }

    private func key(_ salt: Data, _ work: Int) throws(KeychainError) -> SymmetricKey {
        defer { scrubResidue() }
        do {
            return try secret.withUnsafeBytes {
                try KDF.Scrypt.deriveKey(
                    from: $0, salt: Data("age-encryption.org/v1/scrypt".utf8) + salt, outputByteCount: 32,
                    rounds: 1 << work, blockSize: 8, parallelism: 1)
            }
        } catch {
            throw KeychainError(
                .unavailable,
                "There is not enough memory to test the passphrase: \((1 << work) >> 10) MiB are needed.")
        }
    }
}
