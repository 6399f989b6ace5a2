// SPDX-License-Identifier: Apache-2.0
// Signatures with keys that stay in the store.

import Crypto
import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import KeychainTestSupport
import Testing

@Suite("Signers")
struct SignerTests {
    private static let message = Data("message".utf8)

    private func keys(_ kind: StoreKind = .memory) throws -> KeyStore { KeyStore(store: try kind.empty()) }

    private func save(_ type: KeyType, in keys: KeyStore) throws {
        switch type {
        case .p256: try keys.save(P256.Signing.PrivateKey(), tag: "tag")
        case .p384: try keys.save(P384.Signing.PrivateKey(), tag: "tag")
        case .p521: try keys.save(P521.Signing.PrivateKey(), tag: "tag")
        case .ed25519: try keys.save(Curve25519.Signing.PrivateKey(), tag: "tag")
        case .x25519: try keys.save(Curve25519.KeyAgreement.PrivateKey(), tag: "tag")
        case .mlDSA65: try keys.save(MLDSA65.PrivateKey(), tag: "tag")
        default: try keys.save(TestKey.rsa, tag: "tag")
        }
    }

    /// 1024 bits are too few for PSS with SHA-512.
    @Test(arguments: [
        (KeyType.p256, "ES256 ecdsa-sha256 ecdsa-sha384 ecdsa-sha512"),
        (.p384, "ES384 ecdsa-sha256 ecdsa-sha384 ecdsa-sha512"),
        (.p521, "ES512 ecdsa-sha256 ecdsa-sha384 ecdsa-sha512"), (.ed25519, "ed25519"),
        (.rsa, "rsa-pss-sha256 rsa-pss-sha384 rsa-sha256 rsa-sha384 rsa-sha512"),
    ])
    func signature_withEachAlgorithmOfAKey_isValid(type: KeyType, names: String) async throws {
        let keys = try keys(.vault)
        try save(type, in: keys)
        let signer = try #require(try await keys.signer(tag: "tag"))
        #expect(signer.algorithms.map(\.description).sorted().joined(separator: " ") == names && signer.type == type)
        for algorithm in signer.algorithms {
            let (here, elsewhere) = (try sign(signer, algorithm), try await signer.sign(Self.message, using: algorithm))
            for signature in [here, elsewhere] {
                let isValid = try signer.publicHalf.isValidSignature(signature, for: Self.message, algorithm.content)
                #expect(isValid, "\(algorithm)")
            }
        }
    }

    private func sign(_ signer: KeychainSigner, _ algorithm: SigningAlgorithm) throws -> Data {
        try signer.sign(Self.message, using: algorithm)
    }

