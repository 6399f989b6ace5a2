// SPDX-License-Identifier: Apache-2.0
// Signatures, encryption and agreement in both directions with the openssl program.

import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

@Suite(.enabled(if: OpenSSL.path != nil, OpenSSL.isMissing))
struct OpenSSLAlgorithmTests {
    private let message = Data("a message".utf8)

    @Test(arguments: [KnownKey.p256, KnownKey.p384, KnownKey.p521])
    func ecdsa_inBothDirections_verifies(bytes: Data) throws {
        let openssl = try OpenSSL()
        let key = try KnownKey.privateKey(bytes)
        try openssl.write(key.pem(), "key.pem")
        try openssl.write(Data(key.publicKey.pem.utf8), "public.pem")
        try openssl.write(message, "message")
        for hash in KeyHash.allCases {
            let algorithm = KeyAlgorithm.ecdsaSignature(.message(hash), .der)
            try openssl.write(key.loaded().sign(message, algorithm), "ours")
            try openssl("dgst -sha\(hash.rawValue) -verify public.pem -signature ours message")
            try openssl("dgst -sha\(hash.rawValue) -sign key.pem -out theirs message")
            #expect(try key.publicKey.isValidSignature(openssl.read("theirs"), for: message, algorithm))
        }
    }

    @Test func ecdsaRaw_withItsNumbersAsDER_verifies() throws {
        let openssl = try OpenSSL()
        let key = try KnownKey.privateKey(KnownKey.p384)
        let signature = try key.loaded().sign(message, .ecdsaSignature(.message(.sha384), .raw))
        #expect(signature.count == 96)
        func number(_ bytes: Data) -> DERNode { .unsigned([UInt8](bytes.drop { $0 == 0 })) }
        let encoded = DERNode.sequence(number(signature.prefix(48)), number(signature.suffix(48))).encoded
        try openssl.write(Data(key.publicKey.pem.utf8), "public.pem")
        try openssl.write(message, "message")
        try openssl.write(Data(encoded), "ours")
        try openssl("dgst -sha384 -verify public.pem -signature ours message")
    }

    @Test func rsaSignatures_inBothDirections_verify() throws {
        let openssl = try OpenSSL()
        let key = try #require(KnownKey.rsa2048)
        try openssl.write(key.pem(), "key.pem")
        try openssl.write(Data(key.publicKey.pem.utf8), "public.pem")
        for hash in [KeyHash.sha1, .sha256, .sha384, .sha512] {
            try openssl.write(Data(hash.digest(message)), "digest")
            for (algorithm, padding) in [
                (KeyAlgorithm.rsaSignaturePKCS1(.message(hash)), "pkcs1"),
                (.rsaSignaturePSS(.message(hash)), "pss -pkeyopt rsa_pss_saltlen:digest"),
            ] {
                let options = "-in digest -pkeyopt digest:sha\(hash.rawValue) -pkeyopt rsa_padding_mode:\(padding)"
                try openssl.write(key.loaded().sign(message, algorithm), "ours")
                try openssl("pkeyutl -verify -pubin -inkey public.pem -sigfile ours \(options)")
                try openssl("pkeyutl -sign -inkey key.pem -out theirs \(options)")
                #expect(try key.publicKey.isValidSignature(openssl.read("theirs"), for: message, algorithm))
            }
        }
    }

    @Test func eddsa_inBothDirections_verifies() throws {
        let openssl = try OpenSSL()
        let key = try PrivateKey.generate(.ed25519)
        try openssl.write(key.pem(), "key.pem")
        try openssl.write(Data(key.publicKey.pem.utf8), "public.pem")
        try openssl.write(message, "message")
        try openssl.write(key.loaded().sign(message, .eddsaSignature), "ours")
        try openssl("pkeyutl -verify -pubin -inkey public.pem -rawin -in message -sigfile ours")
        try openssl("pkeyutl -sign -inkey key.pem -rawin -in message -out theirs")
        #expect(try key.publicKey.isValidSignature(openssl.read("theirs"), for: message, .eddsaSignature))
    }

    @Test(arguments: [
        (KeyAlgorithm.rsaEncryptionPKCS1, "pkcs1"),
        (.rsaEncryptionOAEP(.sha1), "oaep -pkeyopt rsa_oaep_md:sha1 -pkeyopt rsa_mgf1_md:sha1"),
        (.rsaEncryptionOAEP(.sha256), "oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha256"),
    ])
    func rsaEncryption_inBothDirections_decrypts(algorithm: KeyAlgorithm, padding: String) throws {
        let openssl = try OpenSSL()
        let key = try #require(KnownKey.rsa2048)
        try openssl.write(key.pem(), "key.pem")
        try openssl.write(Data(key.publicKey.pem.utf8), "public.pem")
        try openssl.write(message, "message")
        try openssl(
            "pkeyutl -encrypt -pubin -inkey public.pem -in message -out theirs -pkeyopt rsa_padding_mode:\(padding)")
        #expect(try key.decrypt(openssl.read("theirs"), algorithm).data == message)
        try openssl.write(key.publicKey.encrypt(message, algorithm), "ours")
        try openssl("pkeyutl -decrypt -inkey key.pem -in ours -out opened -pkeyopt rsa_padding_mode:\(padding)")
        #expect(try openssl.read("opened") == message)
    }

    @Test(arguments: [KeyKind.p256, .p384, .p521, .x25519])
    func exchange_withAKeyOfOpenSSL_givesItsSecret(kind: KeyKind) throws {
        let openssl = try OpenSSL()
        let (key, peer) = (try PrivateKey.generate(kind), try PrivateKey.generate(kind))
        try openssl.write(key.pem(), "key.pem")
        try openssl.write(Data(peer.publicKey.pem.utf8), "peer.pem")
        try openssl("pkeyutl -derive -inkey key.pem -peerkey peer.pem -out secret")
        #expect(try peer.exchange(with: key.publicKey, .keyExchange(.standard)).data == openssl.read("secret"))
    }
}
