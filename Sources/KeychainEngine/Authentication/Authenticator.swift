// SPDX-License-Identifier: Apache-2.0
// Who can ask the person in front of a program, and what is asked.

public import Foundation
public import SecretMemory

/// Somebody who can ask the person in front of the program to prove who they are.
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
    /// What this one can ask for; anything else is never asked of it.
    var methods: Set<AuthenticationMethod> { get }

    /// Asks, and blocks the calling thread until there is an answer. Never called on a thread of Swift's own pool.
    ///
    /// - Throws: `cancelled` if the person or the program broke it off, `interactionNotAllowed` if there is no way to ask
    ///   here, `timedOut`, `unavailable`.
    func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer
}

/// A way to prove who one is.
public enum AuthenticationMethod: Hashable, Sendable {
    /// A passphrase of the vault, or its recovery key.
    case passphrase
    /// The password that a program protects one item with.
    case applicationPassword
    case biometry(Biometry)
}

/// The kinds of biometric sensors.
public enum Biometry: Hashable, Sendable {
    case touch, face, iris
}

/// What a person is asked.
public struct AuthenticationQuestion: Sendable {
    public var method: AuthenticationMethod
    /// Whether a secret is to be set, not proven: then it is asked for twice by whoever can.
    public var isNew: Bool
    /// What for, in words of the program; shown to the person.
    public var reason: String
    /// 1 for the first; above it the answer before was wrong.
    public var attempt: Int
    /// What the button that cancels is called; `nil` for the usual word.
    public var cancelTitle: String?
    /// What the button is called that leads from biometry to the passphrase; `nil` for the usual word.
    public var fallbackTitle: String?
    /// Ends the question before the person has answered.
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

/// What came back. Whether a secret is the right one is for the store to say.
public enum AuthenticationAnswer: Sendable {
    case secret(SecretBytes)
    /// A sensor recognised the person; `enrolment` changes when fingers or faces are added or removed.
    case biometry(enrolment: Data)
}
