// SPDX-License-Identifier: Apache-2.0
// A context with the authenticator of the environment.

public import KeychainEngine

extension AuthenticationContext {
    /// A context that asks the user in the same way as requests without a context. All requests that use it share its
    /// proofs.
    ///
    /// ```swift
    /// store.context = AuthenticationContext()
    /// ```
    public convenience init() { self.init(Backing.authenticator) }
}
