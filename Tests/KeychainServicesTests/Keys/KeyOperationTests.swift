// SPDX-License-Identifier: Apache-2.0
// Signing, encrypting and agreeing with key objects: known values, limits and errors.

import Foundation
import KeychainServices
import Testing

@Suite("Keys: operations")
struct KeyOperationTests {
    private let message = Data("a message".utf8)
    private let digest = Data(hex: "f53c09ca39717a45c62d9aca8f8113eddbfd5f81dcab0b33b1c1834075225e68")

    private func sign(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) -> Attempt<Data> {
        attempt { SecKeyCreateSignature(key, algorithm, data as CFData, $0) as Data? }
    }

    private func verify(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data, _ signature: Data) -> OSStatus {
        attempt { SecKeyVerifySignature(key, algorithm, data as CFData, signature as CFData, $0) ? true : nil }.status
    }

    private func encrypt(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) -> Attempt<Data> {
        attempt { SecKeyCreateEncryptedData(key, algorithm, data as CFData, $0) as Data? }
    }

    private func decrypt(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) -> Attempt<Data> {
        attempt { SecKeyCreateDecryptedData(key, algorithm, data as CFData, $0) as Data? }
    }

    // MARK: Signatures

    @Test("K28", arguments: [1, 20, 32, 50, 100])
    func digest_ofAnyLength_isSignedAndVerified(length: Int) throws {
        let data = Data(repeating: 7, count: length)
        for algorithm in [SecKeyAlgorithm.ecdsaSignatureDigestX962, .ecdsaSignatureDigestRFC4754] {
            let signature = try #require(sign(TestKey.p256.privateKey(), algorithm, data).value)
            #expect(try verify(TestKey.p256.publicKey(), algorithm, data, signature) == errSecSuccess)
        }
    }

    @Test("K29") func signature_ofADigest_isThatOfItsMessage() throws {
        let (own, peer) = (try TestKey.p256.privateKey(), try TestKey.p256.publicKey())
        let signature = try #require(sign(own, .ecdsaSignatureDigestRFC4754, digest).value)
        #expect(signature.count == 64)
        #expect(verify(peer, .ecdsaSignatureMessageRFC4754SHA256, message, signature) == errSecSuccess)
        #expect(verify(peer, .ecdsaSignatureDigestRFC4754SHA256, digest, signature) == errSecSuccess)
        #expect(verify(peer, .ecdsaSignatureRFC4754, digest, signature) == errSecSuccess)
    }

    @Test("K26", arguments: [(TestKey.p256, 64), (.p384, 96), (.p521, 132)])
    func rawSignature_ofACurve_hasTwoFullNumbers(key: TestKey, length: Int) throws {
        let signature = try #require(sign(key.privateKey(), .ecdsaSignatureMessageRFC4754SHA384, message).value)
        #expect(signature.count == length)
        let (peer, algorithm) = (try key.publicKey(), SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA384)
        #expect(verify(peer, algorithm, message, signature) == errSecSuccess)
        for wrong in [Data(), signature.dropLast(), signature + [0], Data(signature.reversed())] {
            #expect(verify(peer, algorithm, message, wrong) == errSecVerifyFailed)
        }
    }

    @Test("K31", arguments: [0, 63, 65])
    func rawSignature_ofAnotherLength_doesNotMatch(length: Int) throws {
        let signature = Data(repeating: 1, count: length)
        let status = try verify(
            TestKey.p256.publicKey(), .ecdsaSignatureMessageRFC4754SHA256, message, signature)
        #expect(status == errSecVerifyFailed)
    }

    @Test("K32") func halves_usedTheWrongWayRound_areRefused() throws {
        let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        let signature = try #require(sign(TestKey.p256.privateKey(), algorithm, message).value)
        #expect(try sign(TestKey.p256.publicKey(), algorithm, message).status == errSecParam)
        #expect(try verify(TestKey.p256.privateKey(), algorithm, message, signature) == errSecParam)
    }

