// SPDX-License-Identifier: Apache-2.0
// Code in the manner of wrappers that ask for the user: it has to compile and work as it stands.

import Foundation
import LocalAuthentication
import Security
import Testing

/// The shared keychain is used as such code uses it. It has no passphrase, so what protects items is a password of the
/// program.
@Suite("Source compatibility: authentication")
struct AuthenticationSourceTests {
    private let service = "swift-keychain.tests.\(UUID().uuidString)"

    @Test func wrapper_withOneContextForAllReads_savesReadsAndForgets() throws {
        let store = ContextStore(service: service, password: "app password")
        defer { store.remove() }
        #expect(store.save(secret) == errSecSuccess)
        #expect(store.isThere())
        #expect(try store.read(prompt: "Show your notes") == secret)
        store.askNextTime()
        #expect(throws: ContextStore.Failure.authenticationNeeded) { try store.read(prompt: "Show your notes") }
        #expect(store.isThere())
    }

    @Test func wrapper_builtFromValues_replacesAnItemWithoutAsking() throws {
        let context = LAContext()
        context.setCredential(Data("app password".utf8), type: .applicationPassword)
        let builder = ChainedKeychain(service: service)
            .accessibility(kSecAttrAccessibleAfterFirstUnlock, flags: [.applicationPassword])
            .authenticationPrompt("Change your notes").authenticationContext(context)
        try builder.set(secret, key: "notes")
        try builder.set(otherSecret, key: "notes")
        #expect(try builder.data("notes") == otherSecret)
        #expect(try builder.contains("notes", withoutAuthenticationUI: true))
        #expect(try ChainedKeychain(service: service).contains("notes", withoutAuthenticationUI: true))
        try builder.remove("notes")
        #expect(try builder.contains("notes") == false)
    }

    @Test func wrapper_thatAsksForTheOwnerWherePossible_isToldThatThereIsNoPassphrase() async throws {
        let gate = OwnerGate()
        #expect(gate.bestPolicy() == nil)
        #expect(await gate.unlock() == .noPasscode)
        let replied = await withCheckedContinuation { continuation in
            gate.unlock { continuation.resume(returning: $0) }
        }
        #expect(replied == .noPasscode)
    }

    @Test func wrapper_thatWantsTheUserPresent_isToldThatThereIsNoPassphrase() {
        let keychain = ChainedKeychain(service: service).accessibility(
            kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags: .userPresence)
        let failure = #expect(throws: ChainedKeychain.Status.self) { try keychain.set(secret, key: "notes") }
        #expect(failure?.status == errSecNotAvailable)
    }
}

// MARK: - Three manners of writing a wrapper

/// One context is kept and given to every read, until the next one shall ask again.
private final class ContextStore {
    enum Failure: Error, Equatable { case notFound, cancelled, authenticationNeeded, other(OSStatus) }

    private let service: String
    private var context = LAContext()

    init(service: String, password: String) {
        self.service = service
        context.setCredential(password.data(using: .utf8), type: .applicationPassword)
    }

    private var query: [String: Any] {
        [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service]
    }

    func save(_ data: Data) -> OSStatus {
        let control = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .applicationPassword, nil)
        var item = query
        item[kSecAttrAccessControl as String] = control
        item[kSecUseAuthenticationContext as String] = context
        item[kSecValueData as String] = data
        return SecItemAdd(item as CFDictionary, nil)
    }

    func read(prompt: String) throws -> Data {
        var query = query
        context.localizedReason = prompt
        query[kSecUseAuthenticationContext as String] = context
        query[kSecReturnData as String] = true
        var result: AnyObject?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        switch status {
        case errSecSuccess: return (result as? Data) ?? Data()
        case errSecItemNotFound: throw Failure.notFound
        case errSecUserCanceled: throw Failure.cancelled
        case errSecAuthFailed, errSecInteractionNotAllowed: throw Failure.authenticationNeeded
        default: throw Failure.other(status)
        }
    }

    func isThere() -> Bool {
        let silent = LAContext()
        silent.interactionNotAllowed = true
        var query = query
        query[kSecUseAuthenticationContext as String] = silent
        let status = SecItemCopyMatching(query as CFDictionary, nil)
        return status == errSecSuccess || status == errSecInteractionNotAllowed
    }

    func askNextTime() {
        context.invalidate()
        context = LAContext()
    }

    func remove() { SecItemDelete(query as CFDictionary) }
}

/// Options are collected by chaining, and written into each dictionary.
private struct ChainedKeychain {
    struct Status: Error { let status: OSStatus }

    let service: String
    private var protection: (CFString, SecAccessControlCreateFlags)?
    private var prompt: String?
    private var context: LAContext?

    init(service: String) { self.service = service }

    func accessibility(_ accessibility: CFString, flags: SecAccessControlCreateFlags) -> ChainedKeychain {
        var copy = self
        copy.protection = (accessibility, flags)
        return copy
    }

    func authenticationPrompt(_ prompt: String) -> ChainedKeychain {
        var copy = self
        copy.prompt = prompt
        return copy
    }

    func authenticationContext(_ context: LAContext) -> ChainedKeychain {
        var copy = self
        copy.context = context
        return copy
    }

    private func query(_ key: String, isSilent: Bool = false) -> [String: Any] {
        var query: [String: Any] = [
            String(kSecClass): kSecClassGenericPassword, String(kSecAttrService): service,
            String(kSecAttrAccount): key,
        ]
        if let prompt { query[String(kSecUseOperationPrompt)] = prompt }
        if let context { query[String(kSecUseAuthenticationContext)] = context }
        if isSilent { query[String(kSecUseAuthenticationUI)] = kSecUseAuthenticationUIFail }
        return query
    }

    private func attributes(_ value: Data) throws -> [String: Any] {
        var attributes: [String: Any] = [String(kSecValueData): value]
        guard let (accessibility, flags) = protection else { return attributes }
        var error: Unmanaged<CFError>?
        guard let control = SecAccessControlCreateWithFlags(kCFAllocatorDefault, accessibility, flags, &error) else {
            throw error?.takeRetainedValue() ?? NSError(domain: "wrapper", code: 0)
        }
        attributes[String(kSecAttrAccessControl)] = control
        return attributes
    }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw Status(status: status) }
    }

    func set(_ value: Data, key: String) throws {
        switch SecItemCopyMatching(query(key, isSilent: true) as CFDictionary, nil) {
        case errSecSuccess, errSecInteractionNotAllowed:
            try check(SecItemUpdate(query(key) as CFDictionary, attributes(value) as CFDictionary))
        case errSecItemNotFound:
            let item = try query(key).merging(attributes(value)) { $1 }
            try check(SecItemAdd(item as CFDictionary, nil))
        case let status: try check(status)
        }
    }

    func data(_ key: String) throws -> Data? {
        var query = query(key)
        query[String(kSecMatchLimit)] = kSecMatchLimitOne
        query[String(kSecReturnData)] = kCFBooleanTrue
        var result: AnyObject?
        try check(SecItemCopyMatching(query as CFDictionary, &result))
        return result as? Data
    }

    func contains(_ key: String, withoutAuthenticationUI isSilent: Bool = false) throws -> Bool {
        switch SecItemCopyMatching(query(key, isSilent: isSilent) as CFDictionary, nil) {
        case errSecSuccess: return true
        case errSecInteractionNotAllowed where isSilent: return true
        case errSecItemNotFound: return false
        case let status: throw Status(status: status)
        }
    }

    func remove(_ key: String) throws { try check(SecItemDelete(query(key) as CFDictionary)) }
}
