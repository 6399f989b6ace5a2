// SPDX-License-Identifier: Apache-2.0
// Kinds, sizes, external representations and labels of keys, and what is refused.

import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

struct KeyTests {
    // MARK: - Making and exporting keys

    @Test(arguments: [(KeyKind.p256, 65, 97), (.p384, 97, 145), (.p521, 133, 199)])
    func generate_curve_exportsPointAndNumber(kind: KeyKind, publicLength: Int, privateLength: Int) throws {
        let key = try PrivateKey.generate(kind)
        let (publicBytes, privateBytes) = (key.publicKey.externalRepresentation, key.externalRepresentation.data)
        #expect(publicBytes.count == publicLength && privateBytes.count == privateLength)
        #expect(publicBytes.first == 4 && privateBytes.starts(with: publicBytes))
        #expect(try PrivateKey(typeNumber: 73, externalRepresentation: key.externalRepresentation) == key)
    }

    @Test(arguments: [(KeyKind.ed25519, 105), (.x25519, 106)])
    func generate_curve25519_exports32Bytes(kind: KeyKind, typeNumber: Int) throws {
        let key = try PrivateKey.generate(kind)
        #expect(key.publicKey.externalRepresentation.count == 32 && key.externalRepresentation.count == 32)
        #expect(try PrivateKey(typeNumber: typeNumber, externalRepresentation: key.externalRepresentation) == key)
    }

    @Test func generate_rsa_hasTheSizeAskedFor() throws {
        let key = try #require(KnownKey.rsa2048)
        #expect(key.sizeInBits == 2048 && key.publicKey.blockSize == 256)
        #expect(try PrivateKey(typeNumber: 42, externalRepresentation: key.externalRepresentation) == key)
        let bytes = key.publicKey.externalRepresentation
        #expect(try PublicKey(typeNumber: 42, externalRepresentation: bytes) == key.publicKey)
    }

    @Test(arguments: [Int.min, -8, 0, 7, 512, 1016, 1023, 1025, 1032, 2047, 8200, 16384, Int.max])
    func generate_rsaOfAnotherSize_isRefused(size: Int) {
        #expect(throws: KeyFailure.unsupportedSize(size)) { try PrivateKey.generate(.rsa, sizeInBits: size) }
    }

    // MARK: - Known keys

    @Test(arguments: [
        (KnownKey.p256, KeyKind.p256, "a30b4ea027c1da5448b14442e74d85d9c5b38b6e"),
        (KnownKey.p384, .p384, "badb017a70a1cddfe71e3d9cefb700c7e12ad389"),
        (KnownKey.p521, .p521, "d69cfc122c3df3e0dcc2185479eec6d508f77213"),
    ])
    func privateKey_known_hasKindPublicHalfAndLabel(bytes: Data, kind: KeyKind, label: String) throws {
        let key = try KnownKey.privateKey(bytes)
        #expect(key.kind == kind && key.publicKey.applicationLabel.hex == label)
        let point = key.publicKey.externalRepresentation
        #expect(bytes.starts(with: point))
        #expect(try PublicKey(typeNumber: 43, externalRepresentation: point) == key.publicKey)
    }

    @Test func description_privateKey_hasNoBytes() throws {
        let key = try KnownKey.privateKey(KnownKey.p256)
        #expect("\(key)" == "PrivateKey(p256, 256 bits)")
        var dumped = ""
        dump(try key.loaded().key, to: &dumped)
        #expect(!dumped.contains("0x00") && dumped.count < 200)
    }

    // MARK: - Bad input

    @Test(arguments: [0, 1, 32, 64, 66, 96, 98, 132, 134, 198, 200])
    func externalRepresentation_ofAnotherLength_isRefused(length: Int) {
        var bytes = Data(repeating: 7, count: length)
        bytes.replaceSubrange(..<min(1, length), with: Data([4]).prefix(length))
        #expect(throws: KeyFailure.self) { try PublicKey(typeNumber: 73, externalRepresentation: bytes) }
        #expect(throws: KeyFailure.self) { try KnownKey.privateKey(bytes) }
    }

    @Test(arguments: [KnownKey.p256, KnownKey.p384, KnownKey.p521])
    func point_offTheCurve_isRefused(bytes: Data) throws {
        let length = try KnownKey.privateKey(bytes).publicKey.externalRepresentation.count
        for (index, first) in [(length - 1, UInt8(4)), (1, 4), (5, 2), (5, 0), (5, 6)] {
            var changed = bytes
            changed[index] ^= 1
            changed[0] = first
            #expect(throws: KeyFailure.self) {
                try PublicKey(typeNumber: 73, externalRepresentation: changed.prefix(length))
            }
            #expect(throws: KeyFailure.self) { try KnownKey.privateKey(changed) }
        }
        #expect(throws: KeyFailure.self) {
            try PublicKey(typeNumber: 73, externalRepresentation: Data([4] + [UInt8](repeating: 0, count: length - 1)))
        }
    }

    @Test(arguments: [KnownKey.p256, KnownKey.p384, KnownKey.p521])
    func privateNumber_notOfThePoint_isRefused(bytes: Data) throws {
        let point = try KnownKey.privateKey(bytes).publicKey.externalRepresentation
        let length = bytes.count - point.count
        let ones = Data(repeating: 255, count: length)
        for number in [Data(count: length), ones, Data(count: length - 1) + [1], bytes.suffix(length - 1) + [0]] {
            #expect(throws: KeyFailure.self) { try KnownKey.privateKey(point + number) }
        }
    }

    @Test func typeNumber_unknown_isRefused() {
        #expect(throws: KeyFailure.unsupportedAlgorithm("key type 99")) {
            try PublicKey(typeNumber: 99, externalRepresentation: Data(count: 65))
        }
        #expect(KeyKind(typeNumber: 73, sizeInBits: 192) == nil && KeyKind(typeNumber: 107, sizeInBits: 448) == nil)
        #expect(KeyKind(typeNumber: 73, sizeInBits: 521) == .p521)
    }

    @Test(arguments: [
        // A modulus of so many bytes, its first and last byte, and the exponent.
        (127, 0xFF, 0xFF, "010001"), (128, 0x7F, 0xFF, "010001"), (1025, 0x80, 0xFF, "010001"),
        (256, 0x80, 0xFE, "010001"), (256, 0x80, 0xFF, "010000"), (256, 0x80, 0xFF, "01"), (256, 0x80, 0xFF, ""),
        (256, 0x80, 0xFF, "0200000001"), (256, 0x80, 0xFF, "010000000001"), (1, 0x01, 0x03, "03"), (0, 0, 0, "03"),
    ])
    func rsaNumbers_notOfAKey_areRefused(length: Int, first: Int, last: Int, exponent: String) {
        var modulus = [UInt8](repeating: 0xA5, count: length)
        if length > 0 { (modulus[length - 1], modulus[0]) = (UInt8(last), UInt8(first)) }
        let encoded = DERNode.sequence(.unsigned(modulus), .unsigned([UInt8](Data(hex: exponent)))).encoded
        #expect(throws: KeyFailure.self) { try PublicKey(.rsa, externalRepresentation: Data(encoded)) }
    }

    @Test func rsaNumbers_thatDoNotBelongTogether_areRefused() throws {
        let key = try #require(KnownKey.rsa1024).externalRepresentation.data
        // The last bytes of the key belong to the coefficient, those in the middle to the private exponent.
        for index in [key.count - 1, key.count / 2, 20] {
            var changed = key
            changed[index] ^= 2
            #expect(throws: KeyFailure.self) { try PrivateKey(pkcs1: SecretBytes(changed)) }
        }
    }
}
