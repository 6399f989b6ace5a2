// SPDX-License-Identifier: Apache-2.0
// The live client: what it keeps, and that there is no moment at which half of it is there.

import Foundation
import KeychainClient
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainTesting
import Testing
import Valet
import WrapperStores

@Suite("Live client")
struct LiveTests {
    // MARK: - Behaviour

    @Test(arguments: Clients.allCases)
    func user_thatIsStored_isReadUntilItIsDeleted(kind: Clients) async throws {
        let client = try kind.make()
        #expect(await failure { try await client.getUserData() } as? Valet.KeychainError == .itemNotFound)
        #expect(try await client.getUserIdentifier() == nil)
        try await client.setUserData(alice)
        #expect(try await client.getUserData() == alice)
        #expect(try await client.getUserIdentifier() == "a-1")
        try await client.setUserData(bob)
        #expect(try await client.getUserData() == bob)
        try await client.deleteUserData()
        try await client.deleteUserData()
        #expect(try await client.getUserIdentifier() == nil)
        #expect(await failure { try await client.getUserData() } as? Valet.KeychainError == .itemNotFound)
    }

    @Test(arguments: Clients.allCases)
    func token_thatIsStored_isReadUntilItIsDeleted(kind: Clients) async throws {
        let client = try kind.make()
        #expect(try await client.getJwtToken() == nil)
        try await client.setJwtToken("1")
        try await client.setJwtToken("2")
        #expect(try await client.getJwtToken() == "2")
        #expect(await failure { try await client.setJwtToken("") } as? Valet.KeychainError == .emptyValue)
        #expect(try await client.getJwtToken() == "2")
        try await client.deleteJwtToken()
        try await client.deleteJwtToken()
        #expect(try await client.getJwtToken() == nil)
    }

    @Test(arguments: Clients.allCases)
    func device_thatIsStored_isReadUntilItIsDeleted(kind: Clients) async throws {
        let client = try kind.make()
        #expect(try await client.getDeviceData() == nil)
        try await client.setDeviceData(DeviceData(endpointArn: "arn:1"))
        #expect(try await client.getDeviceData() == DeviceData(endpointArn: "arn:1"))
        let empty = DeviceData(endpointArn: "")
        #expect(await failure { try await client.setDeviceData(empty) } as? Valet.KeychainError == .emptyValue)
        try await client.deleteDeviceData()
        #expect(try await client.getDeviceData() == nil)
    }

    @Test(arguments: Clients.allCases)
    func values_areIndependentOfEachOther(kind: Clients) async throws {
        let client = try kind.make()
        try await client.setUserData(alice)
        try await client.setJwtToken("1")
        try await client.setDeviceData(DeviceData(endpointArn: "arn:1"))
        try await client.deleteUserData()
        #expect(try await client.getJwtToken() == "1")
        #expect(try await client.getDeviceData() != nil)
    }

    @Test(arguments: Clients.allCases)
    func token_ofTenThousandCharacters_isReadAgain(kind: Clients) async throws {
        let client = try kind.make()
        let token = String(repeating: "t", count: 10_000)
        try await client.setJwtToken(token)
        #expect(try await client.getJwtToken() == token)
    }

    // MARK: - One record, one item

    @Test func user_isOneItem() async throws {
        let valet = try valet(MemoryStore())
        try await KeychainClient.live(valet: valet).setUserData(alice)
        #expect(try valet.allKeys() == [KeychainKeys.userData])
        #expect(try JSONDecoder().decode(UserData.self, from: valet.object(forKey: KeychainKeys.userData)) == alice)
    }

    /// The defect of four keys written one after another: a failure in between left a user of two.
    @Test(arguments: [true, false])
    func user_whoseStoringFails_isTheOldOneOrTheNewOne(hasTransactions: Bool) async throws {
        for failing in 1...12 {
            let store = ScriptedStore(over: MemoryStore(), hasTransactions: hasTransactions)
            let valet = try valet(store)
            let client = KeychainClient.live(valet: valet)
            try storeParts(alice, valet)
            store.fail(.full, from: failing, on: [.insert, .update, .delete])
            let thrown = await failure { try await client.setUserData(bob) }
            store.reset()
            let user = try await client.getUserData()
            #expect(user == alice || user == bob, "failing call \(failing)")
            if thrown == nil { #expect(user == bob) }
            #expect(try await client.getUserIdentifier() == user.identifier)
        }
    }

    @Test(arguments: StoreKind.everywhere)
    func user_writtenByManyAtOnce_isNeverAMixture(kind: StoreKind) async throws {
        let client = KeychainClient.live(valet: try valet(kind.empty()))
        try await client.setUserData(alice)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...20 {
                group.addTask { try await client.setUserData(number.isMultiple(of: 2) ? alice : bob) }
                group.addTask {
                    let user = try await client.getUserData()
                    #expect(user == alice || user == bob)
                }
            }
            try await group.waitForAll()
        }
    }

    // MARK: - What older versions have stored

    @Test(arguments: StoreKind.everywhere)
    func user_storedInParts_isRead(kind: StoreKind) async throws {
        let valet = try valet(kind.empty())
        let client = KeychainClient.live(valet: valet)
        try storeParts(alice, valet)
        #expect(try await client.getUserData() == alice)
        #expect(try await client.getUserIdentifier() == "a-1")
        #expect(try valet.allKeys() == Set(userKeys), "reading changes nothing")
    }

    @Test(arguments: [true, false])
    func user_storedAgain_leavesNoParts(hasTransactions: Bool) async throws {
        let valet = try valet(ScriptedStore(over: MemoryStore(), hasTransactions: hasTransactions))
        let client = KeychainClient.live(valet: valet)
        try storeParts(alice, valet)
        try await client.setUserData(bob)
        #expect(try valet.allKeys() == [KeychainKeys.userData])
        #expect(try await client.getUserData() == bob)
    }

    @Test(arguments: [true, false])
    func user_thatIsDeleted_isGoneInBothForms(hasTransactions: Bool) async throws {
        let valet = try valet(ScriptedStore(over: MemoryStore(), hasTransactions: hasTransactions))
        let client = KeychainClient.live(valet: valet)
        try await client.setUserData(bob)
        try storeParts(alice, valet)
        try await client.deleteUserData()
        #expect(try valet.allKeys() == [])
    }

    @Test(arguments: userKeys)
    func user_ofWhomAPartIsMissing_isAnErrorAndNobodyElse(key: String) async throws {
        let valet = try valet(MemoryStore())
        try storeParts(alice, valet, without: [key])
        let error = await failure { try await KeychainClient.live(valet: valet).getUserData() }
        #expect(error as? KeychainClient.Failure == .incompleteUserData(missing: [key]))
    }

    @Test func record_winsOverParts() async throws {
        let valet = try valet(MemoryStore())
        try storeParts(alice, valet)
        try valet.setObject(try JSONEncoder().encode(bob), forKey: KeychainKeys.userData)
        let client = KeychainClient.live(valet: valet)
        #expect(try await client.getUserData() == bob)
        #expect(try await client.getUserIdentifier() == "b-2")
    }

    @Test func device_ofAnOlderVersion_isRead() async throws {
        let valet = try valet(MemoryStore())
        try valet.setString("arn:1", forKey: KeychainKeys.endpointArn)
        #expect(try await KeychainClient.live(valet: valet).getDeviceData()?.endpointArn == "arn:1")
    }
}
