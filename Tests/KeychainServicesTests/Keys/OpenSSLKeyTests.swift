// SPDX-License-Identifier: Apache-2.0
// Key objects and the openssl program, in both directions.

import Foundation
import KeychainServices
import Testing

@Suite("Keys: openssl", .enabled(if: OpenSSLProgram.path != nil, OpenSSLProgram.isMissing))
struct OpenSSLKeyTests {
    private let message = Data("a message".utf8)

    /// Writes a private key so that the program reads it: as it is exported for RSA, with the program's help for a curve.
    private func write(_ key: TestKey, _ openssl: OpenSSLProgram) throws {
        if key.isRSA {
            try openssl.write(key.bytes, "key.der")
            try openssl("rsa -inform DER -in key.der -out key.pem")
            try openssl("rsa -inform DER -in key.der -pubout -out public.pem")
        } else {
            try openssl.write(Data(hex: Self.privatePrefix) + key.bytes.suffix(32) + Data(hex: Self.curve), "key.der")
            try openssl("ec -inform DER -in key.der -out key.pem")
            try openssl("ec -inform DER -in key.der -pubout -out public.pem")
        }
    }

    /// An ECPrivateKey of P-256 (RFC 5915) before and after its number.
    private static let privatePrefix = "30310201010420"
    private static let curve = "A00A06082A8648CE3D030107"

    @Test("K02") func generatedRSAKey_exported_isPKCS1() throws {
        let parameters = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048] as CFDictionary
        let key = try #require(attempt { SecKeyCreateRandomKey(parameters, $0) }.value)
        #expect(SecKeyGetBlockSize(key) == 256)
        let openssl = try OpenSSLProgram()
        try openssl.write(exported(key), "private.der")
        try openssl.write(exported(#require(SecKeyCopyPublicKey(key))), "public.der")
        try openssl("rsa -inform DER -in private.der -check -noout")
        let text = String(
            decoding: try openssl("rsa -RSAPublicKey_in -inform DER -in public.der -noout -text"), as: UTF8.self)
        #expect(text.contains("2048 bit") && text.contains("65537"))
    }

    @Test("K17") func rsaPublicKey_ofTheProgram_isReadInBothFormats() throws {
        let openssl = try OpenSSLProgram()
        try write(.rsa2048, openssl)
        try openssl("rsa -in key.pem -pubout -outform DER -out spki.der")
        try openssl("rsa -in key.pem -RSAPublicKey_out -outform DER -out pkcs1.der")
        let (spki, pkcs1) = (try openssl.read("spki.der"), try openssl.read("pkcs1.der"))
        let key = try #require(importedKey(spki, "42", "0").value)
        #expect(try exported(key) == pkcs1)
        #expect(key == importedKey(pkcs1, "42", "0").value)
        try openssl("pkcs8 -topk8 -nocrypt -in key.pem -outform DER -out pkcs8.der")
        #expect(try importedKey(openssl.read("pkcs8.der"), "42", "1").status == errSecParam)
    }

    @Test("K23", arguments: [TestKey.p256, .rsa2048])
    func applicationLabel_ofAKey_isTheIdentifierInItsCertificate(key: TestKey) throws {
        let openssl = try OpenSSLProgram()
        try write(key, openssl)
        try openssl("req -x509 -new -key key.pem -subj /CN=x -out certificate.pem")
        let text = try openssl("x509 -in certificate.pem -noout -ext subjectKeyIdentifier")
        let hex = String(decoding: text, as: UTF8.self).split(separator: "\n").last ?? ""
        let attributes = try #require(SecKeyCopyAttributes(key.privateKey()))
        #expect(attributes[kSecAttrApplicationLabel] as? Data == Data(hex: String(hex)))
    }

    @Test(
        "K25",
        arguments: [
            (TestKey.p256, SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256),
            (.rsa2048, .rsaSignatureMessagePKCS1v15SHA256),
        ])
    func signature_inBothDirections_verifies(key: TestKey, algorithm: SecKeyAlgorithm) throws {
        let openssl = try OpenSSLProgram()
        try write(key, openssl)
        try openssl.write(message, "message")
        let ours = try #require(SecKeyCreateSignature(key.privateKey(), algorithm, message as CFData, nil))
        try openssl.write(ours as Data, "ours")
        try openssl("dgst -sha256 -verify public.pem -signature ours message")
        try openssl("dgst -sha256 -sign key.pem -out theirs message")
        let theirs = try openssl.read("theirs") as CFData
        #expect(SecKeyVerifySignature(try key.publicKey(), algorithm, message as CFData, theirs, nil))
    }

    @Test(
        "K37",
        arguments: [
            (SecKeyAlgorithm.rsaEncryptionPKCS1, "pkcs1"),
            (.rsaEncryptionOAEPSHA256, "oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha256"),
        ])
    func ciphertext_inBothDirections_opens(algorithm: SecKeyAlgorithm, padding: String) throws {
        let openssl = try OpenSSLProgram()
        let options = "-pkeyopt rsa_padding_mode:\(padding)"
        try write(.rsa2048, openssl)
        try openssl.write(message, "message")
        try openssl("pkeyutl -encrypt -pubin -inkey public.pem -in message -out theirs \(options)")
        let theirs = try openssl.read("theirs") as CFData
        #expect(SecKeyCreateDecryptedData(try TestKey.rsa2048.privateKey(), algorithm, theirs, nil) as Data? == message)
        let ours = SecKeyCreateEncryptedData(try TestKey.rsa2048.publicKey(), algorithm, message as CFData, nil)
        try openssl.write(#require(ours as Data?), "ours")
        try openssl("pkeyutl -decrypt -inkey key.pem -in ours -out opened \(options)")
        #expect(try openssl.read("opened") == message)
    }
}
