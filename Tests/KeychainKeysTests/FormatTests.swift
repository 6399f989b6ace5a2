// SPDX-License-Identifier: Apache-2.0
// Key formats: what is written is read, by openssl too, and what is damaged is refused.

import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

/// A key of each kind.
private func keyOfEachKind() throws -> [PrivateKey] {
    try [KeyKind.p256, .p384, .p521, .ed25519, .x25519].map { try PrivateKey.generate($0) }
        + [KnownKey.privateKey(KnownKey.p256), #require(KnownKey.rsa2048)]
}

struct FormatTests {
    @Test func formats_ofAKey_areReadAgain() throws {
        for key in try keyOfEachKind() {
            #expect(try PrivateKey(pkcs8: key.pkcs8()) == key)
            #expect(try PrivateKey(der: key.pkcs8()) == key)
            #expect(try PrivateKey(pem: key.pem()) == key)
            #expect(try PublicKey(subjectPublicKeyInfo: key.publicKey.subjectPublicKeyInfo) == key.publicKey)
            #expect(try PublicKey(pem: SecretBytes(key.publicKey.pem)) == key.publicKey)
            guard key.kind.isNISTCurve else { continue }
            #expect(try PrivateKey(sec1: key.sec1()) == key)
            #expect(try PrivateKey(der: key.sec1()) == key)
        }
    }

    @Test(arguments: [
        (KeyKind.p256, "3059301306072A8648CE3D020106082A8648CE3D030107034200"),
        (.p384, "3076301006072A8648CE3D020106052B81040022036200"),
        (.p521, "30819B301006072A8648CE3D020106052B8104002303818600"), (.ed25519, "302A300506032B6570032100"),
    ])
    func subjectPublicKeyInfo_ofACurve_hasTheKnownPrefix(kind: KeyKind, prefix: String) throws {
        let key = try PrivateKey.generate(kind).publicKey
        #expect(key.subjectPublicKeyInfo == Data(hex: prefix) + key.externalRepresentation)
    }

    @Test func importing_rsaAsSubjectPublicKeyInfo_isTheSameKey() throws {
        let key = try #require(KnownKey.rsa2048).publicKey
        #expect(try PublicKey.importing(key.subjectPublicKeyInfo, typeNumber: 42) == key)
        #expect(try PublicKey.importing(key.externalRepresentation, typeNumber: 42) == key)
        let curve = try PrivateKey.generate(.p256).publicKey
        #expect(throws: KeyFailure.self) { try PublicKey.importing(curve.subjectPublicKeyInfo, typeNumber: 73) }
    }

    @Test func rsaPrivateKey_asPKCS8_isNoExternalRepresentation() throws {
        let key = try #require(KnownKey.rsa2048)
        #expect(throws: KeyFailure.self) { try PrivateKey(typeNumber: 42, externalRepresentation: key.pkcs8()) }
    }

    // MARK: - The public key beside the private one

    /// Version 2 of PKCS#8 (RFC 5958) with a public key.
    private func pkcs8(of key: PrivateKey, beside publicKey: [UInt8], unusedBits: UInt8 = 0) throws -> SecretBytes {
        var reader = try DERReader.only(DERTag.sequence, in: [UInt8](key.pkcs8().data)[...], "PKCS#8")
        _ = try reader.next()
        let (algorithm, content) = (try reader.next().encoded, try reader.next().encoded)
        let point = DERNode.element(DERTag.contextPrimitive(1), [.bytes([unusedBits] + publicKey)])
        return DERNode.sequence(.integer(1), algorithm.node, content.node, point).encodedSecret
    }

    @Test func pkcs8_withItsPublicKey_isRead() throws {
        for key in try keyOfEachKind() {
            #expect(try PrivateKey(pkcs8: pkcs8(of: key, beside: key.publicKey.bytes)) == key)
        }
    }

    @Test func pkcs8_withAPublicKeyOfAnother_isDamaged() throws {
        let failure = KeyFailure.malformed("public key beside a private one")
        for key in try keyOfEachKind() {
            let bytes = key.publicKey.bytes
            for wrong in [[], [UInt8](repeating: 0, count: bytes.count)] + others(bytes) {
                #expect(throws: failure) { try PrivateKey(pkcs8: pkcs8(of: key, beside: wrong)) }
            }
            #expect(throws: KeyFailure.self) { try PrivateKey(pkcs8: pkcs8(of: key, beside: bytes, unusedBits: 1)) }
        }
    }

    /// One byte more, one less, and one changed at the start, in the middle, and at the end.
    private func others(_ bytes: [UInt8]) -> [[UInt8]] {
        let changed = [0, bytes.count / 2, bytes.count - 1].map { index in
            var changed = bytes
            changed[index] ^= 1
            return changed
        }
        return changed + [bytes + [0], [UInt8](bytes.dropLast())]
    }

    @Test func point_ofAnotherForm_isThatOfItsKeyAlone() throws {
        for key in try keyOfEachKind() where key.kind.isNISTCurve {
            let (point, parity) = (key.publicKey.bytes, key.publicKey.bytes.last.map { $0 & 1 } ?? 0)
            let compressed: [UInt8] = [2 + parity] + point.dropFirst().prefix(point.count / 2)
            let hybrid: [UInt8] = [6 + parity] + point.dropFirst()
            for right in [compressed, hybrid] {
                #expect(try PrivateKey(pkcs8: pkcs8(of: key, beside: right)) == key)
                for wrong in others(right) {
                    #expect(throws: KeyFailure.self) { try PrivateKey(pkcs8: pkcs8(of: key, beside: wrong)) }
                }
            }
        }
    }

    // MARK: - Passphrases

    @Test(arguments: ["correct horse", "", "pä𝄞"])
    func encryptedKey_withItsPassphrase_opens(passphrase: String) throws {
        let key = try PrivateKey.generate(.p256)
        let pem = try key.pem(passphrase: SecretBytes(passphrase), rounds: 1000)
        #expect(try PrivateKey(pem: pem, passphrase: SecretBytes(passphrase)) == key)
        #expect(throws: KeyFailure.passphraseRequired) { try PrivateKey(pem: pem) }
        for attempt in 0..<300 {
            #expect(throws: KeyFailure.wrongPassphrase) {
                try PrivateKey(pem: pem, passphrase: SecretBytes("wrong \(attempt)"))
            }
        }
    }

    @Test(arguments: [0, 10_000_001, Int(UInt32.max), Int.max])
    func encryptedKey_withRoundsBeyondTheLimit_isRefusedAtOnce(rounds: Int) throws {
        #expect(throws: KeyFailure.self) {
            try PrivateKey(encryptedPKCS8: Data(encrypted(rounds: rounds, salt: 16)), passphrase: SecretBytes("x"))
        }
        #expect(throws: KeyFailure.self) {
            try PrivateKey.generate(.p256).encryptedPKCS8(passphrase: SecretBytes("x"), rounds: rounds)
        }
    }

    @Test(arguments: [0, 1025])
    func encryptedKey_withSaltBeyondTheLimit_isRefused(length: Int) throws {
        #expect(throws: KeyFailure.limitExceeded("salt of the key derivation")) {
            try PrivateKey(encryptedPKCS8: Data(encrypted(rounds: 1, salt: length)), passphrase: SecretBytes("x"))
        }
    }

    private func encrypted(rounds: Int, salt: Int) -> [UInt8] {
        let derivation = DERNode.algorithm(
            .pbkdf2, .sequence(.octets(.bytes([UInt8](repeating: 1, count: salt))), .integer(rounds)))
        let cipher = DERNode.algorithm(.aes256CBC, .octets(.bytes([UInt8](repeating: 2, count: 16))))
        return DERNode.sequence(
            .algorithm(.pbes2, .sequence(derivation, cipher)), .octets(.bytes([UInt8](repeating: 3, count: 64)))
        ).encoded
    }

    // MARK: - PEM

    @Test func pem_withTextAroundAndCarriageReturns_isRead() throws {
        let key = try PrivateKey.generate(.p384)
        let text = String(decoding: try key.pem().data, as: UTF8.self)
        let pem = "subject=x\n" + key.publicKey.pem + text.replacingOccurrences(of: "\n", with: "\r\n") + "end"
        #expect(try PrivateKey(pem: SecretBytes(pem)) == key)
        #expect(try PublicKey(pem: SecretBytes(pem)) == key.publicKey)
    }

    @Test(arguments: [
        "", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAA\n", "-----BEGIN PRIVATE KEY----\nAAAA\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PUBLIC KEY-----", "-----BEGIN -----\n-----END -----\n",
        "-----BEGIN PRIVATE KEY-----\nAAA\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nA===\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAB==\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAA=A\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n=AAA\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAA!A\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n\n-----END PRIVATE KEY-----",
    ])
    func pem_damaged_isRefused(text: String) {
        #expect(throws: KeyFailure.self) { try PrivateKey(pem: SecretBytes(text)) }
    }

    @Test(arguments: [
        ("Proc-Type: 4,ENCRYPTED", "encryption in PEM headers", "openssl pkcs8 -topk8 -in FILE -out NEW"),
        ("Comment: text", "PEM with headers", nil),
    ])
    func pem_withHeaders_isUnsupported(header: String, name: String, conversion: String?) {
        let text = "-----BEGIN RSA PRIVATE KEY-----\n\(header)\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"
        let failure = KeyFailure.unsupportedAlgorithm(name)
        #expect(throws: failure) { try PrivateKey(pem: SecretBytes(text)) }
        #expect(failure.conversion == conversion)
    }

    @Test func base64_ofAllShortLengths_isThatOfFoundation() throws {
        for length in 0...200 {
            let bytes = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 * 37) })
            let encoded = Base64.encodeLines(SecretBytes(bytes)).data
            let lines = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            #expect(String(decoding: encoded, as: UTF8.self) == lines + (lines.isEmpty ? "" : "\n"))
            #expect(encoded.withUnsafeBytes { Base64.decode($0)?.data } == bytes)
        }
    }

    // MARK: - Damage

    @Test func formats_cutAtEveryLength_areRefused() throws {
        for key in try keyOfEachKind() {
            let pkcs8 = try key.pkcs8().data
            for length in 0..<pkcs8.count {
                #expect(throws: KeyFailure.self) { try PrivateKey(der: SecretBytes(pkcs8.prefix(length))) }
            }
            #expect(throws: KeyFailure.self) { try PrivateKey(der: SecretBytes(pkcs8 + [0])) }
            let info = key.publicKey.subjectPublicKeyInfo
            for length in 0..<info.count {
                #expect(throws: KeyFailure.self) { try PublicKey(subjectPublicKeyInfo: info.prefix(length)) }
            }
        }
    }

    @Test func formats_withAByteChanged_areRefusedOrAnotherKey() throws {
        for key in try keyOfEachKind() where key.kind != .rsa {
            let pkcs8 = try key.pkcs8().data
            for index in pkcs8.indices {
                var changed = pkcs8
                changed[index] ^= 0x55
                // Nothing to expect but an end without a trap, and no key that says it is the same.
                if let read = try? PrivateKey(der: SecretBytes(changed)) { #expect(read != key) }
            }
        }
    }

    @Test func nesting_tenThousandDeep_isRefused() {
        for tag in [DERTag.sequence, DERTag.context(0), DERTag.octetString] {
            var bytes: [UInt8] = []
            for _ in 0..<10_000 { bytes = DERNode.header(tag, bytes.count) + bytes }
            #expect(throws: KeyFailure.self) { try PrivateKey(der: SecretBytes(Data(bytes))) }
            #expect(throws: KeyFailure.self) { try PrivateKey(pkcs8: SecretBytes(Data(bytes))) }
            #expect(throws: KeyFailure.self) { try PublicKey(subjectPublicKeyInfo: Data(bytes)) }
        }
    }

    @Test(arguments: [
        "30", "3080", "308000", "3081", "308105", "30820001", "30847fffffff", "3084ffffffff", "3088ffffffffffffffff",
        "30ff", "3f8101", "0000", "30050201", "3003020100", "300302017f", "30060204ffffffff", "300702050100000000",
    ])
    func lengths_thatLie_areRefused(hex: String) {
        #expect(throws: KeyFailure.self) { try PrivateKey(der: SecretBytes(Data(hex: hex))) }
        #expect(throws: KeyFailure.self) { try PublicKey(subjectPublicKeyInfo: Data(hex: hex)) }
        #expect(throws: KeyFailure.self) { try PublicKey(.rsa, externalRepresentation: Data(hex: hex)) }
    }
}
