// SPDX-License-Identifier: Apache-2.0
// PBKDF2 with bounds.

import Crypto
import CryptoExtras
import Foundation
import SecretMemory
import SwiftASN1

/// The limits for the parameters of a file that a passphrase opens.
enum DerivationLimits {
    /// Some seconds of work. New files have 600 000.
    static let rounds = 1...10_000_000
    static let salt = 1...1024

    static func check(rounds: Int, salt: some Collection<UInt8>) throws(KeyFailure) {
        guard Self.rounds.contains(rounds) else { throw .limitExceeded("rounds of the key derivation") }
        guard Self.salt.contains(salt.count) else { throw .limitExceeded("salt of the key derivation") }
    }
}

/// PBKDF2 (RFC 8018) with the parameters of a file.
struct PBKDF2 {
    let salt: [UInt8]
    let rounds: Int
    let keyLength: Int?
    let hash: KDF.Insecure.PBKDF2.HashFunction

    /// The parameters of new files.
    init(rounds: Int) {
        (salt, self.rounds, keyLength, hash) = (.random(count: 16), rounds, nil, .sha256)
    }

    /// Reads PBKDF2-params.
    init<Bytes>(_ reader: inout DERReader<Bytes>) throws(KeyFailure) {
        var parameters = try reader.within(DERTag.sequence)
        salt = [UInt8](try parameters.content(DERTag.octetString))
        rounds = try parameters.smallInteger()
        keyLength = parameters.nextTag == DERTag.integer ? try parameters.smallInteger() : nil
        hash = try Self.hash(&parameters)
        try parameters.finish()
        try DerivationLimits.check(rounds: rounds, salt: salt)
    }

    private static func hash<Bytes>(
        _ parameters: inout DERReader<Bytes>
    ) throws(KeyFailure) -> KDF.Insecure.PBKDF2.HashFunction {
        guard !parameters.isAtEnd else { return .insecureSHA1 }
        var algorithm = try parameters.within(DERTag.sequence)
        let name = try algorithm.objectIdentifier()
        let known: [ASN1ObjectIdentifier: KDF.Insecure.PBKDF2.HashFunction] = [
            .hmacSHA1: .insecureSHA1, .hmacSHA224: .insecureSHA224, .hmacSHA256: .sha256, .hmacSHA384: .sha384,
            .hmacSHA512: .sha512,
        ]
        guard let hash = known[name] else { throw .unsupportedAlgorithm("\(name)") }
        return hash
    }

    /// - Parameter passphrase: UTF-8.
    func key(_ passphrase: SecretBytes, length: Int) throws(KeyFailure) -> SymmetricKey {
        guard keyLength == nil || keyLength == length else { throw .malformed("length of a derived key") }
        // HMAC pads its key with zeros, so one zero is equivalent to an empty key, which the library rejects.
        var bytes = passphrase.withUnsafeBytes { $0.isEmpty ? [0] : [UInt8]($0) }
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        do {
            return try KDF.Insecure.PBKDF2.deriveKey(
                from: bytes, salt: salt, using: hash, outputByteCount: length, unsafeUncheckedRounds: rounds)
        } catch {
            throw .malformed("parameters of the key derivation")
        }
    }

    /// The AlgorithmIdentifier for parameters from `init(rounds:)`.
    var encoded: DERNode {
        .algorithm(
            .pbkdf2,
            .sequence(.octets(.bytes(salt)), .integer(rounds), .algorithm(.hmacSHA256, .null)))
    }
}
