// SPDX-License-Identifier: Apache-2.0
// The client of the running task, for programs that hand none around.

/// The current client is that of the task, and of the tasks that it makes.
extension KeychainClient {
    /// Has no closure: each reports that it was called, and throws.
    ///
    /// ```swift
    /// var client = KeychainClient.unimplemented
    /// ```
    public static let unimplemented = KeychainClient()

    /// The name that swift-dependencies has for it.
    public static var testValue: KeychainClient { unimplemented }

    /// Empty, and in memory; the name that swift-dependencies has for it.
    public static var previewValue: KeychainClient { inMemory() }

    /// The client of the running task; ``unimplemented`` unless one was given.
    ///
    /// ```swift
    /// let token = try await KeychainClient.current.getJwtToken()
    /// ```
    @TaskLocal public static var current = KeychainClient.unimplemented

    /// Runs `operation` with another current client.
    ///
    /// ```swift
    /// try await KeychainClient.withValue(.live(valet: valet)) {
    ///     try await run()
    /// }
    /// ```
    public static func withValue<Result>(
        _ client: KeychainClient, operation: () throws -> Result
    ) rethrows -> Result {
        try $current.withValue(client, operation: operation)
    }

    public nonisolated(nonsending) static func withValue<Result>(
        _ client: KeychainClient, operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(client) { try await operation() }
    }

    /// Runs `operation` with some closures of the current client replaced.
    ///
    /// ```swift
    /// try await KeychainClient.withValues {
    ///     $0.getJwtToken = { "test-token" }
    /// } operation: {
    ///     try await run()
    /// }
    /// ```
    public static func withValues<Result>(
        _ change: (inout KeychainClient) throws -> Void, operation: () throws -> Result
    ) rethrows -> Result {
        var client = current
        try change(&client)
        return try withValue(client, operation: operation)
    }

    public nonisolated(nonsending) static func withValues<Result>(
        _ change: (inout KeychainClient) throws -> Void,
        operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        var client = current
        try change(&client)
        return try await withValue(client, operation: operation)
    }
}
