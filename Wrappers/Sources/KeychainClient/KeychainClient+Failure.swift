// SPDX-License-Identifier: Apache-2.0
// The errors of a client that are not errors of valets.

public import Foundation

#if IssueReporting
    import IssueReporting
#endif

extension KeychainClient {
    /// Errors that do not come from the keychain. They contain the names of keys, never values.
    ///
    /// ```swift
    /// do {
    ///     user = try await client.getUserData()
    /// } catch KeychainClient.Failure.incompleteUserData(let missing) {
    ///     complete(missing)
    /// }
    /// ```
    public enum Failure: Error, Equatable {
        /// A closure was called that the test or the program did not set.
        case unimplemented(endpoint: String)
        /// The user was stored in parts, and some of them are missing.
        case incompleteUserData(missing: [String])
        /// The value of the key is not a record, or not text.
        case unreadable(key: String)
    }
}

extension KeychainClient.Failure: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .unimplemented(let endpoint):
            "KeychainClient.\(endpoint) was called and is not implemented. Set it, or use a live client."
        case .incompleteUserData(let missing):
            "The keychain has only some parts of the user. Missing: \(missing.joined(separator: ", ")). "
                + "Store the user again, or delete it."
        case .unreadable(let key):
            "The value of the key \(key) was not stored by KeychainClient. Store it again, or delete it."
        }
    }
}

/// Reports the call, if reports are enabled, and returns the error to throw.
@usableFromInline func notImplemented(_ endpoint: String) -> KeychainClient.Failure {
    let failure = KeychainClient.Failure.unimplemented(endpoint: endpoint)
    #if IssueReporting
        reportIssue(failure.errorDescription)
    #endif
    return failure
}
