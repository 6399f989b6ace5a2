// SPDX-License-Identifier: Apache-2.0
// Certificates and identities: saved, found, imported, exported and removed.

import Crypto
import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainKit
import KeychainTestSupport
import Testing

private typealias Signing = P256.Signing.PrivateKey

@Suite("Certificates and identities")
struct CertificateTests {
    private static let passphrase = SecretValue("pw")

    private func keys(_ kind: StoreKind = .memory) throws -> KeyStore { KeyStore(store: try kind.empty()) }

    /// The key with its renewed certificate and the root.
    private func saved(_ kind: StoreKind = .memory, tag: String = "tag") throws -> KeyStore {
        let keys = try keys(kind)
        try keys.save(
            TestKey.p256, certificate: TestCertificate.renewed, chain: [TestCertificate.root], tag: tag, label: "label")
        return keys
    }

    private func fingerprints(_ keys: KeyStore) throws -> [String] {
        try keys.certificates().map(\.certificate.fingerprint)
    }

    // MARK: - Certificates

    @Test(arguments: StoreKind.everywhere)
    func certificate_saved_isListedOnceAndRemoved(kind: StoreKind) throws {
        let (keys, certificate) = (try keys(kind), try TestCertificate.renewed)
        try keys.save(certificate)
        try keys.save(certificate, label: "label")
        let listed = try keys.certificates()
        #expect(listed.map(\.certificate) == [certificate] && listed.map(\.label) == ["label"])
        #expect(try keys.remove(certificate) && !keys.remove(certificate))
        #expect(try keys.certificates().isEmpty)
    }

    @Test func certificate_thatRequiresTheUser_isRemovedWithoutAsking() throws {
        let memory = MemoryStore(passphrase: "pw")
        let keys = KeyStore(store: memory)
        try keys.save(TestCertificate.renewed)
        var changes = Changes()
        changes.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
        try Engine(store: memory).update(Query(.certificate), with: changes, accessGroups: .unrestricted)
        #expect(try keys.remove(TestCertificate.renewed))
        #expect(try KeychainCatalog(store: memory).items([.certificate]).isEmpty)
    }

    @Test func openCertificate_besideALockedOne_isRemoved() throws {
        let memory = MemoryStore()
        var keys = KeyStore(store: memory)
        try keys.save(TestCertificate.renewed)
        keys.accessibility = .whenUnlocked
        try keys.save(TestCertificate.root)
        memory.lockState = .locked
        #expect(try keys.remove(TestCertificate.renewed))
    }

    @Test func certificate_ofTheSameSerialNumber_isDuplicateAndTheOtherStays() throws {
        let keys = try keys(.vault)
        try keys.save(TestCertificate.expired)
        #expect(reason { try keys.save(TestCertificate.reissued) } == .duplicateItem)
        #expect(try !keys.remove(TestCertificate.reissued))
        #expect(try fingerprints(keys) == [TestCertificate.expired.fingerprint])
    }

    /// As by Apple's functions: certificates are public.
    @Test func certificate_withoutAnAccessibility_isAlwaysOpen() throws {
        var keys = KeyStore(accessControl: .userPresence, store: try StoreKind.vault.empty(passphrase: "p"))
        try keys.save(TestCertificate.root)
        #expect(try keys.certificates().map(\.item.accessibility) == [.always])
        keys.accessibility = .afterFirstUnlock
        try keys.save(TestCertificate.root)
        #expect(try keys.certificates().map(\.item.accessibility) == [.afterFirstUnlock])
    }

    @Test func certificate_ofAText_hasItsFields() throws {
        let certificate = try KeychainCertificate(pem: "text\n" + TestCertificate.renewed.pem)
        #expect(try certificate == TestCertificate.renewed && certificate == KeychainCertificate(der: certificate.der))
        #expect(certificate.name == "Client One" && certificate.issuerName == "Test Root")
        #expect(certificate.dnsNames == ["client.example"] && certificate.emailAddresses == ["c@client.example"])
        #expect(certificate.serialNumber.hex == "08" && !certificate.isAuthority)
        #expect(certificate.publicKeyHash.hex == "a30b4ea027c1da5448b14442e74d85d9c5b38b6e")
        #expect(certificate.fingerprint == Data(SHA256.hash(data: certificate.der)).hex)
    }

