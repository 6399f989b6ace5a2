// SPDX-License-Identifier: Apache-2.0
// The items of keys, as the functions of Keychain Services see them and make them.

import Crypto
import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainKit
@_spi(Wrappers) import KeychainSecItem
import KeychainServices
import Testing

@Suite("Keys and the functions of Keychain Services")
struct SameRowsTests {
    private let store = MemoryStore()
    private let keys: KeyStore
    private let functions: SecItemFunctions

    init() throws {
        keys = KeyStore(store: store)
        functions = try .over(store, accessGroups: nil)
    }

    private func found(_ entries: [CFString: Any]) throws -> [String: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecReturnAttributes: true, kSecReturnData: true,
            kSecMatchLimit: kSecMatchLimitOne,
        ]
        query.merge(entries) { $1 }
        var result: CFTypeRef?
        try #require(functions.copyMatching(query as CFDictionary, &result) == errSecSuccess)
        return try #require(result as? [String: Any])
    }

    private func add(_ key: Data, _ size: Int?, tag: String) -> OSStatus {
        var entries: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrApplicationTag: Data(tag.utf8), kSecValueData: key,
        ]
        entries[kSecAttrKeySizeInBits] = size
        // Without it the second would be a duplicate; Apple's functions compute it from an object.
        entries[kSecAttrApplicationLabel] = Data(key.prefix(20))
        return functions.add(entries as CFDictionary, nil)
    }

    @Test func key_saved_isFoundByTagAndTypeWithApplesAttributes() throws {
        try keys.save(TestKey.p256, tag: "tag", label: "label")
        let row = try found([
            kSecAttrApplicationTag: Data("tag".utf8), kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        ])
        #expect(row["kcls"] as? Int == 1 && row["type"] as? Int == 73)
        #expect(row["bsiz"] as? Int == 256 && row["esiz"] as? Int == 256)
        #expect((row["klbl"] as? Data)?.hex == "a30b4ea027c1da5448b14442e74d85d9c5b38b6e")
        #expect(row["atag"] as? Data == Data("tag".utf8) && row["labl"] as? String == "label")
        #expect(row["priv"] as? Int == 1 && row["sign"] as? Int == 1 && row["extr"] as? Int == 1)
        #expect(row["v_Data"] as? Data == TestKey.p256Bytes)
    }

    @Test func certificate_saved_hasTheAttributesThatTheFunctionsGiveIt() throws {
        let certificate = try TestCertificate.renewed
        let object = try #require(SecCertificateCreateWithData(nil, certificate.der as CFData))
        #expect(functions.add([kSecValueRef: object] as CFDictionary, nil) == errSecSuccess)
        let added = try found([kSecClass: kSecClassCertificate])
        #expect(try keys.remove(certificate))
        try keys.save(certificate)
        let saved = try found([kSecClass: kSecClassCertificate])
        for name in ["ctyp", "cenc", "issr", "subj", "slnr", "skid", "pkhh", "labl", "pdmn", "v_Data"] {
            #expect(added[name] != nil && added[name] as? AnyHashable == saved[name] as? AnyHashable, "\(name)")
        }
    }

    /// Seeds are not what Apple's functions take for the bytes of such keys, so the rows say so.
    @Test func seed_saved_namesItsRepresentation() throws {
        try keys.save(MLDSA65.PrivateKey(), tag: "tag")
        let row = try found([kSecAttrApplicationTag: "tag"])
        #expect(row["type"] as? Int == 111 && row["bsiz"] as? Int == 65 && row["alis"] as? String == "ml-dsa-65 seed")
        try keys.save(TestKey.p256, tag: "tag")
        #expect(try found([kSecAttrApplicationTag: "tag"])["alis"] as? String == "")
    }

    @Test(arguments: [256, nil]) func key_addedByTheFunctions_isRead(size: Int?) throws {
        #expect(add(TestKey.p256Bytes, size, tag: "tag") == errSecSuccess)
        #expect(try keys.read(P256.Signing.PrivateKey.self, tag: "tag")?.data == TestKey.p256Bytes)
    }

    @Test func key_addedWithOtherBytes_isTypeMismatchAndListed() throws {
        for (tag, bytes) in [("one", Data("no key".utf8)), ("two", TestKey.p256Bytes.dropLast()), ("three", Data())] {
            #expect(add(bytes, 256, tag: tag) == errSecSuccess)
            #expect(reason { try keys.read(P256.Signing.PrivateKey.self, tag: tag) } == .typeMismatch)
            #expect(try keys.key(tag: tag)?.fingerprint == nil)
        }
        #expect(try keys.keys().count == 3)
    }

    // MARK: - Several keys of one tag

    private func addTwo() throws -> (P256.Signing.PrivateKey, P384.Signing.PrivateKey) {
        let (one, two) = (P256.Signing.PrivateKey(), P384.Signing.PrivateKey())
        try #require(add(one.x963Representation, 256, tag: "tag") == errSecSuccess)
        try #require(add(two.x963Representation, 384, tag: "tag") == errSecSuccess)
        return (one, two)
    }

    @Test func twoKeys_ofOneTag_areReadByType() throws {
        let (one, two) = try addTwo()
        #expect(try keys.read(P256.Signing.PrivateKey.self, tag: "tag")?.data == one.data)
        #expect(try keys.read(P384.Signing.PrivateKey.self, tag: "tag")?.data == two.data)
        #expect(reason { try keys.read(P521.Signing.PrivateKey.self, tag: "tag") } == .duplicateItem)
        #expect(reason { try keys.key(tag: "tag") } == .duplicateItem)
    }

    @Test func twoKeys_ofOneTag_areNotReplaced() throws {
        let (one, two) = try addTwo()
        #expect(reason { try keys.save(P256.Signing.PrivateKey(), tag: "tag") } == .duplicateItem)
        #expect(try keys.read(P256.Signing.PrivateKey.self, tag: "tag")?.data == one.data)
        #expect(try keys.read(P384.Signing.PrivateKey.self, tag: "tag")?.data == two.data)
    }

    @Test func twoKeys_ofOneTag_areRemovedTogether() throws {
        _ = try addTwo()
        #expect(try keys.remove(tag: "tag"))
        #expect(try keys.keys().isEmpty)
    }

    // MARK: - Public halves

    private func publicHalf(_ key: P256.Signing.PrivateKey, _ label: Data) -> [CFString: Any] {
        [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPublic,
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits: 256, kSecAttrApplicationTag: "tag", kSecAttrApplicationLabel: label,
            kSecValueData: key.publicKey.x963Representation,
        ]
    }

    @Test func publicHalf_ofAReplacedKey_isRemovedAndThatOfTheSameKeyStays() throws {
        let key = P256.Signing.PrivateKey()
        try keys.save(key, tag: "tag")
        let label = try #require(try keys.key(tag: "tag")?.applicationLabel)
        #expect(functions.add(publicHalf(key, label) as CFDictionary, nil) == errSecSuccess)
        let query = [kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPublic] as CFDictionary
        try keys.save(key, tag: "tag", label: "label")
        #expect(functions.copyMatching(query, nil) == errSecSuccess)
        #expect(try keys.keys().count == 1)
        try keys.save(P256.Signing.PrivateKey(), tag: "tag")
        #expect(functions.copyMatching(query, nil) == errSecItemNotFound)
    }

    // MARK: - Certificates

    private func row(of query: [CFString: Any]) -> NSDictionary? {
        var result: CFTypeRef?
        let returned: [CFString: Any] = [kSecReturnAttributes: true, kSecReturnData: true]
        _ = functions.copyMatching(query.merging(returned) { $1 } as CFDictionary, &result)
        // What differs with every item.
        let varying = ["cdat", "mdat", "sha1", "UUID", "musr"]
        return (result as? [String: Any])?.filter { !varying.contains($0.key) } as NSDictionary?
    }

    /// The objects of the functions and the typed interface store one item: all attributes are equal but dates and digest.
    @Test func certificateAndKey_ofBothInterfaces_areTheSameItems() throws {
        let certificate = try TestCertificate.renewed
        let object = try #require(SecCertificateCreateWithData(nil, certificate.der as CFData))
        let query: [CFString: Any] = [kSecClass: kSecClassCertificate]
        #expect(functions.add([kSecValueRef: object] as CFDictionary, nil) == errSecSuccess)
        let theirs = row(of: query)
        try keys.save(certificate)
        #expect(try keys.certificates().count == 1 && keys.remove(certificate))
        try keys.save(certificate)
        #expect(functions.add([kSecValueRef: object] as CFDictionary, nil) == errSecDuplicateItem)
        let ours = row(of: query)
        #expect(theirs != nil && theirs == ours, "\(String(describing: theirs)) \(String(describing: ours))")
    }

    @Test func identity_ofObjectsThatTheFunctionsStored_isFound() throws {
        let object = try #require(SecCertificateCreateWithData(nil, TestCertificate.renewed.der as CFData))
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        ]
        let key = try #require(SecKeyCreateWithData(TestKey.p256Bytes as CFData, attributes as CFDictionary, nil))
        for object in [object, key] as [NSObject] {
            #expect(functions.add([kSecValueRef: object] as CFDictionary, nil) == errSecSuccess)
        }
        let identity = try #require(try keys.identities().first)
        #expect(try keys.read(P256.Signing.PrivateKey.self, of: identity)?.data == TestKey.p256Bytes)
        let again = try keys.importItems(SecretValue(TestCertificate.file), passphrase: SecretValue("pw"))
        #expect(again.addedCount == 1 && again.existingCount == 2)
    }
}
