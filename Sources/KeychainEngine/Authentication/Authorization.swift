// SPDX-License-Identifier: Apache-2.0
// How one request gets the proofs that its items require.

/// What one request may do to open constrained items: use the proofs of its context and, if allowed, ask the user.
public struct Authorization: Sendable {
    public let context: AuthenticationContext
    /// `false` for requests that must not wait for the user.
    public let allowsInteraction: Bool
    /// The reason of the request. It overrides the reason of the context (Apple's rule).
    public let prompt: String?
    /// Cancels the questions of this request only.
    var cancellation: AuthenticationCancellation?
    /// Called when a question opens and when it closes.
    var onQuestion: (@Sendable (_ isOpen: Bool) -> Void)?
    /// The gate that a store enters before it commits; `nil`: the request cannot be ended from outside.
    public internal(set) var gate: CommitGate?

    /// Whether a transaction for it changes one item and runs no code of the caller: a store may make it together with others.
    package var isShort = false
    /// Whether it is known before a transaction begins that it stores something.
    package var isSave = false
    /// Whether a search with it counts as use of an unlocked vault, which restarts the idle timeout. `false` to look at settings.
    package var isUse = true

    public init(_ context: AuthenticationContext, allowsInteraction: Bool = true, prompt: String? = nil) {
        self.context = context
        self.allowsInteraction = allowsInteraction
        self.prompt = prompt
    }

    /// For requests that do not ask the user.
    public static let none = Authorization(AuthenticationContext { nil }, allowsInteraction: false)

    /// The same for searches that do not count as use.
    package var looking: Authorization {
        var authorization = self
        authorization.isUse = false
        return authorization
    }

    /// Runs `body` with the proofs so far. While it needs more, asks for them and runs it again. So no transaction is
    /// open and no file is locked while the user is asked.
    ///
    /// - Throws: The errors of `body`; `interactionNotAllowed`, `cancelled`, `authenticationFailed`.
    public func satisfying<Result>(
        _ verifier: any UserVerifier,
        _ body: (Proofs) throws(KeychainError) -> Attempt<Result>
    ) throws(KeychainError) -> Result {
        var rounds = ProofRounds(self, verifier)
        while true {
            let attempt = try body(rounds.next())
            if let result = try rounds.result(of: attempt) { return result }
        }
    }
}
