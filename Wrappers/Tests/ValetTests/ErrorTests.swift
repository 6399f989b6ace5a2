// SPDX-License-Identifier: Apache-2.0
// Errors: six cases, Apple's codes, and the reason behind them.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainTesting
import Testing
import WrapperStores

@testable import Valet

@Suite("Errors of valets")
struct ErrorTests {
    @Test(arguments: [
        (Valet.KeychainError.couldNotAccessKeychain, -25291, 0, "KeychainError.couldNotAccessKeychain"),
        (.userCancelled, -128, 1, "KeychainError.userCancelled"),
        (.itemNotFound, -25300, 2, "KeychainError.itemNotFound"),
        (.missingEntitlement, -34018, 3, "KeychainError.missingEntitlement"),
        (.emptyKey, -50, 4, "KeychainError.emptyKey"),
        (.emptyValue, -50, 5, "KeychainError.emptyValue"),
    ])
    func error_bridged_hasApplesDomainAndCode(
        error: Valet.KeychainError, code: Int, number: Int, text: String
    ) throws {
        let bridged = error as NSError
        #expect((bridged.domain, bridged.code) == ("NSOSStatusErrorDomain", code))
        #expect((error.rawValue, error.description) == (number, text))
        #expect(bridged.localizedDescription == error.errorDescription)
        #expect(Valet.KeychainError.allCases.count == 6)
    }

    @Test func absence_isBothTheCaseAndTheCode() throws {
        let valet = try valet(MemoryStore())
        let error = try #require(failure { try valet.string(forKey: "key") })
        #expect((error as NSError).code == -25300)
        #expect(error as? Valet.KeychainError == .itemNotFound)
    }

    @Test(arguments: KeychainKit.KeychainError.Reason.known)
    func reason_ofKeychainKit_hasOneOfTheSixCases(reason: KeychainKit.KeychainError.Reason) {
        let absent: Set<KeychainKit.KeychainError.Reason> = [.itemNotFound, .typeMismatch]
        let refused: Set<KeychainKit.KeychainError.Reason> = [.cancelled, .authenticationFailed]
        let error = Valet.KeychainError(KeychainKit.KeychainError(reason, "A test."))
        switch error {
        case .itemNotFound: #expect(absent.contains(reason))
        case .userCancelled: #expect(refused.contains(reason))
        case .missingEntitlement: #expect(reason == .missingEntitlement)
        case .couldNotAccessKeychain:
            #expect(!absent.union(refused).union([.missingEntitlement]).contains(reason))
        case .emptyKey, .emptyValue: Issue.record("no reason of a keychain")
        }
    }

    @Test(arguments: [
        (Int32(-25300), Valet.KeychainError.itemNotFound), (-128, .userCancelled), (-25293, .userCancelled),
        (-34018, .missingEntitlement), (-25291, .couldNotAccessKeychain), (-25308, .couldNotAccessKeychain),
        (-50, .couldNotAccessKeychain), (1, .couldNotAccessKeychain),
    ])
    func status_ofTheSystem_hasOneOfFourCases(status: Int32, error: Valet.KeychainError) {
        #expect(Valet.KeychainError(status: status) == error)
    }

    @Test func keychain_thatIsLocked_isNeitherAbsenceNorSilence() throws {
        let memory = MemoryStore()
        let valet = try valet(memory)
        try valet.setString("1", forKey: "key")
        memory.lockState = .locked
        #expect(keychainError { try valet.string(forKey: "key") } == .couldNotAccessKeychain)
        #expect(valet.lastFailure?.reason == .locked)
        #expect(!valet.canAccessKeychain())
        #expect(keychainError { try valet.setString("2", forKey: "key") } == .couldNotAccessKeychain)
        memory.lockState = .unlocked
        #expect(try valet.string(forKey: "key") == "1")
    }

    @Test func vault_thatIsLocked_isToldByLastFailure() throws {
        let vault = try LockableVault()
        let valet = try valet(vault.vault)
        #expect(valet.lastFailure == nil)
        try valet.setString("1", forKey: "key")
        try vault.setLockState(.locked)
        #expect(keychainError { try valet.string(forKey: "key") } == .couldNotAccessKeychain)
        #expect(valet.lastFailure?.reason == .locked)
    }

    @Test func vault_thatIsLocked_removesAndHidesNothingAsAbsent() throws {
        let vault = try LockableVault()
        let valet = try valet(vault.vault)
        try valet.setString("1", forKey: "key")
        try vault.setLockState(.locked)
        #expect(keychainError { try valet.containsObject(forKey: "key") } == .couldNotAccessKeychain)
        #expect(keychainError { try valet.allKeys() } == .couldNotAccessKeychain)
        #expect(valet.lastFailure?.reason == .locked)
        #expect(!valet.canAccessKeychain())
        try valet.removeObject(forKey: "key")
        try valet.removeAllObjects()
        try vault.setLockState(.unlocked)
        #expect(try valet.allKeys() == [])
    }

    /// Values can be written and read although this one cannot.
    @Test(arguments: [Data([0xFF, 0xFE]), Data("another value".utf8)])
    func canary_thatIsNoLongerWhatItWas_isWrittenAgain(bytes: Data) throws {
        let memory = MemoryStore()
        let valet = try valet(memory)
        try valet.setObject(bytes, forKey: Compartment.canaryKey)
        #expect(valet.canAccessKeychain())
        #expect(valet.canAccessKeychain())
    }

    @Test func group_thatIsNotAmongTheEntitlements_isMissingEntitlement() throws {
        let valet = try Valet.sharedGroupValet(with: .named("foreign"), accessibility: .whenUnlocked)
            .using(MemoryStore(), accessGroups: AccessGroups(["TEAM.own"]))
        #expect(keychainError { try valet.setString("1", forKey: "key") } == .missingEntitlement)
        #expect(!valet.canAccessKeychain())
    }

    @Test func failure_toStore_leavesTheOldValue() throws {
        let store = ScriptedStore()
        let valet = try valet(store)
        try valet.setString("old", forKey: "key")
        store.fillDisk()
        #expect(keychainError { try valet.setString("new", forKey: "key") } == .couldNotAccessKeychain)
        #expect(valet.lastFailure?.reason == .diskFull)
        #expect(try valet.string(forKey: "key") == "old")
    }

    @Test func errors_carryNoValues() throws {
        let memory = MemoryStore()
        let valet = try valet(memory)
        try valet.setString("s3cret", forKey: "key")
        memory.lockState = .locked
        let error = try #require(failure { try valet.setString("s3cret too", forKey: "key") })
        let texts = [
            "\(error)", error.localizedDescription, String(reflecting: valet),
            valet.lastFailure?.message ?? "", String(reflecting: MigratableKeyValuePair(key: "key", value: "s3cret")),
        ]
        for text in texts { #expect(!text.contains("s3cret")) }
        var dumped = ""
        dump(MigratableKeyValuePair(key: "key", value: "s3cret"), to: &dumped)
        #expect(!dumped.contains("\(Array("s3cret".utf8)[0])"))
    }

    @Test(arguments: Valet.MigrationError.allCases)
    func migrationError_describesItself(error: Valet.MigrationError) {
        #expect(error.description.hasPrefix("MigrationError."))
        #expect(error.localizedDescription == error.errorDescription)
        #expect(Valet.MigrationError(rawValue: error.rawValue) == error)
    }
}
