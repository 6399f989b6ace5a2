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
        try PKCS12.file(with: [self], passphrase: passphrase, rounds: rounds)
    }

    fileprivate func check() throws(KeyFailure) {
        guard let leaf = chain.first, leaf.publicKeyHash == key.publicKey.applicationLabel else {
            throw .malformed("PKCS#12: the certificate of a key is that of another key")
        }
    }

    fileprivate var certificateBag: DERNode { PKCS12.bag(chain[0], attributes) }

    fileprivate func keyBag(_ passphrase: PKCS12Passphrase, _ rounds: Int) throws(KeyFailure) -> DERNode {
        let key = [UInt8](try key.encryptedPKCS8(passphrase: passphrase.utf8, rounds: rounds))
        return .sequence(.oid(.shroudedKeyBag), .context(0, .bytes(key)), attributes)
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
}

extension PKCS12 {
    /// A PKCS#12 file with several identities. What they have in common is in it once.
    ///
    /// - Throws: `KeyFailure.malformed` if the first certificate of an identity does not belong to its key;
    ///   `limitExceeded` if there are more than this package would read.
    package static func file(
        with identities: [Identity], passphrase: SecretBytes, rounds: Int = PrivateKey.defaultRounds
    ) throws(KeyFailure) -> Data {
        guard DerivationLimits.rounds.contains(rounds) else { throw .limitExceeded("rounds of the key derivation") }
        for identity in identities { try identity.check() }
        let owners = identities.distinct { $0.key.publicKey.applicationLabel }
        let leaves = identities.distinct { $0.chain[0] }
        let issuers = identities.flatMap { $0.chain.dropFirst() }.distinct { $0 }
            .filter { issuer in !leaves.contains { $0.chain[0] == issuer } }
        let derivations = owners.count + 2
        guard derivations * rounds <= Limits.rounds, owners.count + leaves.count + issuers.count <= Limits.bags else {
            throw .limitExceeded("identities in one file")
        }
        let certificates = leaves.map(\.certificateBag) + issuers.map { bag($0) }
        return try file(owners, certificates, PKCS12Passphrase(passphrase), rounds)
    }

    private static func file(
        _ owners: [Identity], _ certificates: [DERNode], _ passphrase: PKCS12Passphrase, _ rounds: Int
    ) throws(KeyFailure) -> Data {
        var keys: [DERNode] = []
        for owner in owners { keys.append(try owner.keyBag(passphrase, rounds)) }
        let keyBags = DERNode.element(DERTag.sequence, keys)
        let content = try DERNode.sequence(encrypted(certificates, passphrase, rounds), data(keyBags.encoded)).encoded
        return Data(DERNode.sequence(.integer(3), data(content), checksum(content, passphrase, rounds)).encoded)
    }

    private static func encrypted(
        _ bags: [DERNode], _ passphrase: PKCS12Passphrase, _ rounds: Int
    ) throws(KeyFailure) -> DERNode {
        let scheme = PasswordEncryption.new(rounds: rounds)
        let ciphertext = try scheme.encrypt(DERNode.element(DERTag.sequence, bags).encodedSecret, passphrase.utf8)
        let content = DERNode.element(DERTag.contextPrimitive(0), [.bytes(ciphertext)])
        return .sequence(
            .oid(.encryptedData),
            .context(0, .sequence(.integer(0), .sequence(.oid(.data), scheme.encoded, content))))
    }

    fileprivate static func bag(_ certificate: Certificate, _ attributes: DERNode? = nil) -> DERNode {
        let content = DERNode.sequence(
            .oid(.x509Certificate), .context(0, .octets(.bytes([UInt8](certificate.bytes)))))
        return .element(
            DERTag.sequence, [.oid(.certificateBag), .context(0, content)] + [attributes].compactMap(\.self))
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

extension Sequence {
    /// The first element of each name, in order.
    fileprivate func distinct<Name: Hashable>(_ name: (Element) -> Name) -> [Element] {
        var seen: Set<Name> = []
        return filter { seen.insert(name($0)).inserted }
    }
}
