// SPDX-License-Identifier: Apache-2.0
// Encryption and agreement: Apple's constructions by known values, and what is refused.

import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

struct EncryptionTests {
    // MARK: - Known values

    @Test(arguments: [
        (
            KnownKey.p256, KeyAlgorithm.ecies(.standard, .sha256, .zero),
            """
            BP6qppGCXVthF5lQ1y13Td/mihc7eWzry6csv9gDHjZ8bH2S1iJb+NsBUR0ysy2UnN9ISmfj40WJXW5lPPDmOlkUPuO598Wr+BIKbnGwbJLY\
            3EreCMc=
            """
        ),
        (
            KnownKey.p256, .ecies(.standard, .sha256, .derived),
            """
            BP6qppGCXVthF5lQ1y13Td/mihc7eWzry6csv9gDHjZ8bH2S1iJb+NsBUR0ysy2UnN9ISmfj40WJXW5lPPDmOlnFdCvHKEGdgISszVZmD3+D\
            yF4gRSk=
            """
        ),
        (
            KnownKey.p384, .ecies(.standard, .sha384, .derived),
            """
            BByvctHm/0eOo8b1vdJ1togOMGP/GKoMlPcI669fG+jqThbTQsJG5PGNA4hLyJZDMZiSSoXZzS8cPzqGJT0ZaXjJo9VgvvtBZdDHchmYQfAg\
            /HB3o8gfSpixx2eC/2IlrOSz/jkJmqWgw5taRZA12NtzReR0wA==
            """
        ),
        (
            KnownKey.p521, .ecies(.standard, .sha512, .derived),
            """
            BAFT39i29I0VoLbYlLDiQUot6IdQVi4k9iF5DtAN1wGEih4YehE2z3NrME11PF/w/GEV0GGrBAhEPNnbRLvQzN+/sgFgILHDxoesRQxDVrQA\
            7QqAss3r8QBe5D41UmZpoGVKdsEXILBLX15VhW9d25Dnkdk7ijqnVNBQY3Ogs2+QhoWyspvDyRfOhIl7BwYxX5YzT2k11uLBNw==
            """
        ),
    ])
    func decrypt_knownECIES_givesThePlaintext(bytes: Data, algorithm: KeyAlgorithm, ciphertext: String) throws {
        let key = try KnownKey.privateKey(bytes)
        #expect(try key.decrypt(Data(base64: ciphertext), algorithm).data == Data("hello".utf8))
        guard case .ecies(_, let hash, let iv) = algorithm else { return }
        #expect(try key.decrypt(Data(base64: ciphertext), .ecies(.cofactor, hash, iv)).data == Data("hello".utf8))
        let other: KeyAlgorithm.InitializationVector = iv == .zero ? .derived : .zero
        #expect(throws: KeyFailure.decryptionFailed) {
            try key.decrypt(Data(base64: ciphertext), .ecies(.standard, hash, other))
        }
    }

    private static let peer = Data(
        base64: "BP6qppGCXVthF5lQ1y13Td/mihc7eWzry6csv9gDHjZ8bH2S1iJb+NsBUR0ysy2UnN9ISmfj40WJXW5lPPDmOlk=")

    @Test(arguments: [
        (
            KeyAlgorithm.keyExchange(.standard), nil, "",
            "5a5bbad5d9b1072d86b96455ca71e4a5f5cda6649691b635ee8d16f3c9b017e1"
        ),
        (.keyExchange(.cofactor), 7, "abc", "5a5bbad5d9b1072d86b96455ca71e4a5f5cda6649691b635ee8d16f3c9b017e1"),
        (.keyExchangeX963(.standard, .sha256), 16, "", "c75ae33008f6f7b65b6f853216a60a8c"),
        (
            .keyExchangeX963(.cofactor, .sha256), 40, "abc",
            "7c7276535c4854acf9143708ffe8f3ea65a8f2bd6143e4bf7283a49e5db2419f9b2db99b5fb2411c"
        ),
        (.keyExchangeX963(.standard, .sha512), 0, "abc", ""),
    ])
    func exchange_known_givesTheSecret(algorithm: KeyAlgorithm, size: Int?, info: String, secret: String) throws {
        let (key, peer) = (
            try KnownKey.privateKey(KnownKey.p256), try PublicKey(.p256, externalRepresentation: Self.peer)
        )
        let result = try key.exchange(with: peer, algorithm, size: size, sharedInfo: Data(info.utf8))
        #expect(result.data.hex == secret)
    }

    // MARK: - Lengths

    @Test(arguments: [(KnownKey.p256, 81), (KnownKey.p384, 113), (KnownKey.p521, 149)])
    func encrypt_ecies_addsKeyAndTag(bytes: Data, overhead: Int) throws {
        let key = try KnownKey.privateKey(bytes)
        for length in [0, 1, 10_000] {
            let ciphertext = try key.publicKey.encrypt(Data(count: length), .ecies(.standard, .sha1, .zero))
            #expect(ciphertext.count == length + overhead)
            #expect(try key.decrypt(ciphertext, .ecies(.standard, .sha1, .zero)).data == Data(count: length))
        }
    }

    @Test func encrypt_rsaWithAESGCM_addsBlockAndTag() throws {
        for key in [try #require(KnownKey.rsa1024), try #require(KnownKey.rsa4096)] {
            for length in [0, 10_000] {
                let ciphertext = try key.publicKey.encrypt(Data(count: length), .rsaEncryptionOAEPAESGCM(.sha1))
                #expect(ciphertext.count == key.publicKey.blockSize + length + 16)
                #expect(try key.decrypt(ciphertext, .rsaEncryptionOAEPAESGCM(.sha1)).data == Data(count: length))
            }
        }
    }

    @Test(arguments: [
        (KeyAlgorithm.rsaEncryptionPKCS1, 117), (.rsaEncryptionOAEP(.sha1), 86), (.rsaEncryptionOAEP(.sha256), 62),
    ])
    func encrypt_rsa_takesUpToTheRoomOfABlock(algorithm: KeyAlgorithm, longest: Int) throws {
        let key = try #require(KnownKey.rsa1024)
        for length in [0, 1, longest] {
            let ciphertext = try key.publicKey.encrypt(Data(repeating: 1, count: length), algorithm)
            #expect(ciphertext.count == 128)
            #expect(try key.decrypt(ciphertext, algorithm).data == Data(repeating: 1, count: length))
        }
        for length in [longest + 1, 128, 129, 1000] {
            #expect(throws: KeyFailure.invalidLength) { try key.publicKey.encrypt(Data(count: length), algorithm) }
        }
    }

    @Test func encrypt_oaepTooLargeForTheKey_isUnsupported() throws {
        let key = try #require(KnownKey.rsa1024)
        for algorithm in [KeyAlgorithm.rsaEncryptionOAEP(.sha512), .rsaEncryptionOAEPAESGCM(.sha512)] {
            #expect(!key.publicKey.supports(algorithm, for: .encrypt) && !key.supports(algorithm, for: .decrypt))
            #expect(throws: KeyFailure.algorithmNotSupported) { try key.publicKey.encrypt(Data(), algorithm) }
        }
    }

    // MARK: - Damage

    @Test func decrypt_damagedOrCut_isRefused() throws {
        let (curve, rsa) = (try KnownKey.privateKey(KnownKey.p256), try #require(KnownKey.rsa2048))
        for (key, algorithm) in [
            (curve, KeyAlgorithm.ecies(.standard, .sha256, .zero)), (curve, .ecies(.standard, .sha224, .derived)),
            (rsa, .rsaEncryptionOAEPAESGCM(.sha256)), (rsa, .rsaEncryptionOAEP(.sha256)),
        ] {
            let ciphertext = try key.publicKey.encrypt(Data("plaintext".utf8), algorithm)
            for length in [0, 1, 15, 16, 64, 65, 80, 81, 255, 256, 271, ciphertext.count - 1]
            where length < ciphertext.count {
                #expect(throws: KeyFailure.decryptionFailed) { try key.decrypt(ciphertext.prefix(length), algorithm) }
            }
            for index in [0, 1, ciphertext.count / 2, ciphertext.count - 1] {
                var changed = ciphertext
                changed[index] ^= 0x80
                #expect(throws: KeyFailure.decryptionFailed) { try key.decrypt(changed, algorithm) }
            }
            let other = key.kind == .rsa ? try #require(KnownKey.rsa4096) : try PrivateKey.generate(.p256)
            #expect(throws: KeyFailure.decryptionFailed) { try other.decrypt(ciphertext, algorithm) }
        }
    }

    // MARK: - Peers

    @Test func exchange_withAnotherCurve_isAnInvalidPeer() throws {
        let key = try KnownKey.privateKey(KnownKey.p256)
        let (other, rsa) = (try KnownKey.privateKey(KnownKey.p384), try #require(KnownKey.rsa1024))
        #expect(throws: KeyFailure.invalidPeer) { try key.exchange(with: other.publicKey, .keyExchange(.standard)) }
        #expect(throws: KeyFailure.algorithmNotSupported) {
            try key.exchange(with: rsa.publicKey, .keyExchange(.standard))
        }
    }

    @Test func exchange_withAPointOfSmallOrder_isAnInvalidPeer() throws {
        let key = try PrivateKey.generate(.x25519)
        for first in [UInt8(0), 1] {
            let peer = try PublicKey(.x25519, externalRepresentation: Data([first] + [UInt8](repeating: 0, count: 31)))
            #expect(throws: KeyFailure.invalidPeer) { try key.exchange(with: peer, .keyExchange(.standard)) }
        }
    }

    @Test(arguments: [nil, -1, PrivateKey.largestExchangeResult + 1, Int.max, Int.min])
    func exchange_withoutASizeThatCanBe_isRefused(size: Int?) throws {
        let key = try KnownKey.privateKey(KnownKey.p256)
        #expect(throws: KeyFailure.invalidLength) {
            try key.exchange(with: key.publicKey, .keyExchangeX963(.standard, .sha1), size: size)
        }
    }
}
