// SPDX-License-Identifier: Apache-2.0
// Calls that end because another program keeps the lock: their change never happens afterwards.

import KeychainClient
import Testing
import WrapperStores

@Suite("Late changes of a client")
struct LateChangeTests {
    enum Change: String, CaseIterable, Sendable {
        case setUser, deleteUser, setToken, deleteToken, setDevice

        func run(_ client: KeychainClient) async throws {
            switch self {
            case .setUser: try await client.setUserData(bob)
            case .deleteUser: try await client.deleteUserData()
            case .setToken: try await client.setJwtToken("late")
            case .deleteToken: try await client.deleteJwtToken()
            case .setDevice: try await client.setDeviceData(DeviceData(endpointArn: "arn:late"))
            }
        }
    }

    /// A client has no timeout of its own; the vault's ends its calls.
    @Test(arguments: Change.allCases)
    func change_thatDidNotGetTheLockInTime_neverHappens(_ change: Change) async throws {
        let held = try HeldVault(writerTimeout: .milliseconds(100))
        let client = KeychainClient.live(valet: try valet(held))
        try await client.setUserData(alice)
        try await client.setJwtToken("before")
        try held.hold()
        await #expect(throws: (any Error).self) { try await change.run(client) }
        #expect(held.letGo())
        #expect(try await client.getUserData() == alice)
        #expect(try await client.getJwtToken() == "before")
        #expect(try await client.getDeviceData() == nil)
    }
}
