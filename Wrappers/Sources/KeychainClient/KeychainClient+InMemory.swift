// SPDX-License-Identifier: Apache-2.0
// A client that keeps its values in memory.

import Synchronization
import Valet

extension KeychainClient {
    /// A client that keeps its values in memory as long as it exists, for tests and previews. It behaves like a live
    /// client.
    ///
    /// ```swift
    /// let client = KeychainClient.inMemory(jwtToken: "test-token")
    /// ```
    public static func inMemory(
        userData: UserData? = nil, jwtToken: String? = nil, deviceData: DeviceData? = nil
    ) -> KeychainClient {
        let items = MemoryItems(MemoryItems.Content(user: userData, token: jwtToken, device: deviceData))
        return KeychainClient(
            getUserData: {
                guard let user = items.content.user else { throw Valet.KeychainError.itemNotFound }
                return user
            },
            setUserData: { user in items.change { $0.user = user } },
            deleteUserData: { items.change { $0.user = nil } },
            getJwtToken: { items.content.token },
            setJwtToken: { token in try items.change(token) { $0.token = token } },
            deleteJwtToken: { items.change { $0.token = nil } },
            getDeviceData: { items.content.device },
            setDeviceData: { device in try items.change(device.endpointArn) { $0.device = device } },
            deleteDeviceData: { items.change { $0.device = nil } },
            getUserIdentifier: { items.content.user?.identifier })
    }
}

private final class MemoryItems: Sendable {
    struct Content: Sendable {
        var user: UserData?
        var token: String?
        var device: DeviceData?
    }

    private let state: Mutex<Content>

    init(_ content: Content) { state = Mutex(content) }

    var content: Content { state.withLock { $0 } }

    func change(_ change: @Sendable (inout Content) -> Void) { state.withLock { change(&$0) } }

    /// - Parameter value: Must not be empty, as in a valet.
    func change(_ value: String, _ change: @Sendable (inout Content) -> Void) throws(Valet.KeychainError) {
        guard !value.isEmpty else { throw .emptyValue }
        self.change(change)
    }
}