    /// The example of RFC 8037, appendix A.4.
    @Test func signature_ofAKnownToken_isThatOfTheRFC() throws {
        let keys = try keys()
        let secret = Data(base64: "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=")
        try keys.save(Curve25519.Signing.PrivateKey(rawRepresentation: secret), tag: "tag")
        let algorithm = try #require(SigningAlgorithm(jwsName: "EdDSA"))
        let text = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
        let signature = try #require(try keys.signer(tag: "tag")).sign(Data(text.utf8), using: algorithm)
        #expect(
            signature.base64EncodedString()
                == "hgyY0il/MGCjP0JzlnLWG1PPOt7+09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr/MuM0KAg==")
    }

    @Test func names_ofJWS_nameAlgorithms() {
        let names = ["ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"]
        #expect(names.map { SigningAlgorithm(jwsName: $0)?.jwsName } == names)
        #expect(SigningAlgorithm(jwsName: "none") == nil && SigningAlgorithm(jwsName: "HS256") == nil)
        #expect(SigningAlgorithm.ecdsaSHA256.jwsName == nil)
    }

    @Test(arguments: [
        (KeyType.p256, SigningAlgorithm.es384), (.rsa, .es256), (.ed25519, .rsaSHA256), (.rsa, .rsaPSSSHA512),
    ])
    func algorithm_ofAnotherKey_isUnsupportedAndNamed(type: KeyType, algorithm: SigningAlgorithm) throws {
        let keys = try keys()
        try save(type, in: keys)
        let signer = try #require(try keys.signer(tag: "tag"))
        let failure = failure { try signer.sign(Self.message, using: algorithm) }
        #expect(failure?.reason == .unsupported && failure?.message.contains(algorithm.description) == true)
    }

    @Test(arguments: [KeyType.x25519, .mlDSA65]) func key_thatDoesNotSign_hasNoSigner(type: KeyType) throws {
        let keys = try keys()
        try save(type, in: keys)
        #expect(reason { try keys.signer(tag: "tag") } == .unsupported)
    }

    // MARK: - Afterwards

    @Test(arguments: StoreKind.allCases) func key_removedOrReplacedMeanwhile_isNotFound(kind: StoreKind) throws {
        let keys = try keys(kind)
        try keys.save(P256.Signing.PrivateKey(), tag: "tag")
        let signer = try #require(try keys.signer(tag: "tag"))
        try keys.save(P256.Signing.PrivateKey(), tag: "tag")
        #expect(reason { try sign(signer, .es256) } == .itemNotFound)
        let second = try #require(try keys.signer(tag: "tag"))
        #expect(try !sign(second, .es256).isEmpty)
        try keys.remove(tag: "tag")
        #expect(reason { try sign(second, .es256) } == .itemNotFound)
        #expect(try keys.signer(tag: "tag") == nil)
    }

    @Test func vault_lockedMeanwhile_isLocked() throws {
        let vault = try LockableVault()
        var keys = KeyStore(store: vault.vault)
        keys.accessibility = .whenUnlocked
        try keys.save(P256.Signing.PrivateKey(), tag: "tag")
        let signer = try #require(try keys.signer(tag: "tag"))
        try vault.setLockState(.locked)
        #expect(reason { try sign(signer, .es256) } == .locked)
        try vault.setLockState(.unlocked)
        #expect(try !sign(signer, .es256).isEmpty)
    }

    @Test func key_thatRequiresTheUser_signsOnlyAfterAProof() throws {
        var keys = KeyStore(accessControl: .userPresence, store: try StoreKind.vault.empty(passphrase: "p"))
        let person = Person(passphrase: "p")
        keys.context = AuthenticationContext { person }
        try keys.save(TestKey.p256, certificate: TestCertificate.renewed, tag: "tag")
        let identity = try #require(try keys.identities().first)
        let asked = person.questions.count
        #expect(try !sign(keys.signer(of: identity), .es256).isEmpty && person.questions.count > asked)
        keys.context = AuthenticationContext { nil }
        #expect(reason { try keys.signer(tag: "tag") } == .interactionNotAllowed)
        #expect(reason { try sign(keys.signer(of: identity), .es256) } == .interactionNotAllowed)
    }

    // MARK: - Identities

    @Test func identity_ofTheStore_signsWithoutBeingReadBefore() throws {
        let keys = try keys(.vault)
        try keys.save(TestKey.p256, certificate: TestCertificate.renewed, tag: "tag")
        let identity = try #require(try keys.identities().first)
        let signer = try keys.signer(of: identity)
        let verifier = try P256.Signing.PublicKey(derRepresentation: signer.publicKey)
        #expect(try verifier.isValidSignature(.init(rawRepresentation: sign(signer, .es256)), for: Self.message))
        #expect(try verifier.isValidSignature(.init(derRepresentation: sign(signer, .ecdsaSHA256)), for: Self.message))
        #expect(try signer == keys.signer(of: identity) && signer == keys.signer(tag: "tag"))
        #expect(try signer != KeyStore(store: StoreKind.memory.empty()).signer(of: identity))
    }

    @Test func identity_whoseKeyIsAnotherByNow_doesNotSign() throws {
        let keys = try keys(.vault)
        try keys.save(TestKey.p256, certificate: TestCertificate.renewed, tag: "tag")
        let signer = try keys.signer(of: try #require(try keys.identities().first))
        try keys.save(P256.Signing.PrivateKey(), tag: "tag")
        #expect(reason { try sign(signer, .es256) } == .itemNotFound)
    }
}
