// SPDX-License-Identifier: Apache-2.0
// The authenticator of an API, if the program has provided none.

package import KeychainEngine

extension Authenticators {
    /// For requests without a context, which ask only if an authenticator is configured.
    package static func forItems() throws(KeychainError) -> (any Authenticator)? {
        try usable { () throws(KeychainError) in try current() }
    }

    /// For a context that the program created: this means that the program wants the user to be asked.
    package static func forContexts() throws(KeychainError) -> (any Authenticator)? {
        try usable { () throws(KeychainError) in try forExplicitRequest() }
    }

    /// A mistake in the environment is not a mistake in the request, so `invalidParameter` would be wrong.
    private static func usable(
        _ body: () throws(KeychainError) -> (any Authenticator)?
    ) throws(KeychainError) -> (any Authenticator)? {
        do throws(KeychainError) {
            return try body()
        } catch {
            throw error.reason == .invalidParameter ? KeychainError(.unavailable, error.message) : error
        }
    }
}
