// SPDX-License-Identifier: Apache-2.0
// Keys that are made in hardware, or in the keychain where there is none.

import Crypto
import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import KeychainTestSupport
import KeychainTesting
import Testing

@Suite("Keys in hardware")
struct HardwareKeyTests {
    private let token = TokenDouble()
    private static let message = Data("message".utf8)

    private func keys(
        _ kind: StoreKind = .memory, accessControl: AccessControl.Flags? = nil, _ person: Person? = nil,
        hasToken: Bool = true
    ) throws -> KeyStore {
        var keys = KeyStore(accessControl: accessControl, store: try kind.empty(passphrase: "p"))
        keys.tokens = KeyTokens()
        if hasToken { try keys.tokens.use(token) }
        if let person { keys.context = AuthenticationContext { person } }
        return keys
    }

    // MARK: - Making

    struct Case: Sendable, CustomTestStringConvertible {
        let type: KeyType
        let protection: KeyProtection
        var hasToken = true
        var failure: KeychainError.Reason?
        var synchronizable = false
        /// `nil`: the reason that is expected.
        let isHardwareBound: Bool?
        var expected: KeychainError.Reason?

        var testDescription: String { "\(type), \(protection), token \(hasToken), \(failure?.description ?? "ready")" }
    }

    static let cases = [
        Case(type: .p256, protection: .hardware, isHardwareBound: true),
        Case(type: .p256, protection: .hardware, hasToken: false, isHardwareBound: nil, expected: .unsupported),
        Case(type: .p256, protection: .hardware, failure: .unavailable, isHardwareBound: nil, expected: .unavailable),
        Case(type: .p384, protection: .hardware, isHardwareBound: nil, expected: .unsupported),
        Case(
            type: .p256, protection: .hardware, synchronizable: true, isHardwareBound: nil, expected: .invalidParameter),
        Case(type: .p256, protection: .hardwareIfAvailable, isHardwareBound: true),
        Case(type: .p256, protection: .hardwareIfAvailable, hasToken: false, isHardwareBound: false),
        Case(type: .p256, protection: .hardwareIfAvailable, failure: .unavailable, isHardwareBound: false),
        Case(
            type: .p256, protection: .hardwareIfAvailable, failure: .corrupt, isHardwareBound: nil, expected: .corrupt),
        Case(type: .ed25519, protection: .hardwareIfAvailable, isHardwareBound: false),
        Case(type: .p256, protection: .hardwareIfAvailable, synchronizable: true, isHardwareBound: false),
        Case(type: .p256, protection: .software, isHardwareBound: false),
        Case(type: .mlDSA65, protection: .software, isHardwareBound: nil, expected: .unsupported),
        Case(type: .p256, protection: .notExportable, isHardwareBound: false),
        Case(type: .p256, protection: .notExportable, hasToken: false, isHardwareBound: false),
        Case(type: .ed25519, protection: .notExportable, isHardwareBound: nil, expected: .unsupported),
        Case(
            type: .p256, protection: .notExportable, synchronizable: true, isHardwareBound: nil,
            expected: .invalidParameter),
    ]

    @Test(arguments: cases) func key_madeInPlace_isWhereItIsAskedForOrNowhere(example: Case) throws {
        var keys = try keys(hasToken: example.hasToken)
        keys.synchronizable = example.synchronizable
        if let reason = example.failure { token.fail(KeychainError(reason, "A token of a test.")) }
        let failure = reason {
            let key = try keys.create(example.type, tag: "tag", label: "Label", protection: example.protection)
            #expect(key.isHardwareBound == example.isHardwareBound && key.type == example.type && key.label == "Label")
            #expect(try keys.key(tag: "tag") == key && key.fingerprint != nil)
            return nil
        }
        #expect(failure == example.expected)
        #expect(try keys.contains(tag: "tag") == (example.expected == nil))
        #expect(token.keyCount == (example.isHardwareBound == true ? 1 : 0))
    }

    @Test func key_ofATagThatIsTaken_isNotMade() throws {
        let keys = try keys()
        let first = try keys.create(.p256, tag: "tag", protection: .hardware)
        for protection in [KeyProtection.hardware, .software, .notExportable] {
            #expect(reason { try keys.create(.p256, tag: "tag", protection: protection) } == .duplicateItem)
        }
        #expect(try keys.keys() == [first] && token.keyCount == 1)
    }

