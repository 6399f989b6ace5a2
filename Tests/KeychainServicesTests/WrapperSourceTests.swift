// SPDX-License-Identifier: Apache-2.0
// Code in the manner of keychain wrappers for Apple's platforms: it has to compile and work as it stands.

import Foundation
import KeychainServices
import Testing

/// The shared keychain is used as such code uses it; each test has a service of its own and removes it.
@Suite("Source compatibility")
struct WrapperSourceTests {
    private let service = "swift-keychain.tests.\(UUID().uuidString)"

    @Test func wrapper_withSwiftDictionaries_savesReadsUpdatesAndDeletes() throws {
        let wrapper = SwiftDictionaryWrapper(service: service)
        defer { wrapper.removeAll() }
        #expect(wrapper.read("alice") == nil)
        #expect(wrapper.save(secret, for: "alice"))
        #expect(wrapper.save(otherSecret, for: "alice"))
        #expect(wrapper.read("alice") == otherSecret)
        #expect(wrapper.accounts() == ["alice"])
        wrapper.removeAll()
        #expect(wrapper.read("alice") == nil)
    }

    @Test func wrapper_withStringToObjectDictionaries_savesAndReads() {
        let wrapper = ObjectDictionaryWrapper(service: service)
        #expect(wrapper.set("token", forKey: "key") == noErr)
        #expect(wrapper.string(forKey: "key") == "token")
        #expect(wrapper.delete("key") == noErr)
        #expect(wrapper.delete("key") == errSecItemNotFound)
    }

    @Test func wrapper_withCFStringKeysAndThrows_namesTheFailure() throws {
        let wrapper = ThrowingWrapper(service: service)
        try wrapper.add("alice", secret)
        defer { wrapper.remove("alice") }
        let failure = #expect(throws: ThrowingWrapper.Failure.self) { try wrapper.add("alice", secret) }
        #expect(failure?.status == errSecDuplicateItem)
        #expect(failure?.errorDescription == "The specified item already exists in the keychain.")
        #expect(try wrapper.item("alice").secret == secret)
        #expect(try wrapper.item("alice").created.timeIntervalSinceNow < 1)
        #expect(try wrapper.item("alice").isSynchronizable == false)
    }

    @Test func accessControl_madeWithoutAnErrorVariable_isTakenByAnAddition() throws {
        let control = try #require(
            SecAccessControlCreateWithFlags(kCFAllocatorDefault, kSecAttrAccessibleAfterFirstUnlock, [], nil))
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccessControl as String: control as Any,
            kSecUseDataProtectionKeychain as String: kCFBooleanTrue!,
        ]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        let found = query.filter { $0.key != kSecAttrAccessControl as String }
        #expect(SecItemDelete(found as CFDictionary) == errSecSuccess)
    }

    @Test func accessControl_thatCannotBeMade_handsOverAnError() throws {
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [.or, .and], &error)
        #expect(control == nil)
        let retained = try #require(error?.takeRetainedValue())
        #expect(CFErrorGetCode(retained) == Int(errSecParam))
        #expect(CFErrorGetDomain(retained) as String == NSOSStatusErrorDomain)
        #expect((retained as any Error as NSError).code == Int(errSecParam))
    }
}

// MARK: - Three manners of writing a wrapper

private struct SwiftDictionaryWrapper {
    let service: String

    private func query(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }

    func save(_ data: Data, for account: String) -> Bool {
        var query = query(account)
        let status = SecItemUpdate(query as CFDictionary, [kSecValueData as String: data] as CFDictionary)
        guard status == errSecItemNotFound else { return status == errSecSuccess }
        query[kSecValueData as String] = data
        query[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlocked
        return SecItemAdd(query as CFDictionary, nil) == errSecSuccess
    }

    func read(_ account: String) -> Data? {
        var query = query(account)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: AnyObject?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return result as? Data
    }

    func accounts() -> [String] {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecReturnAttributes as String: true, kSecMatchLimit as String: kSecMatchLimitAll,
        ]
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess,
            let items = result as? [[String: Any]]
        else { return [] }
        return items.compactMap { $0[kSecAttrAccount as String] as? String }
    }

    func removeAll() {
        SecItemDelete(
            [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecMatchLimit: kSecMatchLimitAll]
                as CFDictionary)
    }
}

private struct ObjectDictionaryWrapper {
    let service: String

    private func query(_ key: String) -> [String: AnyObject] {
        var query = [String: AnyObject]()
        query[kSecClass as String] = kSecClassGenericPassword
        query[kSecAttrService as String] = service as NSString
        query[kSecAttrAccount as String] = key as NSString
        return query
    }

    func set(_ text: String, forKey key: String) -> OSStatus {
        var query = query(key)
        query[kSecValueData as String] = Data(text.utf8) as NSData
        var result: AnyObject?
        return withUnsafeMutablePointer(to: &result) { SecItemAdd(query as CFDictionary, UnsafeMutablePointer($0)) }
    }

    func string(forKey key: String) -> String? {
        var query = query(key)
        query[kSecReturnData as String] = kCFBooleanTrue
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: AnyObject?
        let status = withUnsafeMutablePointer(to: &result) {
            SecItemCopyMatching(query as CFDictionary, UnsafeMutablePointer($0))
        }
        guard status == noErr, let data = result as? Data else { return nil }
        return String(data: data, encoding: .utf8)
    }

    func delete(_ key: String) -> OSStatus {
        SecItemDelete(query(key) as CFDictionary)
    }
}

private struct ThrowingWrapper {
    struct Failure: LocalizedError {
        let status: OSStatus
        var errorDescription: String? { SecCopyErrorMessageString(status, nil) as String? }
    }

    struct Item {
        let secret: Data
        let created: Date
        let isSynchronizable: Bool
    }

    let service: String

    private func query(_ account: String) -> [CFString: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
    }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw Failure(status: status) }
    }

    func add(_ account: String, _ data: Data) throws {
        let item = query(account).merging([kSecValueData: data, kSecReturnPersistentRef: true]) { $1 }
        var reference: CFTypeRef?
        try check(SecItemAdd(item as CFDictionary, &reference))
        guard reference is Data else { throw Failure(status: errSecInternalError) }
    }

    func item(_ account: String) throws -> Item {
        // The constants are implicitly unwrapped, as Apple's are, and such code unwraps them.
        // swift-format-ignore: NeverForceUnwrap
        let returns: [CFString: Any] = [kSecReturnData: kCFBooleanTrue!, kSecReturnAttributes: kCFBooleanTrue!]
        var result: CFTypeRef?
        try check(SecItemCopyMatching(query(account).merging(returns) { $1 } as CFDictionary, &result))
        guard let item = result as? NSDictionary, let data = item[kSecValueData] as? Data,
            let created = item[kSecAttrCreationDate] as? Date, let flag = item[kSecAttrSynchronizable] as? Bool
        else { throw Failure(status: errSecDecode) }
        return Item(secret: data, created: created, isSynchronizable: flag)
    }

    func remove(_ account: String) {
        SecItemDelete(query(account) as CFDictionary)
    }
}