    @Test(arguments: [19, 21, 31, 33]) func digest_ofAnotherLength_isRefused(length: Int) throws {
        let data = Data(repeating: 7, count: length)
        for (key, algorithm) in [
            (TestKey.p256, SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256), (.p256, .ecdsaSignatureDigestX962SHA1),
            (.rsa1024, .rsaSignatureDigestPKCS1v15SHA256), (.rsa1024, .rsaSignatureDigestPSSSHA256),
        ] {
            #expect(try sign(key.privateKey(), algorithm, data).status == errSecParam)
            #expect(try verify(key.publicKey(), algorithm, data, Data([1])) == errSecParam)
        }
    }

    @Test("K34") func pss_thatIsTooLongForTheKey_canOnlyBeVerified() throws {
        let (own, peer) = (try TestKey.rsa1024.privateKey(), try TestKey.rsa1024.publicKey())
        #expect(!SecKeyIsAlgorithmSupported(own, .sign, .rsaSignatureMessagePSSSHA512))
        #expect(sign(own, .rsaSignatureMessagePSSSHA512, message).status == errSecParam)
        #expect(SecKeyIsAlgorithmSupported(peer, .verify, .rsaSignatureMessagePSSSHA512))
        #expect(verify(peer, .rsaSignatureMessagePSSSHA512, message, Data(count: 128)) == errSecVerifyFailed)
    }

    @Test("K38") func pkcs1Signature_ofADigest_hasTheBytesOfThatOfItsMessage() throws {
        let key = try TestKey.rsa2048.privateKey()
        let signature = try #require(sign(key, .rsaSignatureDigestPKCS1v15SHA256, digest).value)
        #expect(signature == sign(key, .rsaSignatureMessagePKCS1v15SHA256, message).value)
    }

    // MARK: RSA encryption

    @Test("K35") func oaep_withAHashThatNoKeySupports_isRefused() throws {
        let key = try TestKey.rsa1024.publicKey()
        #expect(!SecKeyIsAlgorithmSupported(key, .encrypt, .rsaEncryptionOAEPSHA512))
        #expect(encrypt(key, .rsaEncryptionOAEPSHA512, message).status == errSecParam)
    }

    @Test(arguments: [
        (SecKeyAlgorithm.rsaEncryptionPKCS1, 117), (.rsaEncryptionOAEPSHA1, 86), (.rsaEncryptionOAEPSHA256, 62),
    ])
    func plaintext_ofTheGreatestLength_isEncryptedAndNoLonger(algorithm: SecKeyAlgorithm, length: Int) throws {
        let (own, peer) = (try TestKey.rsa1024.privateKey(), try TestKey.rsa1024.publicKey())
        let data = Data(repeating: 9, count: length)
        #expect(try decrypt(own, algorithm, #require(encrypt(peer, algorithm, data).value)).value == data)
        #expect(encrypt(peer, algorithm, data + [9]).status == errSecParam)
        for wrong in [Data(), Data(count: 127), Data(count: 129), Data(repeating: 0xFF, count: 128)] {
            #expect(decrypt(own, algorithm, wrong).status == errSecParam)
        }
    }

    @Test("K40", arguments: [0, 10_000]) func hybridEncryption_ofAnyLength_addsABlockAndATag(length: Int) throws {
        let data = Data(repeating: 3, count: length)
        let sealed = try #require(encrypt(TestKey.rsa2048.publicKey(), .rsaEncryptionOAEPSHA1AESGCM, data).value)
        #expect(sealed.count == 256 + length + 16)
        #expect(try decrypt(TestKey.rsa2048.privateKey(), .rsaEncryptionOAEPSHA1AESGCM, sealed).value == data)
    }

    @Test("K41") func hybridCiphertext_thatWasChanged_isRefused() throws {
        let algorithm = SecKeyAlgorithm.rsaEncryptionOAEPSHA256AESGCM
        let own = try TestKey.rsa1024.privateKey()
        let sealed = try #require(encrypt(TestKey.rsa1024.publicKey(), algorithm, message).value)
        var changed = sealed
        changed[changed.count - 1] ^= 1
        for wrong in [Data(), sealed.prefix(128 + 15), sealed.dropLast(), changed] {
            #expect(decrypt(own, algorithm, wrong).status == errSecParam)
        }
        #expect(try decrypt(TestKey.rsa2048.privateKey(), algorithm, sealed).status == errSecParam)
    }

    // MARK: ECIES

