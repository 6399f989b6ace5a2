// SPDX-License-Identifier: Apache-2.0
// How one request comes to the proofs that its items ask for.

/// What one request may do to satisfy constrained items: use what its context has proven, and perhaps ask.
public struct Authorization: Sendable {
    public let context: AuthenticationContext
    /// `false` for requests that must not wait for a person.
    public let mayAsk: Bool
    /// What the request says it is for; it wins over the context's own reason (Apple's rule).
    public let prompt: String?
    /// Ends the questions of this request alone.
    var cancellation: AuthenticationCancellation?
    /// Is told when a person is waited for, and when no longer.
    var onQuestion: (@Sendable (_ isOpen: Bool) -> Void)?
    /// What a store asks before it commits; `nil`: the request ends only by itself.
    public internal(set) var gate: CommitGate?

    public init(_ context: AuthenticationContext, mayAsk: Bool = true, prompt: String? = nil) {
        self.context = context
        self.mayAsk = mayAsk
        self.prompt = prompt
    }

    /// For a store that hands the request on to another engine.
    package var questions: Query.Questions? {
        guard let cancellation, let onQuestion else { return nil }
        return Query.Questions(cancellation: cancellation, gate: gate, onQuestion: onQuestion)
    }

    /// For requests that ask nobody.
    public static let none = Authorization(AuthenticationContext { nil }, mayAsk: false)

    /// Apple's limit on rounds of one request.
    private static let rounds = 20

    /// Runs `body` with what has been proven so far. As long as it needs more, gets that and runs it again, so that no
    /// person is waited for while a transaction is open or a file is locked.
    ///
    /// - Throws: What `body` throws; `interactionNotAllowed`, `cancelled`, `authenticationFailed`.
    public func satisfying<Result>(
        _ verifier: any UserVerifier,
        _ body: (Proofs) throws(KeychainError) -> Attempt<Result>
    ) throws(KeychainError) -> Result {
        // How often this request has come by an application password; one of an earlier request is no wrong answer to
        // this.
        var attempts = 0
        // Likewise for the user; a key that was proven for this request and does not fit is not the item's fault alone.
        var isUserProven = false
        for _ in 1...Self.rounds {
            let proofs = context.proofs(for: verifier)
            switch try body(proofs) {
            case .done(let result): return result
            case .needs(let needs):
                let missing = proofs.missing(needs)
                if missing.contains(.applicationPassword) { attempts += 1 }
                if missing.contains(.user) { isUserProven = true }
                try context.obtain(missing, for: verifier, self, isNew: false, attempt: max(attempts, 1))
            case .needsNew(let needs):
                try context.obtain(proofs.missing(needs), for: verifier, self, isNew: true)
            case .refused(let refused):
                guard !refused.contains(.user) || !isUserProven else { throw .damagedItem }
                try context.forget(refused, for: verifier, mayTryAgain: attempts < AuthenticationContext.tries)
            }
        }
        throw KeychainError(.authenticationFailed, "The items kept asking for the user. Try again.")
    }
}
