// SPDX-License-Identifier: Apache-2.0
// Failures of the live client, which are not taken for absence, and calls that wait.

import Foundation
import KeychainClient
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainTesting
import Testing
import Valet
import WrapperStores

extension LiveTests {
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

    @Test func record_ofBracketsThatOnlyOpen_isUnreadable() async throws {
        let valet = try valet(MemoryStore())
        try valet.setObject(Data(repeating: UInt8(ascii: "["), count: 513), forKey: KeychainKeys.userData)
        #expect(
            await failure { try await KeychainClient.live(valet: valet).getUserData() } as? KeychainClient.Failure
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
        _ = try Engine(store: memory).add(bare, accessGroups: .unrestricted)
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

    /// A hundred calls wait for a store that does not answer; other tasks continue. On a busy machine some calls reach their own timeout.
    @Test(.timeLimit(.minutes(60)))
    func calls_thatWait_blockNoThreadOfThePool() async throws {
        let store = ScriptedStore()
        store.fail(.slow(.seconds(600)), .every)
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
        let releasing = Task {
            while !Task.isCancelled {
                store.release()
                await Task.yield()
            }
        }
        var succeeded = 0
        for call in calls { if (try? await call.value) != nil { succeeded += 1 } }
        releasing.cancel()
        #expect(succeeded > 0)
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
