// SPDX-License-Identifier: Apache-2.0
// A PKCS#12 file with one key many times, as no other program writes it.

#if Certificates && os(Linux)
    import Crypto
    import Foundation
    import KeychainTestSupport
    import SecretMemory
    import SwiftASN1

    @testable import KeychainKeys

    /// A key, so many times, with its certificate. The content is not encrypted, and has a checksum.
    struct RepeatedIdentity {
        let key: P256.Signing.PrivateKey
        /// In DER.
        let certificate: Data
        let count: Int

        func file(passphrase: String) throws -> Data {
            let content = DERNode.sequence(Self.data(try bags.encoded)).encoded
            let checksum = try Self.checksum(content, PKCS12Passphrase(SecretBytes(text: passphrase)))
            return Data(DERNode.sequence(.integer(3), Self.data(content), checksum).encoded)
        }

        private var bags: DERNode {
            get throws {
                let bytes = key.x963Representation.withUnsafeBytes { SecretBytes(copying: $0) }
                let encoded = try PrivateKey(.p256, externalRepresentation: bytes).pkcs8()
                let connection = DERNode.set(.sequence(.oid(.localKeyIdentifier), .set(.octets(.bytes([1])))))
                let ofKey = DERNode.sequence(
                    .oid(.keyBag), .context(0, .bytes(encoded.withUnsafeBytes { [UInt8]($0) })), connection)
                let der = DERNode.octets(.bytes([UInt8](certificate)))
                let content = DERNode.sequence(.oid(.x509Certificate), .context(0, der))
                let ofCertificate = DERNode.sequence(.oid(.certificateBag), .context(0, content), connection)
                return .element(DERTag.sequence, Array(repeating: ofKey, count: count) + [ofCertificate])
            }
        }

        private static func data(_ content: [UInt8]) -> DERNode {
            .sequence(.oid(.data), .context(0, .octets(.bytes(content))))
        }

        private static func checksum(_ content: [UInt8], _ passphrase: PKCS12Passphrase) -> DERNode {
            let derivation = PKCS12Derivation(hash: .sha256, salt: .random(count: 16), rounds: 1)
            let key = derivation.bytes(.authentication, passphrase, count: derivation.hash.byteCount)
            let code = key.withUnsafeBytes {
                HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: $0))
            }
            return .sequence(
                .sequence(.algorithm(.sha256, .null), .octets(.bytes(Array(code)))),
                .octets(.bytes(derivation.salt)), .integer(derivation.rounds))
        }
    }
#endif
