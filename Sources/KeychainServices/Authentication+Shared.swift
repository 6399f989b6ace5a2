// SPDX-License-Identifier: Apache-2.0
// Who asks the user, for the public functions.

import KeychainAuthenticators
import KeychainEngine

/// The one place where it is decided who asks, if the program has handed over nobody.
enum SharedAuthentication {
    /// For requests without a context, which ask only where that was configured.
    static func forItems() throws(KeychainError) -> (any Authenticator)? {
        try usable { () throws(KeychainError) in try Authenticators.current() }
    }

    /// For an `LAContext`: with it the program does ask for the user to be asked.
    static func forContexts() throws(KeychainError) -> (any Authenticator)? {
        try usable { () throws(KeychainError) in try Authenticators.forExplicitRequest() }
    }

    /// A mistake in the environment is none in the request, which is what `errSecParam` says.
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
