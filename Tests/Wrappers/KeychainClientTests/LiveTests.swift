// SPDX-License-Identifier: Apache-2.0
// The live client: what it keeps, and that there is no moment at which half of it is there.

import Foundation
import KeychainClient
import KeychainEngine
import KeychainKit
import Synchronization
import Testing
import Valet
import VaultUnderTest

private let alice = UserData(
    email: "alice@example.com", firstName: "Alice", lastName: "Liddell", identifier: "a-1")
private let bob = UserData(email: "bob@example.com", firstName: "Bob", lastName: "Baker", identifier: "b-2")
private let userKeys = ["email", "firstName", "lastName", "identifier"]

private func valet(_ store: any ItemStore) throws -> Valet {
    let identifier = try #require(Valet.Identifier(nonEmpty: "com.example.client"))
    return Valet.valet(with: identifier, accessibility: .whenUnlocked).using(store)
}

/// As older versions have stored it.
private func storeParts(_ user: UserData, _ valet: Valet, without missing: [String] = []) throws {
    let parts = [
        "email": user.email, "firstName": user.firstName, "lastName": user.lastName, "identifier": user.identifier,
    ]
    for (key, value) in parts where !missing.contains(key) { try valet.setString(value, forKey: key) }
}

/// What a call ends with.
private func failure<Result>(_ body: () async throws -> Result) async -> (any Error)? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

enum Clients: CaseIterable, Sendable {
    case memory, vault, inMemory

    func make() throws -> KeychainClient {
        switch self {
        case .memory: .live(valet: try valet(MemoryStore()))
        case .vault: .live(valet: try valet(StoreKind.vault.empty()))
        case .inMemory: .inMemory()
        }
    }
}

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
            let store = CountingStore(MemoryStore(), hasTransactions: hasTransactions)
            let valet = try valet(store)
            let client = KeychainClient.live(valet: valet)
            try storeParts(alice, valet)
            store.failsAfter(failing - 1)
            let thrown = await failure { try await client.setUserData(bob) }
            store.failsAfter(nil)
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
        let valet = try valet(CountingStore(MemoryStore(), hasTransactions: hasTransactions))
        let client = KeychainClient.live(valet: valet)
        try storeParts(alice, valet)
        try await client.setUserData(bob)
        #expect(try valet.allKeys() == [KeychainKeys.userData])
        #expect(try await client.getUserData() == bob)
    }

    @Test(arguments: [true, false])
    func user_thatIsDeleted_isGoneInBothForms(hasTransactions: Bool) async throws {
        let valet = try valet(CountingStore(MemoryStore(), hasTransactions: hasTransactions))
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

    // MARK: - Nil is absence, and nothing else

    @Test func keychain_thatIsLocked_isNotNil() async throws {
        let memory = MemoryStore()
        let valet = try valet(memory)
        let client = KeychainClient.live(valet: valet)
        try await client.setUserData(alice)
        try await client.setJwtToken("1")
        try await client.setDeviceData(DeviceData(endpointArn: "arn:1"))
        memory.lockState = .locked
        let errors = [
            await failure { try await client.getUserData() }, await failure { try await client.getJwtToken() },
            await failure { try await client.getDeviceData() },
            await failure { try await client.getUserIdentifier() },
            await failure { try await client.setUserData(bob) },
        ]
        for error in errors { #expect(error as? Valet.KeychainError == .couldNotAccessKeychain) }
        #expect(valet.lastFailure?.reason == .locked)
    }

    @Test func bytes_thatAreNoTextOrNoRecord_areUnreadableAndNotNil() async throws {
        let valet = try valet(MemoryStore())
        let client = KeychainClient.live(valet: valet)
        for key in [KeychainKeys.jwtToken, KeychainKeys.endpointArn, KeychainKeys.userData] {
            try valet.setObject(Data([0xFF, 0xFE]), forKey: key)
        }
        #expect(
            await failure { try await client.getJwtToken() } as? KeychainClient.Failure
                == .unreadable(key: "jwtToken"))
        #expect(
            await failure { try await client.getDeviceData() } as? KeychainClient.Failure
                == .unreadable(key: "endpointArn"))
        #expect(
            await failure { try await client.getUserData() } as? KeychainClient.Failure
                == .unreadable(key: "userData"))
        #expect(
            await failure { try await client.getUserIdentifier() } as? KeychainClient.Failure
                == .unreadable(key: "userData"))
    }

    @Test func failure_beforeAnUnreadableValue_isNotTakenForItsReason() async throws {
        let valet = try valet(MemoryStore())
        let client = KeychainClient.live(valet: valet)
        try valet.setObject(Data([0xFF, 0xFE]), forKey: KeychainKeys.jwtToken)
        _ = await failure { try await client.getUserData() }
        #expect(valet.lastFailure?.reason == .itemNotFound)
        #expect(await failure { try await client.getJwtToken() } is KeychainClient.Failure)
        #expect(valet.lastFailure == nil)
    }

    @Test func item_withoutAValue_isUnreadableAndNotNil() async throws {
        let memory = MemoryStore()
        let valet = try valet(memory)
        let client = KeychainClient.live(valet: valet)
        try await client.setJwtToken("1")
        let service = try #require(try await KeychainCatalog(store: memory).items().first?.service)
        try await client.deleteJwtToken()
        var bare = Query(.genericPassword, [.service: .string(service), .account: .string("jwtToken")])
        bare.returns = []
        _ = try Engine(store: memory).add(bare, caller: .unrestricted)
        #expect(
            await failure { try await client.getJwtToken() } as? KeychainClient.Failure
                == .unreadable(key: "jwtToken"))
    }

    // MARK: - Threads and tasks

    @Test func task_thatIsCancelled_throwsCancellation() async throws {
        let client = KeychainClient.live(valet: try valet(MemoryStore()))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.getJwtToken()
        }
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
    }

    /// A hundred calls wait for a store that does not answer; other tasks go on.
    @Test(.timeLimit(.minutes(10)))
    func calls_thatWait_blockNoThreadOfThePool() async throws {
        let store = WaitingStore()
        let client = KeychainClient.live(valet: try valet(store))
        let calls = (1...10).flatMap { _ in Self.calls(client).map { call in Task { try await call() } } }
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...1000 {
                group.addTask {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0) { $0 + $1 }
        }
        #expect(sum == 500_500)
        store.release()
        for call in calls { #expect((try? await call.value) != nil) }
    }

    /// All closures, none of which fails.
    private static func calls(_ client: KeychainClient) -> [@Sendable () async throws -> Void] {
        [
            { try await client.setUserData(alice) }, { try await client.deleteUserData() },
            { _ = try await client.getUserIdentifier() }, { _ = try await client.getJwtToken() },
            { try await client.setJwtToken("t") }, { try await client.deleteJwtToken() },
            { _ = try await client.getDeviceData() },
            { try await client.setDeviceData(DeviceData(endpointArn: "arn")) },
            { try await client.deleteDeviceData() },
            { do { _ = try await client.getUserData() } catch Valet.KeychainError.itemNotFound {} },
        ]
    }
}
