// SPDX-License-Identifier: Apache-2.0
// The table of algorithms: names, which key supports what, and that it does what it says.

import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

/// Which algorithms a key supports: how many for each operation, in the order of `KeyOperation`.
private struct SupportCount: CustomTestStringConvertible, Sendable {
    let name: String
    let make: @Sendable () throws -> PrivateKey
    /// Of the private half, then of the public half.
    let counts: [[Int]]
    var testDescription: String { name }

    init(_ name: String, _ counts: [[Int]], _ make: @escaping @Sendable () throws -> PrivateKey) {
        (self.name, self.counts, self.make) = (name, counts, make)
    }

    private static let curve = [[23, 0, 0, 18, 12], [0, 23, 18, 0, 0]]

    static let all = [
        SupportCount("P-256", curve) { try KnownKey.privateKey(KnownKey.p256) },
        SupportCount("P-384", curve) { try KnownKey.privateKey(KnownKey.p384) },
        SupportCount("P-521", curve) { try KnownKey.privateKey(KnownKey.p521) },
        SupportCount("RSA 1024", [[14, 0, 0, 5, 0], [0, 16, 5, 0, 0]]) { try #require(KnownKey.rsa1024) },
        SupportCount("RSA 2048", [[16, 0, 0, 5, 0], [0, 16, 5, 0, 0]]) { try #require(KnownKey.rsa2048) },
        SupportCount("Ed25519", [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]]) { try .generate(.ed25519) },
        SupportCount("X25519", [[0, 0, 0, 18, 12], [0, 0, 18, 0, 0]]) { try .generate(.x25519) },
    ]
}

struct AlgorithmTests {
    // MARK: - Names

    @Test func rawValue_ofEveryAlgorithm_namesItAlone() {
        #expect(KeyAlgorithm.allCases.count == 88)
        for algorithm in KeyAlgorithm.allCases { #expect(KeyAlgorithm(rawValue: algorithm.rawValue) == algorithm) }
        #expect(KeyAlgorithm(rawValue: "algid:sign:RSA:message-PKCS1v15:MD5") == nil)
    }

    @Test(arguments: [
        ("algid:sign:RSA:raw", KeyAlgorithm.rsaSignatureRaw), ("algid:sign:RSA:digest-PKCS1v15", .rsaSignaturePKCS1Raw),
        ("algid:sign:RSA:digest-PKCS1v15:SHA1", .rsaSignaturePKCS1(.digest(.sha1))),
        ("algid:sign:RSA:message-PSS:SHA384:SHA384:48", .rsaSignaturePSS(.message(.sha384))),
        ("algid:sign:ECDSA:digest-X962", .ecdsaSignatureOfAnyDigest(.der)),
        ("algid:sign:ECDSA:message-X962:SHA256", .ecdsaSignature(.message(.sha256), .der)),
        ("algid:sign:ECDSA:digest-RFC4754:SHA224", .ecdsaSignature(.digest(.sha224), .raw)),
        ("algid:sign:ECDSA:RFC4754", .ecdsaSignatureRFC4754),
        ("algid:encrypt:RSA:PKCS1", .rsaEncryptionPKCS1), ("algid:encrypt:RSA:OAEP:SHA1", .rsaEncryptionOAEP(.sha1)),
        ("algid:encrypt:RSA:OAEP:SHA256:AESGCM", .rsaEncryptionOAEPAESGCM(.sha256)),
        ("algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM", .ecies(.standard, .sha1, .zero)),
        ("algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV", .ecies(.cofactor, .sha512, .derived)),
        ("algid:keyexchange:ECDH", .keyExchange(.standard)),
        ("algid:keyexchange:ECDHC:KDFX963:SHA224", .keyExchangeX963(.cofactor, .sha224)),
    ])
    func rawValue_ofApple_namesTheAlgorithm(rawValue: String, algorithm: KeyAlgorithm) {
        #expect(KeyAlgorithm(rawValue: rawValue) == algorithm)
    }

    // MARK: - The whole matrix

    @Test(arguments: SupportCount.all)
    private func supports_everyAlgorithmAndOperation_isAsInTheTable(row: SupportCount) throws {
        let key = try row.make()
        let counts = [
            KeyOperation.allCases.map { operation in
                KeyAlgorithm.allCases.count { key.supports($0, for: operation) }
            },
            KeyOperation.allCases.map { operation in
                KeyAlgorithm.allCases.count { key.publicKey.supports($0, for: operation) }
            },
        ]
        #expect(counts == row.counts)
    }

    @Test(arguments: SupportCount.all)
    private func operations_supported_work_andOthersAreRefused(row: SupportCount) throws {
        let key = try row.make()
        for algorithm in KeyAlgorithm.allCases {
            try checkSignature(key, algorithm)
            try checkEncryption(key, algorithm)
            try checkExchange(key, algorithm)
        }
    }

    private func checkSignature(_ key: PrivateKey, _ algorithm: KeyAlgorithm) throws {
        let data = input(algorithm)
        guard key.supports(algorithm, for: .sign) else {
            #expect(throws: KeyFailure.algorithmNotSupported) { try key.loaded().sign(data, algorithm) }
            guard !key.publicKey.supports(algorithm, for: .verify) else { return }
            #expect(throws: KeyFailure.algorithmNotSupported) {
                try key.publicKey.isValidSignature(Data(count: 64), for: data, algorithm)
            }
            return
        }
        let signature = try key.loaded().sign(data, algorithm)
        #expect(try key.publicKey.isValidSignature(signature, for: data, algorithm))
        var other = data
        other[0] ^= 1
        #expect(try !key.publicKey.isValidSignature(signature, for: other, algorithm))
        for wrong in [Data(), signature.dropLast(), signature + [0], Data(signature.reversed())] {
            #expect(try !key.publicKey.isValidSignature(wrong, for: data, algorithm))
        }
    }

