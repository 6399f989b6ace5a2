// SPDX-License-Identifier: Apache-2.0
// The failures that tests expect.

/// What something ends with; `nil` if it succeeds.
public func failure(_ body: () throws -> Any?) -> (any Error)? {
    do {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

public func failure(_ body: () async throws -> Any?) async -> (any Error)? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
