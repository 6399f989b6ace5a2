// SPDX-License-Identifier: Apache-2.0
// The client of the running task, for programs that do not pass a client around.

/// A task and its child tasks share the current client.
extension KeychainClient {
    /// A client without closures: each call is reported, and throws.
    ///
    /// ```swift
    /// var client = KeychainClient.unimplemented
    /// ```
    public static let unimplemented = KeychainClient()

    /// The name that swift-dependencies uses for ``unimplemented``.
    public static var testValue: KeychainClient { unimplemented }

    /// An empty client in memory, under the name that swift-dependencies uses.
    public static var previewValue: KeychainClient { inMemory() }

    /// The client of the running task; ``unimplemented`` by default.
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