    /// Data of the length that the algorithm needs.
    private func input(_ algorithm: KeyAlgorithm) -> Data {
        switch algorithm {
        case .rsaSignaturePKCS1(.digest(let hash)), .rsaSignaturePSS(.digest(let hash)),
            .ecdsaSignature(.digest(let hash), _):
            Data(repeating: 0x5A, count: hash.byteCount)
        default: Data("a message".utf8)
        }
    }

    private func checkEncryption(_ key: PrivateKey, _ algorithm: KeyAlgorithm) throws {
        let plaintext = Data("plaintext".utf8)
        guard key.supports(algorithm, for: .decrypt) else {
            #expect(throws: KeyFailure.algorithmNotSupported) { try key.publicKey.encrypt(plaintext, algorithm) }
            #expect(throws: KeyFailure.algorithmNotSupported) { try key.decrypt(Data(count: 256), algorithm) }
            return
        }
        let ciphertext = try key.publicKey.encrypt(plaintext, algorithm)
        #expect(try key.decrypt(ciphertext, algorithm).data == plaintext)
        #expect(try key.publicKey.encrypt(plaintext, algorithm) != ciphertext)
    }

    private func checkExchange(_ key: PrivateKey, _ algorithm: KeyAlgorithm) throws {
        let other = try PrivateKey.generate(key.kind == .rsa ? .p256 : key.kind)
        guard key.supports(algorithm, for: .keyExchange) else {
            #expect(throws: KeyFailure.algorithmNotSupported) {
                try key.exchange(with: other.publicKey, algorithm, size: 32)
            }
            return
        }
        let first = try key.exchange(with: other.publicKey, algorithm, size: 273)
        let second = try other.exchange(with: key.publicKey, algorithm, size: 273)
        #expect(first.data == second.data)
        if case .keyExchange = algorithm { return }
        #expect(first.count == 273)
    }

    // MARK: - Hashes

    @Test(arguments: [
        ("", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"),
        ("abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525"
        ),
    ])
    func sha224_vectorsOfNIST_areMet(text: String, digest: String) {
        #expect(Data(KeyHash.sha224.digest(Data(text.utf8))).hex == digest)
    }
}