    @Test(arguments: ["", "text", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"])
    func certificate_ofAnotherText_isUndecodable(text: String) {
        #expect(reason { try KeychainCertificate(pem: text) } == .undecodableInput)
        #expect(reason { try KeychainCertificate(der: Data(text.utf8)) } == .undecodableInput)
    }

    // MARK: - Searches

    private static let newYear = Date(timeIntervalSince1970: 1_718_000_000)
    private static let rootName =
        Data([0x30, 0x14, 0x31, 0x12, 0x30, 0x10, 0x06, 0x03, 0x55, 0x04, 0x03, 0x0C, 0x09])
        + Data("Test Root".utf8)

    /// A search, and what it finds: the root, the expired and the renewed certificate.
    static let searches: [(search: CertificateSearch, found: String)] = [
        (CertificateSearch(), "root expired renewed"), (CertificateSearch(name: "Client One"), "expired renewed"),
        (CertificateSearch(name: "Mine"), "root"), (CertificateSearch(name: "client one"), ""),
        (CertificateSearch(validAt: newYear), "root expired"),
        (CertificateSearch(usage: .clientAuthentication), "root expired renewed"),
        (CertificateSearch(usage: .serverAuthentication), "root"),
        (CertificateSearch(host: "client.example"), "expired renewed"), (CertificateSearch(host: "example"), ""),
        (CertificateSearch(issuers: [rootName]), "root expired renewed"),
        (CertificateSearch(issuers: [Data([0x30, 0])]), ""), (CertificateSearch(issuers: []), ""),
        (CertificateSearch(fingerprint: ""), ""), (CertificateSearch(fingerprint: "zz"), ""),
        (CertificateSearch(name: "Client One", validAt: newYear), "expired"),
    ]

    /// No argument of the test below: its description would trap.
    @Test func search_atATimeThatIsNoNumber_findsNothing() throws {
        let keys = try keys()
        try keys.save(TestCertificate.root)
        let never = Date(timeIntervalSinceReferenceDate: .nan)
        #expect(try keys.certificates(matching: CertificateSearch(validAt: never)).isEmpty)
    }

    @Test(arguments: searches)
    func search_withConditions_findsWhatMeetsAll(row: (search: CertificateSearch, found: String)) throws {
        let keys = try keys()
        let names = try [
            TestCertificate.root: "root", TestCertificate.expired: "expired", TestCertificate.renewed: "renewed",
        ]
        for certificate in names.keys {
            try keys.save(certificate, label: certificate.isAuthority ? "Mine" : nil)
        }
        let found = try keys.certificates(matching: row.search).compactMap { names[$0.certificate] }
        #expect(Set(found) == Set(row.found.split(separator: " ").map(String.init)))
    }

    @Test func search_byFingerprint_takesColonsCapitalsAndTheFirstDigits() throws {
        let (keys, digits) = (try saved(), try TestCertificate.renewed.fingerprint)
        for spelling in [
            digits, digits.uppercased(), String(digits.prefix(8)), "\(digits.prefix(2)):\(digits.dropFirst(2))",
        ] {
            #expect(try keys.certificates(matching: CertificateSearch(fingerprint: spelling)).count == 1)
        }
    }

    // MARK: - Identities

    @Test(arguments: StoreKind.everywhere)
    func identity_saved_isListedWithItsChainAndRead(kind: StoreKind) throws {
        let keys = try saved(kind)
        let identity = try #require(try keys.identities().first)
        #expect(try keys.identities().count == 1 && identity.certificate.certificate == TestCertificate.renewed)
        #expect(try identity.chain == [TestCertificate.renewed, TestCertificate.root])
        #expect(identity.key.tag == "tag" && identity.key.label == "label" && identity.certificate.label == "label")
        #expect(try identity.key.fingerprint == keys.key(tag: "tag")?.fingerprint && identity.key.fingerprint != nil)
        #expect(try keys.read(Signing.self, of: identity)?.data == TestKey.p256Bytes)
        #expect(reason { try keys.read(Curve25519.Signing.PrivateKey.self, of: identity) } == .typeMismatch)
    }

    @Test func identity_whoseHalvesCameApart_isListedOnceBothAreThere() throws {
        let keys = try keys(.vault)
        try keys.save(TestCertificate.renewed)
        #expect(try keys.identities().isEmpty)
        try keys.save(TestKey.p256, tag: "tag")
        try keys.save(Signing(), tag: "other")
        #expect(try keys.identities().map(\.key.tag) == ["tag"])
        #expect(try keys.identities(tag: "other").isEmpty && keys.identities(tag: "tag").count == 1)
    }

    @Test func identities_ofOneKey_beginWithTheNewestCertificate() throws {
        let keys = try saved()
        try keys.save(TestCertificate.expired)
        let serialNumbers = try keys.identities().map(\.certificate.certificate.serialNumber.hex)
        #expect(serialNumbers == ["08", "07"])
        #expect(try keys.identities(matching: CertificateSearch(validAt: Self.newYear)).count == 1)
    }

    @Test func identity_ofAnotherKey_isInvalidAndNothingIsStored() throws {
        let keys = try keys(.vault)
        #expect(
            reason { try keys.save(Signing(), certificate: TestCertificate.renewed, tag: "tag") } == .invalidParameter)
        #expect(try keys.keys().isEmpty && keys.certificates().isEmpty)
    }

    /// The second certificate of the chain is refused after the key and the first were stored.
    @Test func identity_ofWhichOnePartFails_isNotStored() throws {
        let keys = try keys(.vault)
        try keys.save(TestCertificate.expired)
        let failure = reason {
            try keys.save(
                TestKey.p256, certificate: TestCertificate.renewed, chain: [TestCertificate.reissued], tag: "t")
        }
        #expect(failure == .duplicateItem)
        #expect(try keys.keys().isEmpty && fingerprints(keys) == [TestCertificate.expired.fingerprint])
    }

    /// The key's place is taken by another key: the identity that was listed before does not give that one.
    @Test func identity_whoseKeyWasReplaced_isNotRead() throws {
        let keys = try saved(.vault)
        let identity = try #require(try keys.identities().first)
        try keys.save(Signing(), tag: "tag")
        #expect(try keys.read(Signing.self, of: identity) == nil)
        #expect(try keys.exportPKCS12(identity, passphrase: Self.passphrase) == nil)
        #expect(try keys.remove(identity) && keys.contains(tag: "tag"))
    }

    @Test(arguments: StoreKind.everywhere)
    func identity_removed_takesItsKeyWithTheLastCertificate(kind: StoreKind) throws {
        let keys = try saved(kind)
        try keys.save(TestCertificate.expired)
        let identities = try keys.identities()
        #expect(try keys.remove(identities[0]) && keys.contains(tag: "tag"))
        #expect(try !keys.remove(identities[0]) && keys.contains(tag: "tag"))
        #expect(try keys.remove(identities[1]) && !keys.contains(tag: "tag"))
        #expect(try fingerprints(keys) == [TestCertificate.root.fingerprint])
    }

    /// Where the other certificate of the key is.
    @Test(arguments: [("two", false), (nil, true), ("two", true)])
    func identity_removedWhileACertificateOfItIsElsewhere_keepsTheKey(group: String?, isShared: Bool) throws {
        let store = try StoreKind.vault.empty()
        let keys = KeyStore(accessGroup: "default", store: store)
        try keys.save(TestKey.p256, certificate: TestCertificate.renewed, tag: "tag")
        try KeyStore(accessGroup: group, synchronizable: isShared, store: store).save(TestCertificate.expired)
        #expect(try keys.remove(#require(try keys.identities().first)))
        #expect(try keys.identities().isEmpty && keys.contains(tag: "tag"))
    }

    /// The other certificate of the key cannot be opened. It may be the one that the key is needed for.
    @Test func identity_removedBesideADamagedCertificate_staysWithItsKey() throws {
        let vault = try TemporaryVault()
        let keys = KeyStore(store: vault)
        try keys.save(TestKey.p256, certificate: TestCertificate.renewed, tag: "tag")
        try keys.save(TestCertificate.expired)
        try vault.damageLastItem()
        let identities = try keys.identities()
        #expect(try identities.map(\.certificate.certificate) == [TestCertificate.renewed])
        #expect(reason { try keys.remove(#require(identities.first)) } == .corrupt)
        #expect(try keys.identities() == identities)
        #expect(try keys.read(Signing.self, tag: "tag")?.data == TestKey.p256Bytes)
        // Without its certificate, the key stays as well.
        #expect(try keys.remove(TestCertificate.renewed))
        #expect(reason { try keys.identities() } == .corrupt)
        #expect(try keys.contains(tag: "tag"))
    }

    @Test func identities_ofAnEmptyTag_areInvalidAndNotThoseWithoutATag() throws {
        let keys = try keys()
        try keys.importItems(SecretValue(TestCertificate.file), passphrase: Self.passphrase)
        #expect(try keys.identities().count == 1)
        #expect(reason { try keys.identities(tag: "") } == .invalidParameter)
    }

    @Test func identity_thatRequiresTheUser_isListedWithItsFingerprintAndReadAfterAProof() throws {
        var keys = KeyStore(accessControl: .userPresence, store: try StoreKind.vault.empty(passphrase: "p"))
        let person = Person(passphrase: "p")
        keys.context = AuthenticationContext { person }
        try keys.save(TestKey.p256, certificate: TestCertificate.renewed, tag: "tag")
        (keys.context, keys.allowsInteraction) = (AuthenticationContext { nil }, false)
        let identity = try #require(try keys.identities().first)
        #expect(identity.key.requiresAuthentication && identity.key.fingerprint?.hasPrefix("SHA256:") == true)
        #expect(reason { try keys.read(Signing.self, of: identity) } == .interactionNotAllowed)
        (keys.context, keys.allowsInteraction) = (AuthenticationContext { person }, true)
        #expect(try keys.read(Signing.self, of: identity)?.data == TestKey.p256Bytes)
    }

    // MARK: - Files

    private static func pem(_ parts: String...) -> SecretValue {
        SecretValue(parts.joined(separator: "\ntext\n") + "\n")
    }

    @Test(arguments: StoreKind.everywhere)
    func file_ofPKCS12_isStoredOnceHoweverOftenItIsImported(kind: StoreKind) throws {
        let keys = try keys(kind)
        let file = SecretValue(TestCertificate.file)
        let first = try keys.importItems(file, passphrase: Self.passphrase, tag: "tag")
        #expect(first.addedCount == 3 && first.existingCount == 0 && first.identities.count == 1)
        #expect(first.keys.map(\.tag) == ["tag"] && first.identities.first?.certificate.label == "My Client")
        for tag in ["tag", nil] {
            let again = try keys.importItems(file, passphrase: Self.passphrase, tag: tag)
            #expect(again.addedCount == 0 && again.existingCount == 3 && again.identities.count == 1)
        }
        #expect(try keys.identities() == first.identities && keys.certificates().count == 2)
    }

    /// A file that anybody sends must not open what is stored.
    @Test(arguments: [nil, "tag"]) func items_importedAgainWithOtherOptions_stayAsTheyAre(tag: String?) throws {
        let store = try StoreKind.vault.empty()
        let (keys, file) = (KeyStore(accessibility: .whenUnlocked, store: store), SecretValue(TestCertificate.file))
        let before = try keys.importItems(file, passphrase: Self.passphrase, tag: "tag", label: "label")
        let others = KeyStore(accessibility: .always, store: store)
        let after = try others.importItems(file, passphrase: Self.passphrase, tag: tag, label: "other")
        #expect(after.addedCount == 0 && after.existingCount == 3)
        #expect(after.identities == before.identities && after.certificates == before.certificates)
        #expect(try keys.keys() == before.keys && keys.keys().map(\.label) == ["label"])
    }

    @Test func file_ofPEM_isStoredWithItsLabel() throws {
        let keys = try keys(.vault)
        // With the mark that some editors put before a text.
        let text = try Self.pem(
            "\u{FEFF}" + TestKey.p256.pemRepresentation, TestCertificate.root.pem, TestCertificate.renewed.pem)
        let imported = try keys.importItems(text, label: "Mine")
        let identity = try #require(imported.identities.first)
        #expect(identity.key.tag == nil && identity.key.label == "Mine" && identity.certificate.label == "Mine")
        #expect(try keys.certificates().map(\.label).sorted { $0 ?? "" < $1 ?? "" } == ["Mine", "Test Root"])
        #expect(try keys.read(Signing.self, of: identity)?.data == TestKey.p256Bytes)
    }

    /// What is stored before the part that fails is gone.
    @Test func file_ofWhichOnePartIsRefused_isNotStored() throws {
        let keys = try keys(.vault)
        try keys.save(TestCertificate.expired)
        try keys.save(Signing(), tag: "taken")
        let text = try Self.pem(TestKey.p256.pemRepresentation, TestCertificate.root.pem, TestCertificate.reissued.pem)
        #expect(reason { try keys.importItems(text) } == .duplicateItem)
        #expect(reason { try keys.importItems(text, tag: "taken") } == .duplicateItem)
        #expect(try keys.keys().map(\.tag) == ["taken"] && keys.certificates().count == 1)
    }

    /// A file, its passphrase, a tag and a label, and why it is refused.
    private static func refusals() throws -> [(SecretValue, String?, String?, String?, KeychainError.Reason)] {
        let (key, other) = (try TestKey.p256, Signing())
        let (root, file) = (try TestCertificate.root.pem, TestCertificate.file)
        return [
            (SecretValue(file), "wrong", nil, nil, .authenticationFailed),
            (SecretValue(file), nil, nil, nil, .authenticationFailed),
            (SecretValue(file.prefix(500)), "pw", nil, nil, .undecodableInput),
            (SecretValue(try TestCertificate.root.der + TestCertificate.expired.der), nil, nil, nil, .undecodableInput),
            (SecretValue(Data()), nil, nil, nil, .undecodableInput), (pem("text"), nil, nil, nil, .undecodableInput),
            (pem(key.publicKey.pemRepresentation), nil, nil, nil, .unsupported),
            (pem(key.pemRepresentation, key.publicKey.pemRepresentation), nil, nil, nil, .unsupported),
            (pem(key.pemRepresentation, other.pemRepresentation), nil, "tag", nil, .invalidParameter),
            (pem(key.pemRepresentation, other.pemRepresentation), nil, nil, "label", .invalidParameter),
            (pem(root), nil, "tag", nil, .invalidParameter),
            (pem(key.pemRepresentation), nil, "", nil, .invalidParameter),
            (
                pem(root, "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"), nil, nil, nil,
                .undecodableInput
            ),
        ]
    }

    @Test func files_thatCannotBeStored_areRefusedAndNothingIs() throws {
        let keys = try keys()
        for (index, row) in try Self.refusals().enumerated() {
            let (file, passphrase, tag, label, expected) = row
            let failure = reason {
                try keys.importItems(file, passphrase: passphrase.map { SecretValue($0) }, tag: tag, label: label)
            }
            #expect(failure == expected, "row \(index)")
        }
        #expect(try keys.keys().isEmpty && keys.certificates().isEmpty)
    }

    @Test func identity_exported_isImportedAsTheSame() throws {
        let (keys, others) = (try saved(), try keys())
        let identity = try #require(try keys.identities().first)
        #expect(reason { try keys.exportPKCS12(identity, passphrase: SecretValue("")) } == .invalidParameter)
        let file = try #require(try keys.exportPKCS12(identity, passphrase: Self.passphrase))
        let imported = try others.importItems(SecretValue(file), passphrase: Self.passphrase)
        #expect(imported.identities.map(\.chain) == [identity.chain])
        #expect(
            try imported.identities.first.flatMap { try others.read(Signing.self, of: $0)?.data } == TestKey.p256Bytes)
    }

    @Test func calls_withoutBlocking_doTheSame() async throws {
        let keys = try keys()
        try await keys.save(TestCertificate.root)
        try await keys.save(TestKey.p256, certificate: TestCertificate.renewed, tag: "tag")
        let identity = try #require(try await keys.identities().first)
        #expect(try await keys.read(Signing.self, of: identity)?.data == TestKey.p256Bytes)
        #expect(try await keys.certificates().count == 2)
        #expect(try await keys.remove(identity))
        #expect(try await keys.remove(TestCertificate.root))
        let imported = try await keys.importItems(SecretValue(TestCertificate.file), passphrase: Self.passphrase)
        #expect(imported.identities.count == 1)
    }
}
