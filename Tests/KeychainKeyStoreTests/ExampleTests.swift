// SPDX-License-Identifier: Apache-2.0
// The code in the comments of this module, which is compiled and run here.

import Crypto
import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainKit
import KeychainTestSupport
import SecretMemory
import Testing

@Suite("Examples of keys")
struct KeyExampleTests {
    private let keys = KeyStore(store: MemoryStore())

    private func signingKey() throws -> P256.Signing.PrivateKey? {
        /// The user's keychain in the original.
        func KeyStore() -> KeychainKeyStore.KeyStore { self.keys }
        let keys = KeyStore()
        try keys.save(P256.Signing.PrivateKey(), tag: "com.example.signing")
        let key = try keys.read(P256.Signing.PrivateKey.self, tag: "com.example.signing")
        return key
    }

    @Test func keysByTag_asInTheOverview_areSavedAndRead() throws {
        let key = try #require(try signingKey())
        try keys.save(key, tag: "com.example.signing", label: "Signs releases")
        try keys.create(Curve25519.Signing.PrivateKey(), tag: "com.example.device")
        let device = try keys.read(Curve25519.Signing.PrivateKey.self, tag: "com.example.device")
        #expect(device != nil)
        let line = try keys.key(tag: "com.example.device")?.openSSHPublicKey
        #expect(line?.hasPrefix("ssh-ed25519 AAAA") == true)
        let signing = try keys.keys().filter { $0.type == .ed25519 }
        #expect(signing.count == 1)
        for key in try keys.keys() { print(key.tag ?? "-", key.fingerprint ?? "-") }
        try keys.remove(tag: "com.example.device")
        #expect(try !keys.contains(tag: "com.example.device"))
    }

    @Test func keyInHardware_asInTheComments_signsAndAgrees() throws {
        /// The tokens of the process in the original.
        struct KeyTokens {
            static func use(_ token: TokenDouble) throws { #expect(token.keyCount == 0) }
        }
        let (token, message, peer) = (TokenDouble(), Data("m".utf8), P256.KeyAgreement.PrivateKey().publicKey)
        var keys = keys
        keys.tokens = KeychainEngine.KeyTokens()
        try keys.tokens.use(token)
        try KeyTokens.use(token)
        let key = try keys.create(.p256, tag: "com.example.device", protection: .hardwareIfAvailable)
        if key.isHardwareBound { print("nothing can copy this key") }
        let signature = try keys.signer(tag: "com.example.device")?.sign(message, using: .es256)
        let secret = try keys.sharedSecret(tag: "com.example.device", with: peer)
        #expect(signature?.count == 64 && secret?.count == 32 && token.keyCount == 1)
    }

    @Test func ownType_ofAStoredKey_isSavedAndRead() throws {
        struct SigningKey: StorableKey {
            static let keyType = KeyType.ed25519
            let storedBytes: SecretBytes
        }
        let key = SigningKey(storedBytes: .random(count: 32))
        try keys.save(key, tag: "tag")
        #expect(try keys.read(SigningKey.self, tag: "tag")?.data == key.data)
        #expect(try keys.read(Curve25519.Signing.PrivateKey.self, tag: "tag")?.data == key.data)
    }

    @Test func certificates_asInTheComments_areSavedAndFound() throws {
        let text = try TestCertificate.renewed.pem
        let certificate = try KeychainCertificate(pem: text)
        print(certificate.name ?? "-", certificate.notAfter, certificate.fingerprint)
        try keys.save(certificate, label: "Proxy")
        for stored in try keys.certificates() { print(stored.label ?? "-", stored.certificate.fingerprint) }
        let authorities = try keys.certificates().filter(\.certificate.isAuthority)
        #expect(authorities.isEmpty)
    }

    @Test func identities_asInTheComments_areSavedFoundAndRead() throws {
        let (key, certificate, authority) = try (TestKey.p256, TestCertificate.renewed, TestCertificate.root)
        try keys.save(key, certificate: certificate, chain: [authority], tag: "com.example.client")
        #expect(try read()?.x963Representation == TestKey.p256Bytes)
        let usable = try keys.identities(matching: CertificateSearch(usage: .clientAuthentication))
        #expect(usable.count == 1)
    }

    private func read() throws -> P256.Signing.PrivateKey? {
        let usable = CertificateSearch(usage: .clientAuthentication, validAt: Date())
        let identity = try keys.identities(matching: usable).first
        guard let identity else { return nil }
        let key = try keys.read(P256.Signing.PrivateKey.self, of: identity)
        return key
    }

    @Test func files_asInTheComments_areImportedAndExported() throws {
        let (file, passphrase) = (TestCertificate.file, SecretValue("pw"))
        let imported = try keys.importItems(SecretValue(file), passphrase: passphrase, tag: "com.example.client")
        let identity = imported.identities.first
        #expect(try exported(#require(identity), passphrase) != nil)
    }

    @Test func signers_asInTheComments_sign() throws {
        let message = Data("message".utf8)
        try keys.save(TestKey.p256, certificate: TestCertificate.renewed, tag: "com.example.signing")
        #expect(try signature(of: message)?.count == 64)
        try signIdentity(#require(try keys.identities().first), message)
    }

    private func signature(of message: Data) throws -> Data? {
        let signer = try keys.signer(tag: "com.example.signing")
        let signature = try signer?.sign(message, using: .es256)
        return signature
    }

    @Test func signer_asInTheOverview_signs() async throws {
        let message = Data("message".utf8)
        try await keys.save(TestKey.p256, tag: "com.example.signing")
        guard let signer = try await keys.signer(tag: "com.example.signing") else { return }
        let signature = try await signer.sign(message, using: .ecdsaSHA256)
        let verifier = try P256.Signing.PublicKey(derRepresentation: signer.publicKey)
        #expect(try verifier.isValidSignature(.init(derRepresentation: signature), for: message))
    }

    private func signIdentity(_ identity: KeychainIdentity, _ message: Data) throws {
        let signer = try keys.signer(of: identity)
        let signature = try signer.sign(message, using: .ecdsaSHA256)
        #expect(signature.count > 64)
        let algorithm = SigningAlgorithm(jwsName: "ES256")
        #expect(algorithm == .es256)
    }

    private func exported(_ identity: KeychainIdentity, _ passphrase: SecretValue) throws -> Data? {
        let file = try keys.exportPKCS12(identity, passphrase: passphrase)
        return file
    }
}
