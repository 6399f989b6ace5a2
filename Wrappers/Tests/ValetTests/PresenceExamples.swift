// SPDX-License-Identifier: Apache-2.0
// The examples of the comments and the article on valets that ask the user, word for word.

import Foundation
import Testing
import Valet
import WrapperStores

import class KeychainKit.AuthenticationContext
import class KeychainKit.MemoryStore

@Suite("Examples of the comments on valets that ask")
struct PresenceExamples {
    private let identifier: Identifier
    private let group: SharedGroupIdentifier
    private let memory = MemoryStore(passphrase: "open sesame")
    private let person = Person("open sesame")

    init() throws {
        identifier = try #require(Identifier(nonEmpty: "com.example.presence"))
        group = try #require(SharedGroupIdentifier(appIDPrefix: "AB12CDE345", nonEmptyGroup: "com.example.presence"))
    }

    private func askForPassphrase() { Issue.record("There is a passphrase.") }
    private func signIn() {}

    @Test func factories_inTheirExamples_makeValets() {
        func each() -> SecureEnclaveValet {
            let valet = SecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
            return valet
        }
        func eachShared() -> SecureEnclaveValet {
            let valet = SecureEnclaveValet.sharedGroupValet(with: group, accessControl: .userPresence)
            return valet
        }
        func once() -> SinglePromptSecureEnclaveValet {
            let valet = SinglePromptSecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
            return valet
        }
        func onceShared() -> SinglePromptSecureEnclaveValet {
            let valet = SinglePromptSecureEnclaveValet.sharedGroupValet(with: group, accessControl: .userPresence)
            return valet
        }
        #expect(each() != eachShared())
        #expect(once() != onceShared())
    }

    @Test func secureValet_inItsExamples_asksEachTime() throws {
        let person = person
        let secureValet = SecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
            .using(memory, context: AuthenticationContext { person })
        func check() {
            guard secureValet.canAccessKeychain() else { return askForPassphrase() }
        }
        check()
        if try !secureValet.containsObject(forKey: "token") { signIn() }
        try secureValet.setObject(Data([1, 2, 3]), forKey: "key")
        let key = try secureValet.object(forKey: "key", withPrompt: "open the diary")
        #expect(key.count == 3)
        try secureValet.setString("s3cret", forKey: "token")
        let token = try secureValet.string(forKey: "token", withPrompt: "sign in")
        #expect((token, person.reasons.count) == ("s3cret", 2))
        try secureValet.removeObject(forKey: "token")
        try secureValet.removeAllObjects()
        let reason = secureValet.lastFailure?.message
        #expect(reason == nil)
        let tested = secureValet.using(MemoryStore(passphrase: "open sesame"))
        #expect(tested != secureValet)
    }

    @Test func singlePromptValet_inItsExamples_asksOnce() throws {
        let person = person
        let singlePromptValet = SinglePromptSecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
            .using(memory, context: AuthenticationContext { person })
        func check() {
            guard singlePromptValet.canAccessKeychain() else { return askForPassphrase() }
        }
        check()
        if try !singlePromptValet.containsObject(forKey: "token") { signIn() }
        try singlePromptValet.setObject(Data([1, 2, 3]), forKey: "key")
        let key = try singlePromptValet.object(forKey: "key", withPrompt: "open the diary")
        #expect(key.count == 3)
        try singlePromptValet.setString("s3cret", forKey: "token")
        let keys = try singlePromptValet.allKeys(userPrompt: "show the list")
        #expect(keys == ["key", "token"])
        #expect(person.reasons.count == 1)
        singlePromptValet.requirePromptOnNextAccess()
        let token = try singlePromptValet.string(forKey: "token", withPrompt: "sign in")
        #expect((token, person.reasons.count) == ("s3cret", 2))
        try singlePromptValet.removeObject(forKey: "token")
        try singlePromptValet.removeAllObjects()
        let reason = singlePromptValet.lastFailure?.message
        #expect(reason == nil)
        let tested = singlePromptValet.using(MemoryStore(passphrase: "open sesame"))
        #expect(tested != singlePromptValet)
    }

    @Test func migrations_inTheirExamples_moveValues() throws {
        let valet = Valet.valet(with: identifier, accessibility: .whenUnlocked).using(memory)
        let secureValet = SecureEnclaveValet.valet(with: identifier, accessControl: .userPresence).using(memory)
        let singlePromptValet = SinglePromptSecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
            .using(memory)
        let query: [String: AnyHashable] = ["class": "genp", "svce": "com.example.elsewhere"]
        let elsewhere = try #require(Identifier(nonEmpty: "com.example.elsewhere"))
        let other = Valet.valet(withExplicitlySet: elsewhere, accessibility: .whenUnlocked).using(memory)
        try valet.setString("1", forKey: "a")
        try other.setString("2", forKey: "b")
        try secureValet.migrateObjects(matching: query, removeOnCompletion: true)
        try secureValet.migrateObjects(from: valet, removeOnCompletion: true)
        #expect(try secureValet.containsObject(forKey: "a") && secureValet.containsObject(forKey: "b"))
        try valet.setString("1", forKey: "a")
        try other.setString("2", forKey: "b")
        try singlePromptValet.migrateObjects(matching: query, removeOnCompletion: true)
        try singlePromptValet.migrateObjects(from: valet, removeOnCompletion: true)
        #expect(try singlePromptValet.containsObject(forKey: "a") && singlePromptValet.containsObject(forKey: "b"))
    }
}
