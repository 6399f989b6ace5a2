// SPDX-License-Identifier: Apache-2.0
// Key objects on a token: what they can do, and what they tell.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Keys: on a token")
struct TokenKeyTests {
    private let bench: TokenBench

    init() throws { bench = try TokenBench(.memory) }

    // MARK: Making

    static let refused: [Row<OSStatus>] = [
        Row("P-384", ["bsiz": 384], errSecParam), Row("RSA", ["type": "42", "bsiz": 2048], errSecParam),
        Row("Ed25519", ["type": "105"], errSecParam), Row("size that is none", ["bsiz": "0x100"], errSecParam),
        Row("token of no text", ["tkid": 1], errSecParam), Row("another token", ["tkid": "tpm"], errSecUnimplemented),
        Row("another token wins", ["tkid": "x", "private": ["tkid": "double"]], errSecUnimplemented),
        Row("token of the public half", ["tkid": "", "bsiz": 256, "public": ["tkid": "double"]], errSecParam),
        Row("synchronizable", ["sync": true], errSecParam),
        Row("foreign group", ["agrp": "x"], errSecMissingEntitlement),
        Row("bytes", ["v_Data": Data([1])], errSecParam), Row("permanence unclear", ["perm": 0], errSecSuccess),
    ]

    @Test(arguments: refused) func creation_onAToken_takesOnlyItsOwnKeys(row: Row<OSStatus>) {
        #expect(bench.generate(row.entries).status == row.expected)
        let isMade = row.expected == errSecSuccess
        #expect(bench.services.count(keys()) == (isMade ? 1 : 0) && bench.token.keyCount == (isMade ? 1 : 0))
    }

