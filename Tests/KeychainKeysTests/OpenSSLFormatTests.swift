// SPDX-License-Identifier: Apache-2.0
// Key formats in both directions with the openssl program.

import Crypto
import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

@Suite(.enabled(if: OpenSSL.path != nil, OpenSSL.isMissing))
struct OpenSSLFormatTests {
    private static let generation: [(KeyKind, String)] = [
        (.p256, "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"),
        (.p384, "-algorithm EC -pkeyopt ec_paramgen_curve:P-384"),
        (.p521, "-algorithm EC -pkeyopt ec_paramgen_curve:P-521"), (.ed25519, "-algorithm ED25519"),
        (.x25519, "-algorithm X25519"), (.rsa, "-algorithm RSA -pkeyopt rsa_keygen_bits:1024"),
    ]

    @Test(arguments: generation)
    func keys_ofOpenSSL_areRead(kind: KeyKind, options: String) throws {
        let openssl = try OpenSSL()
        try openssl("genpkey \(options) -out key.pem")
        try openssl("pkcs8 -topk8 -nocrypt -in key.pem -outform DER -out key.der")
        try openssl("pkey -in key.pem -pubout -outform DER -out public.der")
        try openssl("pkey -in key.pem -pubout -out public.pem")
        let key = try PrivateKey(pem: openssl.secret("key.pem"))
        #expect(key.kind == kind)
        #expect(try key.pkcs8().data == openssl.read("key.der"))
        #expect(try key.publicKey.subjectPublicKeyInfo == openssl.read("public.der"))
        #expect(try Data(key.publicKey.pem.utf8) == openssl.read("public.pem"))
    }

    @Test func keys_ofOurs_areReadByOpenSSL() throws {
        for (kind, _) in Self.generation {
            let openssl = try OpenSSL()
            let key = kind == .rsa ? try #require(KnownKey.rsa2048) : try PrivateKey.generate(kind)
            try openssl.write(key.pem(), "key.pem")
            try openssl("pkey -in key.pem -pubout -outform DER -out public.der")
            #expect(try openssl.read("public.der") == key.publicKey.subjectPublicKeyInfo)
            try openssl.write(Data("correct horse".utf8), "passphrase")
            try openssl.write(key.pem(passphrase: SecretBytes("correct horse"), rounds: 2048), "encrypted.pem")
            try openssl("pkey -in encrypted.pem -passin file:passphrase -pubout -outform DER -out public.der")
            #expect(try openssl.read("public.der") == key.publicKey.subjectPublicKeyInfo)
        }
    }

    @Test(arguments: ["prime256v1", "secp384r1", "secp521r1"])
    func sec1_inBothDirections_isTheSameKey(curve: String) throws {
        let openssl = try OpenSSL()
        try openssl("ecparam -name \(curve) -genkey -out key.pem")
        try openssl("ec -in key.pem -outform DER -out key.der")
        try openssl("ec -in key.pem -no_public -outform DER -out alone.der")
        let key = try PrivateKey(sec1: openssl.secret("key.der"))
        #expect(try key.sec1().data == openssl.read("key.der"))
        #expect(try PrivateKey(sec1: openssl.secret("alone.der")) == key)
        // With the parameters of the curve in a block in front.
        #expect(try PrivateKey(pem: openssl.secret("key.pem")) == key)
    }

    @Test(arguments: ["P-256", "P-384", "P-521"], ["compressed", "hybrid"])
    func key_whosePointHasAnotherForm_isTheSameKey(curve: String, form: String) throws {
        let openssl = try OpenSSL()
        try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:\(curve) -out key.pem")
        try openssl("ec -in key.pem -conv_form \(form) -out other.pem")
        try openssl("pkcs8 -topk8 -nocrypt -in other.pem -outform DER -out other.der")
        let (key, pkcs8) = (try PrivateKey(pem: openssl.secret("key.pem")), try openssl.secret("other.der"))
        // Otherwise nothing is tried.
        #expect(try pkcs8.data != key.pkcs8().data)
        #expect(try PrivateKey(pem: openssl.secret("other.pem")) == key)
        #expect(try PrivateKey(pkcs8: pkcs8) == key)
    }

    /// As Apple's, the hash of a certificate's key is that of the bytes in the certificate.
    @Test func certificate_whosePointIsCompressed_hasTheHashOfItsBytesAndNotThatOfTheKey() throws {
        let openssl = try OpenSSL()
        try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem")
        try openssl("ec -in key.pem -conv_form compressed -out other.pem")
        try openssl("req -x509 -key other.pem -subj /CN=x -days 2 -outform DER -out certificate.der")
        let certificate = try Certificate(der: openssl.read("certificate.der"))
        let point = try PrivateKey(pem: openssl.secret("key.pem")).publicKey.externalRepresentation
        let compressed = Data([2 + point[point.endIndex - 1] % 2]) + point.dropFirst().prefix(32)
        #expect(certificate.publicKeyHash == Data(Insecure.SHA1.hash(data: compressed)))
        #expect(certificate.publicKeyHash != Data(Insecure.SHA1.hash(data: point)))
    }