    private static let zeroIV = Data(
        base64: """
            BP6qppGCXVthF5lQ1y13Td/mihc7eWzry6csv9gDHjZ8bH2S1iJb+NsBUR0ysy2UnN9ISmfj40WJXW5lPPDmOlkUPuO598Wr+BIKbnGwbJLY\
            3EreCMc=
            """)
    private static let derivedIV = Data(
        base64: """
            BP6qppGCXVthF5lQ1y13Td/mihc7eWzry6csv9gDHjZ8bH2S1iJb+NsBUR0ysy2UnN9ISmfj40WJXW5lPPDmOlnFdCvHKEGdgISszVZmD3+D\
            yF4gRSk=
            """)

    @Test("K43, K44") func ecies_ofAKnownCiphertext_givesThePlaintextUnderItsOwnNameOnly() throws {
        let key = try TestKey.p256.privateKey()
        let hello = Data("hello".utf8)
        #expect(decrypt(key, .eciesEncryptionStandardX963SHA256AESGCM, Self.zeroIV).value == hello)
        #expect(decrypt(key, .eciesEncryptionCofactorX963SHA256AESGCM, Self.zeroIV).value == hello)
        #expect(decrypt(key, .eciesEncryptionStandardVariableIVX963SHA256AESGCM, Self.derivedIV).value == hello)
        #expect(decrypt(key, .eciesEncryptionCofactorVariableIVX963SHA256AESGCM, Self.derivedIV).value == hello)
        for (algorithm, sealed) in [
            (SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA256AESGCM, Self.zeroIV),
            (.eciesEncryptionStandardX963SHA256AESGCM, Self.derivedIV),
            (.eciesEncryptionStandardX963SHA1AESGCM, Self.zeroIV),
        ] {
            #expect(decrypt(key, algorithm, sealed).status == errSecParam)
        }
    }

    @Test("K46", arguments: [(TestKey.p256, 81), (.p384, 113), (.p521, 149)])
    func ecies_ofNothing_hasItsOverheadAndOpensToNothing(key: TestKey, length: Int) throws {
        let algorithm = SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM
        let sealed = try #require(encrypt(key.publicKey(), algorithm, Data()).value)
        #expect(sealed.count == length)
        #expect(try decrypt(key.privateKey(), algorithm, sealed).value == Data())
        for count in [0, 1, length - 17, length - 1] {
            #expect(try decrypt(key.privateKey(), algorithm, sealed.prefix(count)).status == errSecParam)
        }
    }

    // MARK: Key exchange

    private func agree(
        _ own: SecKey, _ peer: SecKey, _ algorithm: SecKeyAlgorithm, _ parameters: Entries = [:]
    ) -> Attempt<Data> {
        attempt { SecKeyCopyKeyExchangeResult(own, algorithm, peer, parameters as CFDictionary, $0) as Data? }
    }

    private static let peer = Data(
        base64: "BP6qppGCXVthF5lQ1y13Td/mihc7eWzry6csv9gDHjZ8bH2S1iJb+NsBUR0ysy2UnN9ISmfj40WJXW5lPPDmOlk=")

    static let known: [(SecKeyAlgorithm, Int?, String?, String)] = [
        (.ecdhKeyExchangeStandard, nil, nil, "5a5bbad5d9b1072d86b96455ca71e4a5f5cda6649691b635ee8d16f3c9b017e1"),
        (.ecdhKeyExchangeCofactor, nil, nil, "5a5bbad5d9b1072d86b96455ca71e4a5f5cda6649691b635ee8d16f3c9b017e1"),
        (.ecdhKeyExchangeStandardX963SHA256, 16, nil, "c75ae33008f6f7b65b6f853216a60a8c"),
        (
            .ecdhKeyExchangeCofactorX963SHA256, 40, "abc",
            "7c7276535c4854acf9143708ffe8f3ea65a8f2bd6143e4bf7283a49e5db2419f9b2db99b5fb2411c"
        ),
    ]