    @Test func creation_withoutItsToken_isUnimplementedAndNeverSoftware() {
        for identifier in ["double", KeyTokens.secureEnclave] {
            let parameters: Entries = ["type": "73", "tkid": identifier, "perm": false]
            #expect(
                attempt { bench.withoutToken.createRandomKey(parameters as NSDictionary, $0) }.status
                    == errSecUnimplemented)
        }
    }

    @Test func creation_whoseTokenFails_hasItsErrorAndStoresNothing() {
        bench.token.fail(KeychainError(.unavailable, "Locked out."))
        #expect(bench.generate([:]).status == errSecNotAvailable)
        #expect(bench.services.count(keys()) == 0)
    }

    @Test func bytes_forAToken_areNotImported() {
        #expect(importedKey(TestKey.p256.bytes, "73", "1", ["tkid": "double"]).status == errSecUnimplemented)
    }

    // MARK: Registration

    @Test func token_usedLater_replacesThatOfItsIdentifier() throws {
        let (tokens, first, second, other) = (KeyTokens(), TokenDouble(), TokenDouble(), TokenDouble("other"))
        #expect(tokens.standard == nil && tokens.token("double") == nil && tokens.token("com.apple.setoken") == nil)
        for token in [first, other, second] {
            try tokens.use(token)
            #expect(tokens.standard as? TokenDouble === token)
            #expect(tokens.token(KeyTokens.secureEnclave) as? TokenDouble === token)
        }
        #expect(tokens.token("double") as? TokenDouble === second && tokens.token("other") as? TokenDouble === other)
    }

    @Test(arguments: ["", "com.apple.setoken"]) func token_withANameThatIsNotItsOwn_isRefused(identifier: String) {
        let tokens = KeyTokens()
        #expect(throws: KeychainError.self) { try tokens.use(TokenDouble(identifier)) }
        #expect(tokens.standard == nil)
    }

    // MARK: Telling

    @Test func object_onAToken_tellsItsTokenAndNoBytes() throws {
        try bench.token.plant(TestKey.p256.bytes)
        let key = try bench.makeProtected([.privateKeyUsage])
        let attributes = try #require(SecKeyCopyAttributes(key) as? Entries)
        #expect(attributes["tkid"] as? String == "double" && attributes["kcls"] as? String == "1")
        #expect(attributes["type"] as? String == "73" && attributes["bsiz"] as? Int == 256)
        #expect(attributes["klbl"] as? Data == Data(hex: "a30b4ea027c1da5448b14442e74d85d9c5b38b6e"))
        #expect(attributes["toid"] as? Data == (try TestKey.p256.publicBytes()))
        #expect(attributes["accc"] is SecAccessControl && attributes["v_Data"] == nil)
        for (name, isSet) in ["perm": true, "extr": false, "sens": true, "sign": true, "decr": true, "vrfy": false] {
            #expect(attributes[name] as? Bool == isSet, "\(name)")
        }
        #expect(attempt { SecKeyCopyExternalRepresentation(key, $0) as Data? }.status == errSecUnimplemented)
        #expect(SecKeyCopyPublicKey(key) == (try TestKey.p256.publicKey()) && SecKeyGetBlockSize(key) == 32)
        #expect(key.description == "<SecKey: private p256, 256 bits, on the token double>")
        #expect(Mirror(reflecting: key).children.isEmpty)
    }

    @Test func objects_onAToken_areEqualIfTokenAndKeyAre() throws {
        let key = try bench.make(["atag": "t"])
        let found = bench.services.find(keys(["atag": "t", "r_Ref": true])).object as? SecKey
        #expect(found == key && found?.hash == key.hash)
        let (another, publicKey) = (try bench.make(), try #require(SecKeyCopyPublicKey(key)))
        #expect(key != another && key != publicKey)
        #expect(key != (try TestKey.p256.privateKey()))
    }

    // MARK: Using

    /// Tokens that know all hashes, and one that knows only the usual one.
    @Test(arguments: [Set(TokenHash.allCases), [.sha256]]) func key_onAToken_doesAllThatACurveDoes(
        hashes: Set<TokenHash>
    ) throws {
        let bench = try TokenBench(.memory, TokenDouble(hashes: hashes))
        let (key, software) = (try bench.make(), try TestKey.p256.privateKey())
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let message = Data(repeating: 7, count: 32)
        for known in KeyAlgorithm.allCases {
            let algorithm = SecKeyAlgorithm(rawValue: known.rawValue as CFString)
            for operation in SecKeyOperationType.allCases {
                let isSupported = SecKeyIsAlgorithmSupported(key, operation, algorithm)
                #expect(isSupported == SecKeyIsAlgorithmSupported(software, operation, algorithm), "\(known)")
            }
            var data = message
            if case .ecdsaSignature(.digest(let hash), _) = known { data = Data(repeating: 9, count: hash.byteCount) }
            let isSupported = SecKeyIsAlgorithmSupported(key, .sign, algorithm)
            #expect(try signing(key, algorithm, data) == (isSupported ? errSecSuccess : errSecParam), "\(known)")
            guard case .ecies = known else { continue }
            let sealed = attempt { SecKeyCreateEncryptedData(publicKey, algorithm, data as CFData, $0) as Data? }.value
            let opened = attempt {
                SecKeyCreateDecryptedData(key, algorithm, (sealed ?? Data()) as CFData, $0) as Data?
            }
            #expect(opened.value == data, "\(known)")
        }
        for length in [0, 1, 20, 33, 100] {
            #expect(try signing(key, .ecdsaSignatureDigestX962, Data(repeating: 5, count: length)) == errSecSuccess)
        }
    }

    @Test func wrongData_isRefusedBeforeTheTokenIsAsked() throws {
        let key = try bench.make()
        func status(_ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData?) -> OSStatus {
            attempt { body($0) as Data? }.status
        }
        let (short, algorithm) = (Data([1]) as CFData, SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM)
        #expect(status { SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, short, $0) } == errSecParam)
        #expect(status { SecKeyCreateSignature(key, .rsaSignatureMessagePSSSHA256, short, $0) } == errSecParam)
        #expect(status { SecKeyCreateDecryptedData(key, algorithm, short, $0) } == errSecParam)
        let off = Data(repeating: 4, count: 100) as CFData
        #expect(status { SecKeyCreateDecryptedData(key, algorithm, off, $0) } == errSecParam)
        let peer = try TestKey.p384.publicKey()
        let exchange = SecKeyAlgorithm.ecdhKeyExchangeStandard
        #expect(status { SecKeyCopyKeyExchangeResult(key, exchange, peer, [:] as CFDictionary, $0) } == errSecDecode)
        #expect(status { SecKeyCopyKeyExchangeResult(key, exchange, key, [:] as CFDictionary, $0) } == errSecParam)
        #expect(bench.token.calls == ["make"])
    }

    /// Apple-shaped ciphertexts and agreements that an independent program made.
    @Test func knownAnswers_onAToken_areThoseOfSoftware() throws {
        try bench.token.plant(TestKey.p256.bytes)
        let key = try bench.make()
        let ciphertexts: [(SecKeyAlgorithm, String)] = [
            (
                .eciesEncryptionStandardX963SHA256AESGCM,
                "BP6qppGCXVthF5lQ1y13Td/mihc7eWzry6csv9gDHjZ8bH2S1iJb+NsBUR0ysy2UnN9ISmfj40WJXW5lPPDmOlkUPuO598Wr+BIKbnGwbJLY3EreCMc="
            ),
            (
                .eciesEncryptionStandardVariableIVX963SHA256AESGCM,
                "BP6qppGCXVthF5lQ1y13Td/mihc7eWzry6csv9gDHjZ8bH2S1iJb+NsBUR0ysy2UnN9ISmfj40WJXW5lPPDmOlnFdCvHKEGdgISszVZmD3+DyF4gRSk="
            ),
        ]
        for (algorithm, text) in ciphertexts {
            let sealed = Data(base64: text) as CFData
            let opened = attempt { SecKeyCreateDecryptedData(key, algorithm, sealed, $0) as Data? }.value
            #expect(opened == Data("hello".utf8))
        }
        let peer = try #require(importedKey(Data(base64: ciphertexts[0].1).prefix(65), "73", "0").value)
        let agreements: [(SecKeyAlgorithm, Entries, String)] = [
            (.ecdhKeyExchangeStandard, [:], "5a5bbad5d9b1072d86b96455ca71e4a5f5cda6649691b635ee8d16f3c9b017e1"),
            (.ecdhKeyExchangeStandardX963SHA256, ["requestedSize": 16], "c75ae33008f6f7b65b6f853216a60a8c"),
            (
                .ecdhKeyExchangeStandardX963SHA256, ["requestedSize": 40, "sharedInfo": Data("abc".utf8)],
                "7c7276535c4854acf9143708ffe8f3ea65a8f2bd6143e4bf7283a49e5db2419f9b2db99b5fb2411c"
            ),
        ]
        for (algorithm, parameters, hex) in agreements {
            let secret = attempt {
                SecKeyCopyKeyExchangeResult(key, algorithm, peer, parameters as CFDictionary, $0) as Data?
            }
            #expect(secret.value == Data(hex: hex))
        }
    }

    @Test func objectOfAnotherToken_isAnErrorOfTheOperation() throws {
        let key = try bench.make(["atag": "t"])
        try bench.services.engine.tokens.use(TokenDouble())
        #expect(try signing(key) == errSecDecode)
    }
}
