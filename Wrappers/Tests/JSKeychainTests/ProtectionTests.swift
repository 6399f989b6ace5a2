// SPDX-License-Identifier: Apache-2.0
// Items that ask for the user.

import JSKeychain
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import Testing
import WrapperStores

@Suite("Protected items")
struct ProtectionTests {
    private let presence = JSBiometricOptions(required: true, localizedReason: "Save it")

    /// With a fresh context, so that everything that asks asks again.
    private func asking(_ store: any ItemStore, _ person: Person) -> JSKeychain {
        JSKeychain().using(store, context: AuthenticationContext { person })
    }

    @Test(arguments: StoreKind.everywhere)
    func protectedItem_read_asksWithTheReason(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        let person = Person("p")
        try asking(store, person).save("1", .whenUnlocked, presence)
        #expect(person.reasons.isEmpty)
        let value: String = try asking(store, person)
            .read(service: "app", account: "alice", biometricReason: "Show it")
        #expect(value == "1" && person.reasons == ["Show it"])
    }

    @Test(arguments: StoreKind.everywhere)
    func protectedItem_readWithAnEmptyReason_asksWithTheUsualOne(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        let person = Person("p")
        try asking(store, person).save("1", .whenUnlocked, presence)
        for reason in [nil, ""] {
            let _: String = try asking(store, person)
                .read(service: "app", account: "alice", biometricReason: reason)
        }
        #expect(person.reasons.count == 2 && Set(person.reasons).count == 1 && person.reasons.first != "")
    }

    @Test(arguments: StoreKind.everywhere)
    func protectedItem_savedOver_asksWithTheReasonOfSaving(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        let person = Person("p")
        try asking(store, person).save("1", .whenUnlocked, presence)
        try asking(store, person).save("2", .whenUnlocked, presence)
        #expect(person.reasons == ["Save it"])
    }

    /// The original's update did nothing about it.
    @Test(arguments: StoreKind.everywhere)
    func plainItem_savedOverWithBiometry_asksFromThenOn(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        let person = Person("p")
        try asking(store, person).save("1")
        try asking(store, person).save("2", .whenUnlocked, presence)
        #expect(person.reasons.isEmpty)
        #expect(try asking(store, person).value() == "2")
        #expect(person.reasons.count == 1)
    }

    @Test(arguments: StoreKind.everywhere)
    func protectedItem_savedOverWithoutOptions_staysProtected(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        let person = Person("p")
        try asking(store, person).save("1", .whenUnlocked, presence)
        try asking(store, person).save("2", .afterFirstUnlock)
        #expect(try asking(store, person).value() == "2")
        #expect(person.reasons.count == 2)
    }

    @Test(arguments: StoreKind.everywhere)
    func protectedItem_savedOverWithoutBiometryRequired_asksNoMore(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        let person = Person("p")
        try asking(store, person).save("1", .whenUnlocked, presence)
        try asking(store, person).save("2", .whenUnlocked, JSBiometricOptions(required: false))
        #expect(person.reasons.count == 1)
        #expect(try asking(store, person).value() == "2")
        #expect(person.reasons.count == 1)
    }

    @Test(arguments: StoreKind.everywhere)
    func protectedItem_whereNobodyCanBeAsked_isNeitherReadNorReplaced(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        try asking(store, Person("p")).save("1", .whenUnlocked, presence)
        let keychain = JSKeychain().using(store, context: AuthenticationContext { nil })
        #expect(keychainError { try keychain.value() } == .unhandledError(status: -25308))
        #expect(keychainError { try keychain.save("2") } == .unhandledError(status: -25308))
        #expect(keychain.lastFailure?.reason == .interactionNotAllowed)
        #expect(try asking(store, Person("p")).value() == "1")
    }

    @Test(arguments: StoreKind.everywhere)
    func protectedItem_readWithTheWrongPassphrase_isAuthFailed(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        try asking(store, Person("p")).save("1", .whenUnlocked, presence)
        #expect(keychainError { try asking(store, Person("q")).value() } == .unhandledError(status: -25293))
    }

    @Test(arguments: StoreKind.everywhere)
    func protectedItem_lookedForListedAndRemoved_asksNobody(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        let person = Person("p")
        let keychain = asking(store, person)
        try keychain.save("1", .whenUnlocked, presence)
        #expect(keychain.exists(service: "app", account: "alice"))
        // Apple's keychain leaves such items out.
        let listed = kind == .system ? [] : [JSKeychainItem(service: "app", account: "alice")]
        #expect(try keychain.listAll() == listed)
        try keychain.delete(service: "app", account: "alice")
        try keychain.save("1", .whenUnlocked, presence)
        try keychain.deleteAll(service: "app")
        #expect(!keychain.exists(service: "app", account: "alice") && person.reasons.isEmpty)
    }

    @Test(arguments: StoreKind.everywhere)
    func biometryWithoutFallback_overAnItem_leavesItAsItIs(kind: StoreKind) throws {
        let keychain = try kind.keychain(passphrase: "p")
        try keychain.save("1")
        let options = JSBiometricOptions(required: true, fallbackToPasscode: false)
        let failure = keychainError { try keychain.save("2", .whenUnlocked, options) }
        #expect(failure == .unhandledError(status: -25291))
        #expect(failure?.failureReason?.contains("no biometric authenticator") == true)
        #expect(keychain.lastFailure?.message.contains("biometr") == true)
        #expect(try keychain.value() == "1")
    }

    @Test(
        arguments: StoreKind.everywhere,
        [JSKeychainAccessibility.whenPasscodeSet, .whenPasscodeSetThisDeviceOnly])
    func passcodeClass_needsAPassphrase(kind: StoreKind, accessibility: JSKeychainAccessibility) throws {
        let without = try kind.keychain()
        let failure = keychainError { try without.save("1", accessibility) }
        #expect(failure == .unhandledError(status: -25291))
        #expect(failure?.failureReason?.contains("no passphrase is set") == true)
        // The system gives a code and no more.
        #expect(
            kind == .system
                || without.lastFailure?.message.contains("keychainctl protect add passphrase") == true)
        let with = try kind.keychain(passphrase: "p")
        try with.save("1", accessibility)
        #expect(try with.value() == "1")
    }

    @Test(arguments: StoreKind.everywhere)
    func userPresence_withoutAPassphrase_isNotAvailable(kind: StoreKind) throws {
        let keychain = try kind.keychain()
        #expect(keychainError { try keychain.save("1", .whenUnlocked, presence) } == .unhandledError(status: -25291))
        #expect(!keychain.exists(service: "app", account: "alice"))
    }
}
