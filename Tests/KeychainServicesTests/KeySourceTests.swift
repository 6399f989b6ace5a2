// SPDX-License-Identifier: Apache-2.0
// Code in the manner of libraries that use keys on Apple's platforms: it has to compile and work as it stands.

import Foundation
import Security
import Testing

/// The shared keychain is used as such code uses it; each test has a tag of its own and removes its keys.
@Suite("Source compatibility: keys")
struct KeySourceTests {
    private let tag = "swift-keychain.tests.\(UUID().uuidString)"

    @Test func manager_ofAPairInTheKeychain_makesFindsSignsAndDeletes() throws {
        let manager = PairManager(tag: tag)
        defer { manager.delete() }
        #expect(try manager.privateKey() == nil)
        let pair = try manager.generate()
        #expect(try manager.privateKey() == pair.private)
        let digest = Data(repeating: 1, count: 32)
        let signature = try manager.sign(digest)
        #expect(try manager.verify(signature, of: digest))
        #expect(throws: (any Error).self) { try manager.verify(signature, of: Data(repeating: 2, count: 32)) }
        manager.delete()
        #expect(try manager.privateKey() == nil)
    }

    @Test func client_thatImportsAPublicKeyByPutting_itIntoTheKeychain_getsAnObject() throws {
        let bytes = try TestKey.rsa1024.publicBytes()
        let key = try #require(try ImportingClient(tag: tag).publicKey(bytes))
        #expect(try key == TestKey.rsa1024.publicKey())
    }

    @Test func client_ofWebTokens_asksWhatAKeyIsAndCan() throws {
        let client = TokenClient(key: try TestKey.p256.privateKey())
        #expect(client.algorithm == .ecdsaSignatureMessageRFC4754SHA256)
        #expect(try client.components().x.count == 32)
        #expect(try client.signature(of: Data("header.payload".utf8)).count == 64)
    }

    @Test func failure_ofAClient_isAnErrorOfTheRightDomain() throws {
        let failure = #expect(throws: NSError.self) {
            try TokenClient(key: TestKey.rsa1024.publicKey()).signature(of: Data())
        }
        #expect(failure?.domain == NSOSStatusErrorDomain && failure?.code == Int(errSecParam))
    }
}

// MARK: - Three manners of using keys

// Such code unwraps what cannot be absent, and casts what it has checked.
// swift-format-ignore: NeverForceUnwrap
private struct PairManager {
    struct Failure: Error { let status: OSStatus }

    let tag: String

    private var query: [String: Any] {
        [
            kSecClass as String: kSecClassKey,
            kSecAttrApplicationTag as String: tag.data(using: .utf8)!,
            kSecAttrKeyClass as String: kSecAttrKeyClassPrivate,
            kSecReturnRef as String: true,
        ]
    }

    func generate() throws -> (public: SecKey, private: SecKey) {
        let access = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [], nil)!
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits as String: 256,
            kSecPrivateKeyAttrs as String: [
                kSecAttrIsPermanent as String: true,
                kSecAttrApplicationTag as String: tag.data(using: .utf8)!,
                kSecAttrAccessControl as String: access,
            ] as [String: Any],
        ]
        var error: Unmanaged<CFError>?
        guard let privateKey = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
            throw error!.takeRetainedValue() as any Error
        }
        return (SecKeyCopyPublicKey(privateKey)!, privateKey)
    }

    func privateKey() throws -> SecKey? {
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, CFGetTypeID(item) == SecKeyGetTypeID() else { throw Failure(status: status) }
        return (item as! SecKey)
    }

    func sign(_ digest: Data) throws -> Data {
        let key = try privateKey()!
        var error: Unmanaged<CFError>?
        let algorithm = SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256
        guard SecKeyIsAlgorithmSupported(key, .sign, algorithm),
            let signature = SecKeyCreateSignature(key, algorithm, digest as CFData, &error) as Data?
        else { throw error!.takeRetainedValue() as any Error }
        return signature
    }

    func verify(_ signature: Data, of digest: Data) throws -> Bool {
        let key = SecKeyCopyPublicKey(try privateKey()!)!
        var error: Unmanaged<CFError>?
        let algorithm = SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256
        guard SecKeyVerifySignature(key, algorithm, digest as CFData, signature as CFData, &error) else {
            throw error!.takeRetainedValue() as any Error
        }
        return true
    }

    func delete() {
        SecItemDelete(
            [kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: Data(tag.utf8)] as CFDictionary)
    }
}

private struct ImportingClient {
    let tag: String

    /// Stores the bytes, reads the object, and removes the item.
    func publicKey(_ bytes: Data) throws -> SecKey? {
        let query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrApplicationTag: Data(tag.utf8),
            kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        defer { SecItemDelete(query as CFDictionary) }
        var persistentKey: CFTypeRef?
        let item = query.merging([kSecValueData: bytes, kSecReturnPersistentRef: true]) { $1 }
        guard SecItemAdd(item as CFDictionary, &persistentKey) == errSecSuccess, persistentKey != nil else {
            return nil
        }
        var result: AnyObject?
        let search = query.merging([kSecReturnRef: kCFBooleanTrue as Any]) { $1 }
        guard SecItemCopyMatching(search as CFDictionary, &result) == noErr else { return nil }
        return result as? SecKey
    }
}

// swift-format-ignore: NeverForceUnwrap
private struct TokenClient {
    let key: SecKey

    var algorithm: SecKeyAlgorithm? {
        guard let attributes = SecKeyCopyAttributes(key) as? [CFString: Any],
            let type = attributes[kSecAttrKeyType] as? String, type == kSecAttrKeyTypeECSECPrimeRandom as String
        else { return nil }
        return switch attributes[kSecAttrKeySizeInBits] as? Int {
        case 256: .ecdsaSignatureMessageRFC4754SHA256
        case 384: .ecdsaSignatureMessageRFC4754SHA384
        default: nil
        }
    }

    func components() throws -> (x: Data, y: Data) {
        var error: Unmanaged<CFError>?
        guard let publicKey = SecKeyCopyPublicKey(key),
            let bytes = SecKeyCopyExternalRepresentation(publicKey, &error) as Data?
        else { throw error!.takeRetainedValue() as any Error }
        let length = (bytes.count - 1) / 2
        return (bytes.dropFirst().prefix(length), bytes.suffix(length))
    }

    func signature(of message: Data) throws -> Data {
        var error: Unmanaged<CFError>?
        guard
            let signature = SecKeyCreateSignature(
                key, algorithm ?? .ecdsaSignatureMessageRFC4754SHA256, message as CFData, &error)
        else { throw error!.takeRetainedValue() }
        return signature as Data
    }
}
