// SPDX-License-Identifier: Apache-2.0
// Who asks the user, for the public functions.

import KeychainAuthenticators
import KeychainEngine

/// The one place where it is decided who asks, if the program has handed over nobody.
enum SharedAuthentication {
    /// For requests without a context, which ask only where that was configured.
    static func forItems() throws(KeychainFailure) -> (any Authenticator)? {
        try usable { () throws(KeychainFailure) in try Authenticators.current() }
    }

    /// For an `LAContext`: with it the program does ask for the user to be asked.
    static func forContexts() throws(KeychainFailure) -> (any Authenticator)? {
        try usable { () throws(KeychainFailure) in try Authenticators.forExplicitRequest() }
    }

    /// A mistake in the environment is none in the request, which is what `errSecParam` says.
    private static func usable(
        _ body: () throws(KeychainFailure) -> (any Authenticator)?
    ) throws(KeychainFailure) -> (any Authenticator)? {
        do throws(KeychainFailure) {
            return try body()
        } catch {
            throw error.reason == .invalidParameter ? KeychainFailure(.unavailable, error.message) : error
        }
    }
}
