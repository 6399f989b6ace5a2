// SPDX-License-Identifier: Apache-2.0
// The failure that something ends with.

import KeychainKit

/// `nil` if it succeeds.
func failure(_ body: () throws -> Any?) -> KeychainError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? KeychainError
    }
}

func reason(_ body: () throws -> Any?) -> KeychainError.Reason? { failure(body)?.reason }
