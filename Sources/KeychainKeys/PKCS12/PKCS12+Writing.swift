// SPDX-License-Identifier: Apache-2.0
// Writes a PKCS#12 file with OpenSSL 3's defaults, which all recent systems can read.

import Crypto
public import Foundation
public import SecretMemory
import SwiftASN1

extension PKCS12.Identity {
    /// A PKCS#12 file with this identity: PBES2 with PBKDF2-HMAC-SHA256 and AES-256-CBC, and a checksum with SHA-256.
    ///
    /// - Parameters:
    ///   - passphrase: UTF-8.
    ///   - rounds: For each of the three derivations.
    /// - Throws: `KeyFailure.malformed` if the first certificate does not belong to the key.
    public func file(
        passphrase: SecretBytes, rounds: Int = PrivateKey.defaultRounds
    ) throws(KeyFailure) -> Data {
        guard DerivationLimits.rounds.contains(rounds) else { throw .limitExceeded("rounds of the key derivation") }
        guard let leaf = chain.first, leaf.publicKeyHash == key.publicKey.applicationLabel else {
            throw .malformed("PKCS#12: the certificate of a key is that of another key")
        }
        let passphrase = try PKCS12Passphrase(passphrase)
        let content = try DERNode.sequence(encryptedBags(passphrase, rounds), keyBags(passphrase, rounds)).encoded
        return Data(
            DERNode.sequence(.integer(3), Self.data(content), Self.checksum(content, passphrase, rounds)).encoded)
    }

    private func encryptedBags(_ passphrase: PKCS12Passphrase, _ rounds: Int) throws(KeyFailure) -> DERNode {
        let scheme = PasswordEncryption.new(rounds: rounds)
        let bags = DERNode.element(DERTag.sequence, chain.enumerated().map { bag($1, isLeaf: $0 == 0) })
        let ciphertext = try scheme.encrypt(bags.encodedSecret, passphrase.utf8)
        let content = DERNode.element(DERTag.contextPrimitive(0), [.bytes(ciphertext)])
        return .sequence(
            .oid(.encryptedData),
            .context(0, .sequence(.integer(0), .sequence(.oid(.data), scheme.encoded, content))))
    }

    private func bag(_ certificate: Certificate, isLeaf: Bool) -> DERNode {
        let content = DERNode.sequence(
            .oid(.x509Certificate), .context(0, .octets(.bytes([UInt8](certificate.bytes)))))
        return .element(
            DERTag.sequence, [.oid(.certificateBag), .context(0, content)] + (isLeaf ? [attributes] : []))
    }

    private func keyBags(_ passphrase: PKCS12Passphrase, _ rounds: Int) throws(KeyFailure) -> DERNode {
        let key = [UInt8](try key.encryptedPKCS8(passphrase: passphrase.utf8, rounds: rounds))
        let bag = DERNode.sequence(.oid(.shroudedKeyBag), .context(0, .bytes(key)), attributes)
        return Self.data(DERNode.sequence(bag).encoded)
    }

    /// The attributes that connect the key and its certificate. The elements of a set are sorted by their bytes.
    private var attributes: DERNode {
        let identifier = DERNode.sequence(
            .oid(.localKeyIdentifier), .set(.octets(.bytes([UInt8](key.publicKey.applicationLabel)))))
        let label = name.map { name in
            let units = name.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            return DERNode.sequence(.oid(.friendlyName), .set(.element(StringTag.bmp, [.bytes(units)])))
        }
        let sorted = [identifier, label].compactMap(\.self).sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) }
        return .element(DERTag.set, sorted)
    }

    private static func data(_ content: [UInt8]) -> DERNode {
        .sequence(.oid(.data), .context(0, .octets(.bytes(content))))
    }

    private static func checksum(_ content: [UInt8], _ passphrase: PKCS12Passphrase, _ rounds: Int) -> DERNode {
        let derivation = PKCS12Derivation(hash: .sha256, salt: .random(count: 16), rounds: rounds)
        let key = derivation.bytes(.authentication, passphrase, count: derivation.hash.byteCount)
        let code = key.withUnsafeBytes {
            HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: $0))
        }
        return .sequence(
            .sequence(.algorithm(.sha256, .null), .octets(.bytes(Array(code)))), .octets(.bytes(derivation.salt)),
            .integer(rounds))
    }
}
