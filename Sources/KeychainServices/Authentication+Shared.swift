// SPDX-License-Identifier: Apache-2.0
// Who asks the user, for the public functions.

import KeychainEngine

/// The one place where it is decided who asks, if the program has handed over nobody.
enum SharedAuthentication {
    /// For requests without a context: the program did not ask for anybody to be asked.
    static func forItems() throws(KeychainFailure) -> (any Authenticator)? { nil }

    /// For an `LAContext`: with it the program does ask for the user to be asked.
    static func forContexts() throws(KeychainFailure) -> (any Authenticator)? { nil }
}
