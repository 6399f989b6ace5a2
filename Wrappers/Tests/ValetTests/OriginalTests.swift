// SPDX-License-Identifier: Apache-2.0
// What sources written for the original rely on: typed errors, the behaviour of NSObject, generic pairs.

import Foundation
import Testing
import Valet
import WrapperStores

import class KeychainKit.AuthenticationContext
import class KeychainKit.MemoryStore

extension MigratableKeyValuePair where Key == String {
    fileprivate var shouted: MigratableKeyValuePair { MigratableKeyValuePair(key: key.uppercased(), value: value) }
}

extension MigratableKeyValuePair where KeyType == AnyHashable {
    fileprivate var text: String? { key as? String }
}

@Suite("Sources written for the original Valet")
struct OriginalTests {
    private let memory = MemoryStore(passphrase: "open sesame")
    private let valet: Valet
    private let secureValet: SecureEnclaveValet
    private let singlePromptValet: SinglePromptSecureEnclaveValet

    init() throws {
        let identifier = try #require(Identifier(nonEmpty: "com.example.original"))
        valet = Valet.valet(with: identifier, accessibility: .whenUnlocked).using(memory)
        secureValet = SecureEnclaveValet.valet(with: identifier, accessControl: .userPresence).using(memory)
        singlePromptValet = SinglePromptSecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
            .using(memory, context: AuthenticationContext { Person("open sesame") })
    }

    // MARK: - Typed errors

    /// Neither `throws` nor a `default`: this compiles only if the error has one type.
    private func outcome(_ key: String, _ value: String? = nil) -> String {
        do {
            if let value { try valet.setString(value, forKey: key) }
            return try valet.string(forKey: key)
        } catch {
            switch error {
            case .couldNotAccessKeychain: return "no access"
            case .userCancelled: return "cancelled"
            case .itemNotFound: return "absent"
            case .missingEntitlement: return "not entitled"
            case .emptyKey: return "no key"
            case .emptyValue: return "no value"
            }
        }
    }

    @Test func typedError_inASwitchWithoutADefault_isItsCase() {
        #expect(outcome("key") == "absent")
        #expect(outcome("") == "no key")
        #expect(outcome("key", "") == "no value")
        #expect(outcome("key", "s3cret") == "s3cret")
        memory.lockState = .locked
        #expect(outcome("key") == "no access")
    }

    @Test func typedError_inCatchesOfItsCases_isCaughtByItsOwn() {
        var caught = ""
        do {
            _ = try valet.object(forKey: "key")
        } catch KeychainError.couldNotAccessKeychain {
            caught = "no access"
        } catch KeychainError.itemNotFound {
            caught = "absent"
        } catch {
            caught = "another"
        }
        #expect(caught == "absent")
    }

