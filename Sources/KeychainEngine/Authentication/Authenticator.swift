// SPDX-License-Identifier: Apache-2.0
// The interface between a request and the user: the authenticator, its questions and the answers.

public import Foundation
public import SecretMemory

/// Asks the user to authenticate.
///
/// ```swift
/// struct Window: Authenticator {
///     let methods: Set<AuthenticationMethod> = [.passphrase]
///
///     func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
///         .secret(try showPanel(question.reason))
///     }
/// }
/// ```
///
/// Does not protect against another program of the same user that shows the same question.
public protocol Authenticator: Sendable {
    /// The methods that this authenticator supports. It is never asked for others.
    var methods: Set<AuthenticationMethod> { get }

    /// Asks the user, and blocks the calling thread until there is an answer. It is never called on a thread of Swift's
    /// cooperative thread pool.
    ///
    /// - Throws: `cancelled` if the user or the program cancelled the question; `interactionNotAllowed` if it cannot be
    ///   asked here; `timedOut`; `unavailable`.
    func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer
}

/// A way to authenticate.
public enum AuthenticationMethod: Hashable, Sendable {
    /// A passphrase of the vault, or its recovery key.
    case passphrase
    /// The password with which a program protects an item.
    case applicationPassword
    case biometry(Biometry)
}

/// The kinds of biometric sensors.
public enum Biometry: Hashable, Sendable {
    case touch, face, iris
}

/// A question to the user.
public struct AuthenticationQuestion: Sendable {
    public var method: AuthenticationMethod
    /// Whether a new secret is set instead of proven. Authenticators that can should ask for it twice.
    public var isNew: Bool
    /// The program's reason for asking; shown to the user.
    public var reason: String
    /// 1 for the first attempt. Above 1, the previous answer was wrong.
    public var attempt: Int
    /// The title of the cancel button; `nil` for the default.
    public var cancelTitle: String?
    /// The title of the button that switches from biometry to the passphrase; `nil` for the default.
    public var fallbackTitle: String?
    /// Cancels the question.
    public var cancellation: AuthenticationCancellation

    public init(
        _ method: AuthenticationMethod, isNew: Bool = false, reason: String, attempt: Int = 1,
        cancelTitle: String? = nil, fallbackTitle: String? = nil,
        cancellation: AuthenticationCancellation = AuthenticationCancellation()
    ) {
        self.method = method
        self.isNew = isNew
        self.reason = reason
        self.attempt = attempt
        self.cancelTitle = cancelTitle
        self.fallbackTitle = fallbackTitle
        self.cancellation = cancellation
    }
}

/// An answer. The store decides whether a secret is correct.
public enum AuthenticationAnswer: Sendable {
    case secret(SecretBytes)
    /// A sensor recognized the user; `enrolment` changes when fingers or faces are added or removed.
    case biometry(enrolment: Data)
}
