// SPDX-License-Identifier: Apache-2.0
// Valets that ask the user: when they ask, when they do not, and what happens if the user cannot be asked.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainTesting
import Testing
import WrapperStores

@testable import Valet

@Suite("Presence in valets")
struct PresenceTests {
    private func secure(
        _ store: any ItemStore, _ person: Person, _ control: Valet.SecureEnclaveAccessControl = .userPresence
    ) throws -> SecureEnclaveValet {
        try SecureEnclaveValet.valet(with: .named("app"), accessControl: control)
            .using(store, context: AuthenticationContext { person })
    }

    private func single(
        _ store: any ItemStore, _ person: Person, _ control: Valet.SecureEnclaveAccessControl = .userPresence
    ) throws -> SinglePromptSecureEnclaveValet {
        try SinglePromptSecureEnclaveValet.valet(with: .named("app"), accessControl: control)
            .using(store, context: AuthenticationContext { person })
    }

    // MARK: - Each time

    @Test(arguments: StoreKind.everywhere, [Valet.SecureEnclaveAccessControl.userPresence, .devicePasscode])
    func reading_asksEachTime(kind: StoreKind, control: Valet.SecureEnclaveAccessControl) throws {
        let person = Person(passphrase)
        let valet = try secure(kind.empty(passphrase: passphrase), person, control)
        try valet.setString("s3cret", forKey: "key")
        #expect(try valet.string(forKey: "key", withPrompt: "first") == "s3cret")
        #expect(try valet.object(forKey: "key", withPrompt: "second") == Data("s3cret".utf8))
        #expect(person.reasons == ["first", "second"])
    }

    @Test(arguments: StoreKind.allCases)
    func everythingButReading_asksNobody(kind: StoreKind) throws {
        let person = Person(passphrase)
        let store = try kind.empty(passphrase: passphrase)
        let valet = try secure(store, person)
        try valet.setString("1", forKey: "key")
        try valet.setString("2", forKey: "key")
        #expect(valet.canAccessKeychain())
        #expect(valet.canAccessKeychain())
        #expect(try valet.containsObject(forKey: "key"))
        #expect(try !valet.containsObject(forKey: "other"))
        try valet.setObject(Data("3".utf8), forKey: "other")
        try valet.removeObject(forKey: "other")
        #expect(person.reasons == [])
        #expect(try valet.string(forKey: "key", withPrompt: "") == "2")
        try valet.removeAllObjects()
        #expect(person.reasons.count == 1)
        #expect(try !valet.containsObject(forKey: "key"))
    }

    @Test func item_isProtectedAsItsNameSays() throws {
        let memory = MemoryStore(passphrase: passphrase)
        let valet = try secure(memory, Person(passphrase), .devicePasscode)
        try valet.setString("1", forKey: "key")
        var secrets = SecretStore(service: valet.service.description, store: memory)
        secrets.context = AuthenticationContext { Person(passphrase) }
        let item = try secrets.item(for: "key")
        #expect(item?.accessibility == .whenPasscodeSetThisDeviceOnly)
        #expect(item?.accessControl == .devicePasscode)
    }

    @Test func values_ofDifferentAccessControls_areDifferent() throws {
        let memory = MemoryStore(passphrase: passphrase)
        let person = Person(passphrase)
        let (presence, passcode) = (try secure(memory, person), try secure(memory, person, .devicePasscode))
        try presence.setString("1", forKey: "key")
        #expect(keychainError { try passcode.string(forKey: "key", withPrompt: "") } == .itemNotFound)
    }

    // MARK: - Once

