// SPDX-License-Identifier: Apache-2.0
// What an app stores in a keychain, as closures that tests replace.

/// What an app stores about its user in a keychain, with one closure for each value to get, set and delete.
///
/// ```swift
/// let client = KeychainClient.live(valet: valet)
/// try await client.setJwtToken("t0ken")
/// let token = try await client.getJwtToken()
/// ```
///
/// Tests replace the closures that they need. The others report that they were called, and throw.
///
/// ```swift
/// var client = KeychainClient.unimplemented
/// client.getJwtToken = { "test-token" }
/// ```
public struct KeychainClient: Sendable {
    // MARK: - User

    /// The user. Throws `KeychainError.itemNotFound` of module `Valet`, code -25300, if there is none.
    public var getUserData: @Sendable () async throws -> UserData
    /// Stores the user, as one item.
    public var setUserData: @Sendable (_ userData: UserData) async throws -> Void
    /// Removes the user. It is not an error if there is none.
    public var deleteUserData: @Sendable () async throws -> Void

    // MARK: - Token

    /// The token; `nil` only if there is none.
    public var getJwtToken: @Sendable () async throws -> String?
    /// Stores the token. Throws `KeychainError.emptyValue` of module `Valet` for an empty string.
    public var setJwtToken: @Sendable (_ token: String) async throws -> Void
    /// Removes the token. It is not an error if there is none.
    public var deleteJwtToken: @Sendable () async throws -> Void

    // MARK: - Device

    /// The data of the device; `nil` only if there is none.
    public var getDeviceData: @Sendable () async throws -> DeviceData?
    /// Stores the data of the device.
    public var setDeviceData: @Sendable (_ deviceData: DeviceData) async throws -> Void
    /// Removes what is known of the device. It is not an error if nothing is stored.
    public var deleteDeviceData: @Sendable () async throws -> Void

    // MARK: - Quick checks

    /// The user's identifier; `nil` only if none is stored.
    public var getUserIdentifier: @Sendable () async throws -> String?

    /// Creates a client with these closures. Omitted closures report that they were called, and throw
    /// ``Failure/unimplemented(endpoint:)``.
    ///
    /// ```swift
    /// let client = KeychainClient(getJwtToken: { "test-token" }, setJwtToken: { _ in })
    /// ```
    public init(
        getUserData: @escaping @Sendable () async throws -> UserData = { throw notImplemented("getUserData") },
        setUserData: @escaping @Sendable (_ userData: UserData) async throws -> Void = { _ in
            throw notImplemented("setUserData")
        },
        deleteUserData: @escaping @Sendable () async throws -> Void = { throw notImplemented("deleteUserData") },
        getJwtToken: @escaping @Sendable () async throws -> String? = { throw notImplemented("getJwtToken") },
        setJwtToken: @escaping @Sendable (_ token: String) async throws -> Void = { _ in
            throw notImplemented("setJwtToken")
        },
        deleteJwtToken: @escaping @Sendable () async throws -> Void = { throw notImplemented("deleteJwtToken") },
        getDeviceData: @escaping @Sendable () async throws -> DeviceData? = { throw notImplemented("getDeviceData") },
        setDeviceData: @escaping @Sendable (_ deviceData: DeviceData) async throws -> Void = { _ in
            throw notImplemented("setDeviceData")
        },
        deleteDeviceData: @escaping @Sendable () async throws -> Void = { throw notImplemented("deleteDeviceData") },
        getUserIdentifier: @escaping @Sendable () async throws -> String? = {
            throw notImplemented("getUserIdentifier")
        }
    ) {
        (self.getUserData, self.setUserData, self.deleteUserData) = (getUserData, setUserData, deleteUserData)
        (self.getJwtToken, self.setJwtToken, self.deleteJwtToken) = (getJwtToken, setJwtToken, deleteJwtToken)
        (self.getDeviceData, self.setDeviceData) = (getDeviceData, setDeviceData)
        (self.deleteDeviceData, self.getUserIdentifier) = (deleteDeviceData, getUserIdentifier)
    }
}

// MARK: - With labels

/// Closures have no argument labels, so each closure with an argument has a method with the same name and a label.
/// Replacing the closure changes both.
extension KeychainClient {
    /// Calls the closure `setUserData`.
    public nonisolated(nonsending) func setUserData(userData: UserData) async throws { try await setUserData(userData) }

    /// Calls the closure `setJwtToken`.
    ///
    /// ```swift
    /// try await client.setJwtToken(token: "t0ken")
    /// ```
    public nonisolated(nonsending) func setJwtToken(token: String) async throws { try await setJwtToken(token) }

    /// Calls the closure `setDeviceData`.
    public nonisolated(nonsending) func setDeviceData(deviceData: DeviceData) async throws {
        try await setDeviceData(deviceData)
    }
}