    @Test("K49", arguments: known)
    func exchange_withAKnownKey_givesTheKnownSecret(
        algorithm: SecKeyAlgorithm, size: Int?, info: String?, expected: String
    ) throws {
        let peer = try #require(importedKey(Self.peer, "73", "0").value)
        var parameters = Entries()
        parameters[SecKeyKeyExchangeParameter.requestedSize.rawValue as String] = size
        parameters[SecKeyKeyExchangeParameter.sharedInfo.rawValue as String] = info.map { Data($0.utf8) }
        #expect(try agree(TestKey.p256.privateKey(), peer, algorithm, parameters).value == Data(hex: expected))
    }

    @Test("K50") func exchange_ofBothSides_givesOneSecret() throws {
        let other = try #require(
            attempt { SecKeyCreateRandomKey(["type": "73", "bsiz": 521] as CFDictionary, $0) }.value)
        let (algorithm, size) = (SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA512, ["requestedSize": 273])
        let first = try agree(TestKey.p521.privateKey(), #require(SecKeyCopyPublicKey(other)), algorithm, size).value
        #expect(try first == agree(other, TestKey.p521.publicKey(), algorithm, size).value)
        #expect(first?.count == 273)
    }

    @Test("K52, K53") func exchange_withAKeyThatDoesNotFit_isRefused() throws {
        let own = try TestKey.p256.privateKey()
        let rows: [(SecKey, SecKey, OSStatus)] = [
            (own, try TestKey.p384.publicKey(), errSecDecode), (own, try TestKey.rsa1024.publicKey(), errSecParam),
            (own, try TestKey.x25519.publicKey(), errSecParam), (own, own, errSecParam),
            (try TestKey.p256.publicKey(), try TestKey.p256.publicKey(), errSecParam),
            (try TestKey.rsa1024.privateKey(), try TestKey.rsa1024.publicKey(), errSecParam),
            (try TestKey.ed25519.privateKey(), try TestKey.ed25519.publicKey(), errSecParam),
        ]
        for (own, peer, status) in rows {
            #expect(agree(own, peer, .ecdhKeyExchangeStandard).status == status, "\(own) \(peer)")
        }
    }

    static let parameters: [Row<OSStatus>] = [
        Row("none", [:], errSecParam), Row("size as text", ["requestedSize": "16"], errSecParam),
        Row("truth value", ["requestedSize": true], errSecParam), Row("negative", ["requestedSize": -1], errSecParam),
        Row("fraction", ["requestedSize": 1.5], errSecParam),
        Row("too large", ["requestedSize": Int.max], errSecParam),
        Row("info as text", ["requestedSize": 16, "sharedInfo": "abc"], errSecParam),
        Row("size alone", ["requestedSize": 16], errSecSuccess),
        Row("both", ["requestedSize": 16, "sharedInfo": Data([1])], errSecSuccess),
    ]

    @Test(arguments: parameters)
    func exchange_withADerivation_needsItsParameters(row: Row<OSStatus>) throws {
        let (own, peer) = (try TestKey.p256.privateKey(), try TestKey.p256.publicKey())
        #expect(agree(own, peer, .ecdhKeyExchangeStandardX963SHA256, row.entries).status == row.expected)
        #expect(agree(own, peer, .ecdhKeyExchangeStandard, row.entries).status == errSecSuccess)
    }

    @Test func exchange_whoseParametersHaveTypedKeys_isTheSame() throws {
        let (own, peer) = (try TestKey.p256.privateKey(), try TestKey.p256.publicKey())
        let typed: [SecKeyKeyExchangeParameter: Any] = [.requestedSize: 16, .sharedInfo: Data([1])]
        let algorithm = SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256
        let secret = attempt { SecKeyCopyKeyExchangeResult(own, algorithm, peer, typed as CFDictionary, $0) as Data? }
        let expected = agree(own, peer, algorithm, ["requestedSize": 16, "sharedInfo": Data([1])]).value
        #expect(expected?.count == 16 && secret.value == expected)
    }

    // MARK: Several threads

    @Test func key_usedByManyThreads_signsForAll() async throws {
        let (own, peer) = (try TestKey.p256.privateKey(), try TestKey.p256.publicKey())
        let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let data = Data([UInt8(index)]) as CFData
                    guard let signature = SecKeyCreateSignature(own, algorithm, data, nil) else { return false }
                    return SecKeyVerifySignature(peer, algorithm, data, signature, nil)
                }
            }
            for await isValid in group { #expect(isValid) }
        }
    }
}
