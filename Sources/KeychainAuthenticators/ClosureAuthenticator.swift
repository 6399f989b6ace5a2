// SPDX-License-Identifier: Apache-2.0
// Asking by a closure of the program.

public import KeychainEngine

/// Asks by calling a closure of the program, on the thread of the question.
///
/// ```swift
/// Authenticators.shared = ClosureAuthenticator(methods: [.passphrase]) { question throws(KeychainError) in
///     .secret(try window.passphrase(for: question.reason))
/// }
/// ```
///
/// The closure may be called on several threads at once. It must observe `question.cancellation` itself.
public struct ClosureAuthenticator: Authenticator {
    public typealias Asking =
        @Sendable (AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer

    public let methods: Set<AuthenticationMethod>
    private let asking: Asking

    public init(methods: Set<AuthenticationMethod>, _ asking: @escaping Asking) {
        self.methods = methods
        self.asking = asking
    }

    /// - Throws: `cancelled` if the question is cancelled already, `unavailable` for a method that this authenticator
    ///   does not support, otherwise the errors of the closure.
    public func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        guard !question.cancellation.isCancelled else { throw .cancelledQuestion }
        guard methods.contains(question.method) else {
            throw KeychainError(.unavailable, "The program cannot ask for this kind of authentication.")
        }
        return try asking(question)
    }
}