    @Test func key_thatCannotBeStored_isForgottenByItsToken() throws {
        var keys = try keys(accessControl: .biometryAny)
        #expect(reason { try keys.create(.p256, tag: "tag", protection: .hardware) } == .unavailable)
        keys.accessControl = nil
        #expect(token.calls == ["make", "forget"] && token.keyCount == 0)
        #expect(
            try keys.create(.p256, tag: "tag", protection: .hardware).item.accessibility == .whenUnlockedThisDeviceOnly)
    }

    // MARK: - Using

    @Test(arguments: StoreKind.allCases) func key_inHardware_signsAndIsNeverRead(kind: StoreKind) async throws {
        let keys = try keys(kind)
        let key = try await keys.create(.p256, tag: "tag", protection: .hardware)
        let signer = try #require(try await keys.signer(tag: "tag"))
        #expect(key.tokenIdentifier == "double" && signer.key == key && signer.type == .p256)
        #expect(signer.algorithms.count == 4)
        for algorithm in signer.algorithms {
            let signature = try await signer.sign(Self.message, using: algorithm)
            #expect(try signer.publicHalf.isValidSignature(signature, for: Self.message, algorithm.content))
        }
        let failure = failure { try keys.read(P256.Signing.PrivateKey.self, tag: "tag") }
        #expect(failure?.reason == .unsupported && failure?.message.contains("hardware") == true)
        #expect(reason { try keys.read(P384.Signing.PrivateKey.self, tag: "tag") } == .typeMismatch)
        #expect(reason { try keys.privateKey(tag: "tag") } == .unsupported)
        #expect(try keys.publicKey(tag: "tag") == signer.publicHalf)
        #expect(try await keys.keys() == [key])
    }

    @Test func secret_sharedWithAKeyInHardware_isThatOfTheOtherSide() throws {
        let (keys, peer) = (try keys(), P256.KeyAgreement.PrivateKey())
        for protection in [KeyProtection.hardware, .software, .notExportable] {
            let tag = protection.description
            try keys.create(.p256, tag: tag, protection: protection)
            let signer = try #require(try keys.signer(tag: tag))
            let own = try P256.KeyAgreement.PublicKey(derRepresentation: signer.publicKey)
            let expected = try peer.sharedSecretFromKeyAgreement(with: own).withUnsafeBytes { Data($0) }
            let secret = try #require(try keys.sharedSecret(tag: tag, with: peer.publicKey))
            #expect(secret.withUnsafeBytes { Data($0) } == expected)
        }
        #expect(try keys.sharedSecret(tag: "none", with: peer.publicKey) == nil)
        try keys.create(.p384, tag: "other", protection: .software)
        #expect(reason { try keys.sharedSecret(tag: "other", with: peer.publicKey) } == .typeMismatch)
    }

    @Test(arguments: StoreKind.allCases) func user_isAskedOnlyWhenTheKeyIsUsed(kind: StoreKind) throws {
        let person = Person(passphrase: "p")
        var keys = try keys(kind, accessControl: .userPresence, person)
        try keys.create(.p256, tag: "tag", protection: .hardware)
        let signer = try #require(try keys.signer(tag: "tag"))
        #expect(try keys.keys().first?.fingerprint != nil && keys.key(tag: "tag")?.requiresAuthentication == true)
        #expect(person.questions.isEmpty)
        #expect(try !signer.sign(Self.message, using: .es256).isEmpty && person.questions.count == 1)
        keys.context = AuthenticationContext { nil }
        let another = try #require(try keys.signer(tag: "tag"))
        #expect(reason { try another.sign(Self.message, using: .es256) } == .interactionNotAllowed)
    }

    @Test func program_withoutTheToken_listsTheKeyAndDoesNotSign() throws {
        var keys = try keys()
        let key = try keys.create(.p256, tag: "tag", protection: .hardware)
        keys.tokens = KeyTokens()
        #expect(try keys.keys() == [key])
        let signer = try #require(try keys.signer(tag: "tag"))
        #expect(reason { try signer.sign(Self.message, using: .es256) } == .unsupported)
    }

    // MARK: - Identities

    @Test func identity_whoseKeyIsInHardware_signsAndIsNotExported() throws {
        let keys = try keys(.vault)
        try token.plant(TestKey.p256Bytes)
        try keys.create(.p256, tag: "tag", protection: .hardware)
        try keys.save(TestCertificate.renewed)
        let identity = try #require(try keys.identities(tag: "tag").first)
        let signer = try keys.signer(of: identity)
        let signature = try signer.sign(Self.message, using: .es256)
        #expect(try signer.publicHalf.isValidSignature(signature, for: Self.message, SigningAlgorithm.es256.content))
        #expect(reason { try keys.exportPKCS12(identity, passphrase: SecretValue("p")) } == .unsupported)
        #expect(reason { try keys.read(P256.Signing.PrivateKey.self, of: identity) } == .unsupported)
        #expect(try keys.remove(identity) && token.keyCount == 0)
    }

    // MARK: - Afterwards

    @Test(arguments: StoreKind.allCases) func key_replacedOrRemoved_isForgottenAndItsSignerEnds(kind: StoreKind) throws
    {
        let keys = try keys(kind)
        try keys.create(.p256, tag: "tag", label: "Label", protection: .hardware)
        let signer = try #require(try keys.signer(tag: "tag"))
        let software = P256.Signing.PrivateKey()
        try keys.save(software, tag: "tag")
        #expect(token.keyCount == 0)
        #expect(reason { try signer.sign(Self.message, using: .es256) } == .itemNotFound)
        let stored = try #require(try keys.key(tag: "tag"))
        #expect(!stored.isHardwareBound && stored.label == "Label")
        #expect(stored.item.accessibility == .whenUnlockedThisDeviceOnly)
        #expect(
            try keys.read(P256.Signing.PrivateKey.self, tag: "tag")?.rawRepresentation == software.rawRepresentation)
        try keys.create(.p256, tag: "other", protection: .hardware)
        #expect(try keys.remove(tag: "other") && token.keyCount == 0)
    }

    /// The key in software is added after the one in hardware was removed.
    @Test(arguments: StoreKind.allCases) func removal_thatIsRolledBack_leavesTheKeyOnItsToken(kind: StoreKind) throws {
        let store = ScriptedStore(over: try kind.empty(passphrase: "p"))
        var keys = KeyStore(store: store)
        keys.tokens = KeyTokens()
        try keys.tokens.use(token)
        try keys.create(.p256, tag: "tag", protection: .hardware)
        store.fail(.inputOutput, on: [.insert])
        #expect(reason { try keys.save(P256.Signing.PrivateKey(), tag: "tag") } == .inputOutput)
        #expect(store.calls.contains { $0.kind == .delete } && token.keyCount == 1)
        #expect(try keys.signer(tag: "tag")?.sign(Self.message, using: .es256).isEmpty == false)
    }
}