    @Test(arguments: StoreKind.everywhere)
    func reading_asksOnceUntilAPromptIsRequired(kind: StoreKind) throws {
        let person = Person(passphrase)
        let valet = try single(kind.empty(passphrase: passphrase), person)
        try valet.setString("s3cret", forKey: "key")
        for _ in 1...3 { #expect(try valet.string(forKey: "key", withPrompt: "first") == "s3cret") }
        #expect(person.reasons == ["first"])
        valet.requirePromptOnNextAccess()
        for _ in 1...3 { #expect(try valet.object(forKey: "key", withPrompt: "second") == Data("s3cret".utf8)) }
        #expect(person.reasons == ["first", "second"])
    }

    @Test func keys_ofASinglePromptValet_leaveTheCanaryOut() throws {
        let person = Person(passphrase)
        let valet = try single(MemoryStore(passphrase: passphrase), person)
        #expect(valet.canAccessKeychain())
        #expect(try valet.allKeys(userPrompt: "list") == [])
        try valet.setString("1", forKey: "key")
        #expect(try valet.allKeys(userPrompt: "") == ["key"])
        #expect(try valet.string(forKey: "key", withPrompt: "value") == "1")
        #expect(person.reasons == ["list"])
        try valet.removeObject(forKey: "key")
        try valet.removeAllObjects()
        #expect(try !valet.containsObject(forKey: "key"))
    }

    // MARK: - An absent user

    @Test func person_whoCancels_isUserCancelled() throws {
        let memory = MemoryStore(passphrase: passphrase)
        let valet = try secure(memory, Person(nil))
        try valet.setString("1", forKey: "key")
        #expect(keychainError { try valet.string(forKey: "key", withPrompt: "") } == .userCancelled)
        #expect(valet.lastFailure?.reason == .cancelled)
        let wrong = try secure(memory, Person("wrong"))
        #expect(keychainError { try wrong.string(forKey: "key", withPrompt: "") } == .userCancelled)
        #expect(wrong.lastFailure?.reason == .authenticationFailed)
    }

    @Test(arguments: [Valet.SecureEnclaveAccessControl.biometricAny, .biometricCurrentSet])
    func biometryAlone_saysThatThereIsNone(control: Valet.SecureEnclaveAccessControl) throws {
        let valet = try secure(MemoryStore(passphrase: passphrase), Person(passphrase), control)
        #expect(keychainError { try valet.setString("1", forKey: "key") } == .couldNotAccessKeychain)
        #expect(valet.lastFailure?.reason == .unavailable)
        #expect(valet.lastFailure?.message.lowercased().contains("biometr") == true)
        #expect(!valet.canAccessKeychain())
    }

    @Test func keychain_withoutAPassphrase_cannotBeAccessed() throws {
        let valet = try single(MemoryStore(), Person(passphrase))
        #expect(!valet.canAccessKeychain())
        #expect(keychainError { try valet.setString("1", forKey: "key") } == .couldNotAccessKeychain)
        #expect(valet.lastFailure?.message.contains("passphrase") == true)
    }

    @Test func empties_areRefused() throws {
        let (valet, single) = (
            try secure(MemoryStore(passphrase: passphrase), Person(passphrase)),
            try single(MemoryStore(passphrase: passphrase), Person(passphrase))
        )
        #expect(keychainError { try valet.setString("", forKey: "key") } == .emptyValue)
        #expect(keychainError { try single.setObject(Data([1]), forKey: "") } == .emptyKey)
        #expect(keychainError { try valet.string(forKey: "", withPrompt: "") } == .emptyKey)
    }

    @Test(arguments: [true, false])
    func failure_beforeAProtectedValueIsStored_isForgotten(hasTransactions: Bool) throws {
        let store = ScriptedStore(over: MemoryStore(passphrase: passphrase), hasTransactions: hasTransactions)
        let (valet, single) = (try secure(store, Person(passphrase)), try single(store, Person(passphrase)))
        _ = failure { try valet.setString("", forKey: "key") }
        _ = failure { try single.setString("", forKey: "key") }
        #expect(valet.lastFailure != nil && single.lastFailure != nil)
        try valet.setString("1", forKey: "key")
        try single.setString("1", forKey: "key")
        #expect(valet.lastFailure == nil && single.lastFailure == nil)
    }

    @Test func failure_toReplaceAProtectedValue_leavesTheOldOne() throws {
        let store = ScriptedStore(over: MemoryStore(passphrase: passphrase))
        let valet = try secure(store, Person(passphrase))
        try valet.setString("old", forKey: "key")
        store.fillDisk()
        #expect(keychainError { try valet.setString("new", forKey: "key") } == .couldNotAccessKeychain)
        store.reset()
        #expect(try valet.string(forKey: "key", withPrompt: "") == "old")
    }

    @Test func protectedValue_inAKeychainWithoutTransactions_isChangedInPlace() throws {
        let person = Person(passphrase)
        let valet = try secure(ScriptedStore(over: MemoryStore(passphrase: passphrase), hasTransactions: false), person)
        try valet.setString("old", forKey: "key")
        try valet.setString("new", forKey: "key")
        #expect(try valet.string(forKey: "key", withPrompt: "") == "new")
    }

    // MARK: - Migrations

    @Test(arguments: StoreKind.everywhere)
    func migration_intoAProtectedValet_asksNobody(kind: StoreKind) throws {
        let person = Person(passphrase)
        let store = try kind.empty(passphrase: passphrase)
        let (old, new) = (try valet(store, "old"), try secure(store, person))
        try old.setString("1", forKey: "a")
        try old.setString("2", forKey: "b")
        #expect(old.canAccessKeychain() && new.canAccessKeychain())
        try new.migrateObjects(from: old, removeOnCompletion: true)
        #expect(person.reasons == [])
        #expect(try new.string(forKey: "b", withPrompt: "") == "2")
        #expect(try old.allKeys() == [])
        let single = try single(store, person)
        #expect(keychainError { try single.migrateObjects(from: old, removeOnCompletion: false) } == .itemNotFound)
        #expect(migrationError { try single.migrateObjects(matching: [:], removeOnCompletion: false) } == .invalidQuery)
    }

    @Test func migration_ofProtectedItems_asksOnce() throws {
        let person = Person(passphrase)
        let memory = MemoryStore(passphrase: passphrase)
        let old = SecretStore(service: "old", accessControl: .userPresence, store: memory)
        for key in ["a", "b", "c"] { try old.save(key, for: key) }
        let new = try Valet.valet(with: .named("app"), accessibility: .whenUnlocked)
            .using(memory, context: AuthenticationContext { person })
        try new.migrateObjects(matching: ["class": "genp", "svce": "old"], removeOnCompletion: true)
        #expect(try content(new) == ["a": "a", "b": "b", "c": "c"])
        #expect(person.reasons.count == 1)
    }

    @Test func context_withoutProofs_asksTheSamePersonAgain() throws {
        let person = Person(passphrase)
        let memory = MemoryStore(passphrase: passphrase)
        var secrets = SecretStore(service: "app", accessControl: .userPresence, store: memory)
        try secrets.save("1", for: "key")
        let proven = AuthenticationContext { person }
        proven.settings.reason = "the settings' reason"
        secrets.context = proven
        for _ in 1...2 { _ = try secrets.read(String.self, for: "key") }
        #expect(person.reasons.count == 1)
        secrets.context = proven.withoutProofs()
        _ = try secrets.read(String.self, for: "key")
        #expect(person.reasons == ["the settings' reason", "the settings' reason"])
    }
}