    @Test func calls_withAnEmptyKey_throwEmptyKey() {
        let (valet, secure, single) = (valet, secureValet, singlePromptValet)
        let calls: [() throws -> Void] = [
            { try valet.setObject(Data([1]), forKey: "") },
            { try valet.setString("1", forKey: "") },
            { _ = try valet.object(forKey: "") },
            { _ = try valet.string(forKey: "") },
            { _ = try valet.containsObject(forKey: "") },
            { try valet.removeObject(forKey: "") },
            { try secure.setObject(Data([1]), forKey: "") },
            { try secure.setString("1", forKey: "") },
            { _ = try secure.object(forKey: "", withPrompt: "") },
            { _ = try secure.string(forKey: "", withPrompt: "") },
            { _ = try secure.containsObject(forKey: "") },
            { try secure.removeObject(forKey: "") },
            { try single.setObject(Data([1]), forKey: "") },
            { try single.setString("1", forKey: "") },
            { _ = try single.object(forKey: "", withPrompt: "") },
            { _ = try single.string(forKey: "", withPrompt: "") },
            { _ = try single.containsObject(forKey: "") },
            { try single.removeObject(forKey: "") },
        ]
        for call in calls { #expect(throws: KeychainError.emptyKey) { try call() } }
    }

    @Test func calls_ofAllValets_throwOneType() {
        let (valet, secure, single) = (valet, secureValet, singlePromptValet)
        // Compiles only if none of them throws anything else.
        func callAll() throws(KeychainError) {
            try valet.setObject(Data([1]), forKey: "key")
            try valet.setString("1", forKey: "key")
            _ = try valet.object(forKey: "key")
            _ = try valet.string(forKey: "key")
            _ = try valet.containsObject(forKey: "key")
            try valet.removeObject(forKey: "key")
            _ = try valet.allKeys()
            try valet.removeAllObjects()
            try secure.setString("1", forKey: "key")
            _ = try secure.containsObject(forKey: "key")
            try secure.removeObject(forKey: "key")
            try secure.removeAllObjects()
            try single.setString("1", forKey: "key")
            _ = try single.containsObject(forKey: "key")
            try single.removeObject(forKey: "key")
            _ = try single.allKeys(userPrompt: "")
            try single.removeAllObjects()
        }
        #expect(throws: Never.self) { try callAll() }
    }

    // MARK: - NSObject

    @Test func valetsOverOneStore_asObjects_areEqual() {
        let objects: [(NSObject, NSObject)] = [
            (valet, valet.using(memory)), (secureValet, secureValet.using(memory)),
            (singlePromptValet, singlePromptValet.using(memory)),
        ]
        for (first, second) in objects {
            #expect(first !== second)
            #expect(first.isEqual(second))
            #expect(first.hash == second.hash)
            #expect(Set([first, second]).count == 1)
            #expect(NSArray(array: [first]).contains(second))
        }
    }

    @Test func valetsOfDifferentStoresOrKinds_asObjects_areNotEqual() {
        let objects: [NSObject] = [
            valet, valet.using(MemoryStore()), secureValet, secureValet.using(MemoryStore()), singlePromptValet,
            singlePromptValet.using(MemoryStore()),
        ]
        #expect(Set(objects).count == objects.count)
        #expect(!valet.isEqual(secureValet))
        #expect(!valet.isEqual("com.example.original"))
        #expect(!valet.isEqual(nil))
    }

    @Test func description_ofAValet_beginsAsThatOfAnyObject() {
        for (object, kind) in [(valet as NSObject, "Valet"), (secureValet, "Secure Enclave")] {
            #expect(object.description.hasPrefix("<"))
            #expect(object.description.contains("> com.example.original Accessible"))
            #expect(object.description.hasSuffix("(\(kind))"))
        }
    }

    // MARK: - Pairs

    @Test func pairs_withTheirKeyTypeWritten_areOfThatType() {
        let pair = MigratableKeyValuePair<String>(key: "key", value: "s3cret")
        let found: Valet.MigratableKeyValuePair<AnyHashable> = .init(key: Data([1]), value: Data([2]))
        #expect(pair.shouted == MigratableKeyValuePair(key: "KEY", value: "s3cret"))
        #expect(found.key.base as? Data == Data([1]))
        #expect(found.text == nil)
        #expect(Set([pair, MigratableKeyValuePair(key: "key", value: Data("s3cret".utf8))]).count == 1)
    }

    @Test func pairs_inAClosureThatIsKept_areMigrated() throws {
        let transform: (MigratableKeyValuePair<AnyHashable>) throws -> MigratableKeyValuePair<String>? = { pair in
            pair.text.map { MigratableKeyValuePair<String>(key: $0, value: pair.value).shouted }
        }
        let other = try #require(Identifier(nonEmpty: "com.example.other"))
        let old = Valet.valet(with: other, accessibility: .whenUnlocked).using(memory)
        try old.setString("s3cret", forKey: "key")
        try valet.migrateObjects(from: old, compactMap: transform)
        #expect(try valet.allKeys() == ["KEY"])
    }
}