    @Test(arguments: ["prime256v1", "secp384r1"])
    func sec1_withExplicitParameters_isUnsupported(curve: String) throws {
        let openssl = try OpenSSL()
        try openssl("ecparam -name \(curve) -genkey -param_enc explicit -noout -out key.pem")
        #expect(throws: KeyFailure.unsupportedAlgorithm("unnamed curve")) {
            try PrivateKey(pem: openssl.secret("key.pem"))
        }
    }

    @Test(arguments: ["secp224r1", "secp256k1", "brainpoolP256r1"])
    func key_ofAnotherCurve_isUnsupported(curve: String) throws {
        let openssl = try OpenSSL()
        try openssl("ecparam -name \(curve) -genkey -noout -out key.pem")
        try openssl("pkey -in key.pem -pubout -outform DER -out public.der")
        let failure = try #require(throws: KeyFailure.self) { try PrivateKey(pem: openssl.secret("key.pem")) }
        guard case .unsupportedAlgorithm = failure else { throw failure }
        #expect(throws: failure) { try PublicKey(subjectPublicKeyInfo: openssl.read("public.der")) }
    }

    @Test func pkcs1_inBothDirections_isTheSameKey() throws {
        let openssl = try OpenSSL()
        try openssl("genrsa -traditional -out key.pem 2048")
        try openssl("rsa -in key.pem -traditional -outform DER -out key.der")
        try openssl("rsa -in key.pem -RSAPublicKey_out -outform DER -out public.der")
        try openssl("rsa -in key.pem -pubout -outform DER -out info.der")
        let key = try PrivateKey(pem: openssl.secret("key.pem"))
        #expect(try key.externalRepresentation.data == openssl.read("key.der"))
        #expect(try key.publicKey.externalRepresentation == openssl.read("public.der"))
        #expect(try PublicKey.importing(openssl.read("info.der"), typeNumber: 42) == key.publicKey)
        let ours = try #require(KnownKey.rsa2048)
        try openssl.write(ours.externalRepresentation, "ours.der")
        try openssl("rsa -inform DER -in ours.der -RSAPublicKey_out -outform DER -out public.der")
        #expect(try openssl.read("public.der") == ours.publicKey.externalRepresentation)
    }

    @Test(arguments: [
        "-v2 aes-256-cbc", "-v2 aes-128-cbc", "-v2 aes-192-cbc -v2prf hmacWithSHA512", "-v2prf hmacWithSHA1",
        "-v2prf hmacWithSHA224", "-v2prf hmacWithSHA384 -iter 5000",
    ])
    func encryptedPKCS8_ofOpenSSL_opens(options: String) throws {
        let openssl = try OpenSSL()
        try openssl.write(Data("correct horse".utf8), "passphrase")
        try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem")
        try openssl("pkcs8 -topk8 -in key.pem -passout file:passphrase \(options) -out encrypted.pem")
        let key = try PrivateKey(pem: openssl.secret("key.pem"))
        #expect(try PrivateKey(pem: openssl.secret("encrypted.pem"), passphrase: SecretBytes("correct horse")) == key)
    }

    @Test func encryptedPKCS8_withScrypt_isUnsupported() throws {
        let openssl = try OpenSSL()
        try openssl.write(Data("correct horse".utf8), "passphrase")
        try openssl("genpkey -algorithm ED25519 -out key.pem")
        try openssl("pkcs8 -topk8 -in key.pem -passout file:passphrase -scrypt -out encrypted.pem")
        #expect(throws: KeyFailure.unsupportedAlgorithm("1.3.6.1.4.1.11591.4.11")) {
            try PrivateKey(pem: openssl.secret("encrypted.pem"), passphrase: SecretBytes("correct horse"))
        }
    }

    @Test func applicationLabel_ofAKey_isTheKeyIdentifierOfItsCertificate() throws {
        for kind in [KeyKind.p256, .rsa] {
            let openssl = try OpenSSL()
            let key = kind == .rsa ? try #require(KnownKey.rsa2048) : try PrivateKey.generate(kind)
            try openssl.write(key.pem(), "key.pem")
            try openssl("req -x509 -key key.pem -subj /CN=x -days 2 -out certificate.pem")
            let text = try openssl("x509 -in certificate.pem -noout -ext subjectKeyIdentifier")
            let digits = String(decoding: text, as: UTF8.self).split(separator: "\n").last ?? ""
            #expect(Data(hex: String(digits)) == key.publicKey.applicationLabel)
        }
    }
}
