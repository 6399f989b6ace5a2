// SPDX-License-Identifier: Apache-2.0
// Signatures: lengths, formats, and the differences between messages and digests.

import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

struct SignatureTests {
    private let message = Data("a message".utf8)

    @Test(arguments: [(KnownKey.p256, 64, 72), (KnownKey.p384, 96, 104), (KnownKey.p521, 132, 139)])
    func sign_ecdsa_hasTheLengthOfItsFormat(bytes: Data, raw: Int, longest: Int) throws {
        let key = try KnownKey.privateKey(bytes).loaded()
        #expect(try key.sign(message, .ecdsaSignature(.message(.sha384), .raw)).count == raw)
        #expect(try key.sign(message, .ecdsaSignature(.message(.sha384), .der)).count <= longest)
    }

    @Test(arguments: [0, 1, 20, 32, 50, 64, 100])
    func sign_digestOfAnyLength_verifies(length: Int) throws {
        for bytes in [KnownKey.p256, KnownKey.p384, KnownKey.p521] {
            let key = try KnownKey.privateKey(bytes)
            let digest = Data(repeating: 0xA5, count: length)
            for algorithm in [KeyAlgorithm.ecdsaSignatureOfAnyDigest(.der), .ecdsaSignatureRFC4754] {
                let signature = try key.loaded().sign(digest, algorithm)
                #expect(try key.publicKey.isValidSignature(signature, for: digest, algorithm))
            }
        }
    }

    @Test func verify_signatureOfADigest_isThatOfTheMessage() throws {
        let key = try KnownKey.privateKey(KnownKey.p256)
        let digest = Data(KeyHash.sha256.digest(message))
        let signature = try key.loaded().sign(digest, .ecdsaSignature(.digest(.sha256), .raw))
        for (data, algorithm) in [
            (message, KeyAlgorithm.ecdsaSignature(.message(.sha256), .raw)),
            (digest, .ecdsaSignature(.digest(.sha256), .raw)), (digest, .ecdsaSignatureOfAnyDigest(.raw)),
            (digest, .ecdsaSignatureRFC4754),
        ] {
            #expect(try key.publicKey.isValidSignature(signature, for: data, algorithm))
        }
        #expect(try !key.publicKey.isValidSignature(signature, for: digest, .ecdsaSignature(.digest(.sha256), .der)))
    }

    @Test func sign_rsaPKCS1_isTheSameForMessageAndDigest() throws {
        let key = try #require(KnownKey.rsa2048).loaded()
        for hash in [KeyHash.sha1, .sha256, .sha384, .sha512] {
            let digest = Data(hash.digest(message))
            #expect(
                try key.sign(message, .rsaSignaturePKCS1(.message(hash)))
                    == key.sign(digest, .rsaSignaturePKCS1(.digest(hash))))
        }
    }

    @Test(arguments: KeyHash.allCases)
    func digest_ofAnotherLength_isRefusedForSigningAndVerifying(hash: KeyHash) throws {
        let (curve, rsa) = (try KnownKey.privateKey(KnownKey.p256), try #require(KnownKey.rsa2048))
        for length in [0, hash.byteCount - 1, hash.byteCount + 1, 64 + hash.byteCount] {
            let digest = Data(count: length)
            for (key, algorithm) in [
                (curve, KeyAlgorithm.ecdsaSignature(.digest(hash), .der)),
                (curve, .ecdsaSignature(.digest(hash), .raw)),
                (rsa, .rsaSignaturePKCS1(.digest(hash))), (rsa, .rsaSignaturePSS(.digest(hash))),
            ] where key.supports(algorithm, for: .sign) {
                #expect(throws: KeyFailure.invalidLength) { try key.loaded().sign(digest, algorithm) }
                #expect(throws: KeyFailure.invalidLength) {
                    try key.publicKey.isValidSignature(Data(count: key.publicKey.blockSize), for: digest, algorithm)
                }
            }
        }
    }

    @Test func sign_pssTooLargeForTheKey_isUnsupported_andVerifyIsNot() throws {
        let (key, algorithm) = (try #require(KnownKey.rsa1024), KeyAlgorithm.rsaSignaturePSS(.message(.sha512)))
        #expect(!key.supports(algorithm, for: .sign) && key.publicKey.supports(algorithm, for: .verify))
        #expect(throws: KeyFailure.algorithmNotSupported) { try key.loaded().sign(message, algorithm) }
        #expect(try !key.publicKey.isValidSignature(Data(count: 128), for: message, algorithm))
    }

    @Test func slices_ofData_areSignedAsTheirBytes() throws {
        let key = try KnownKey.privateKey(KnownKey.p256)
        let slice = (Data([1, 2, 3]) + message).dropFirst(3)
        let signature = (Data([9]) + (try key.loaded().sign(slice, .ecdsaSignature(.message(.sha256), .der))))
            .dropFirst()
        #expect(try key.publicKey.isValidSignature(signature, for: message, .ecdsaSignature(.message(.sha256), .der)))
    }
}
