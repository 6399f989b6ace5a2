// SPDX-License-Identifier: Apache-2.0
// A client that keeps its values in a valet.

public import Valet

extension KeychainClient {
    /// A client that keeps its values in a valet.
    ///
    /// ```swift
    /// let client = KeychainClient.live(valet: valet)
    /// ```
    ///
    /// For tests without a keychain: `.live(valet: valet.using(MemoryStore()))`. No closure blocks a thread. Failures
    /// of the keychain are thrown as `Valet.KeychainError`, and the valet's `lastFailure` has the reason. A cancelled
    /// task throws `CancellationError`.
    public static func live(valet: Valet) -> KeychainClient {
        let items = LiveItems(valet: valet)
        return KeychainClient(
            getUserData: { try await items.userData() },
            setUserData: { try await items.set($0) },
            deleteUserData: { try await items.removeUserData() },
            getJwtToken: { try await items.text(KeychainKeys.jwtToken) },
            setJwtToken: { try await items.set($0, KeychainKeys.jwtToken) },
            deleteJwtToken: { try await items.remove(KeychainKeys.jwtToken) },
            getDeviceData: { try await items.text(KeychainKeys.endpointArn).map { DeviceData(endpointArn: $0) } },
            setDeviceData: { try await items.set($0.endpointArn, KeychainKeys.endpointArn) },
            deleteDeviceData: { try await items.remove(KeychainKeys.endpointArn) },
            getUserIdentifier: { try await items.userIdentifier() })
    }
}
