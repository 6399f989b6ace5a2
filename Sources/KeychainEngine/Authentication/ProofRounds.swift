// SPDX-License-Identifier: Apache-2.0
// The rounds in which one request gets its proofs.

/// The rounds of one request. A step runs with the proofs so far. If they are not enough, the user is asked and the
/// step runs again. So no transaction is open and no file is locked while the user is asked.
///
/// ```swift
/// var rounds = ProofRounds(authorization, verifier)
/// while true {
///     let attempt = try step(with: rounds.next())
///     if let result = try rounds.result(of: attempt) { return result }
/// }
/// ```
package struct ProofRounds {
    private let authorization: Authorization
    private let verifier: any UserVerifier
    private var count = 0
    private var proofs = Proofs()
    /// How many application passwords this request has got. A password of an earlier request does not count as a wrong
    /// answer.
    private var passwords = 0
    /// Whether the user was authenticated for this request. If the resulting key does not open an item, the item is
    /// damaged.
    private var isUserProven = false

    /// Apple's limit for the rounds of one request.
    private static let limit = 20

    package init(_ authorization: Authorization, _ verifier: any UserVerifier) {
        self.authorization = authorization
        self.verifier = verifier
    }

    /// The proofs so far, for the next round.
    ///
    /// - Throws: `authenticationFailed` after too many rounds.
    package mutating func next() throws(KeychainError) -> Proofs {
        count += 1
        guard count <= Self.limit else {
            throw KeychainError(.authenticationFailed, "The items required authentication too many times. Try again.")
        }
        proofs = authorization.context.proofs(for: verifier)
        return proofs
    }

    /// Gets the proofs that the round lacked, and asks the user if necessary.
    ///
    /// - Returns: The result of the round; `nil` if another round is needed.
    /// - Throws: `interactionNotAllowed`, `cancelled`, `authenticationFailed`.
    package mutating func result<Result>(of attempt: Attempt<Result>) throws(KeychainError) -> Result? {
        let context = authorization.context
        switch attempt {
        case .done(let result): return result
        case .needs(let needs):
            let missing = proofs.missing(needs)
            if missing.contains(.applicationPassword) { passwords += 1 }
            if missing.contains(.user) { isUserProven = true }
            try context.obtain(missing, for: verifier, authorization, isNew: false, attempt: max(passwords, 1))
        case .needsNew(let needs):
            try context.obtain(proofs.missing(needs), for: verifier, authorization, isNew: true)
        case .refused(let refused):
            guard !refused.contains(.user) || !isUserProven else { throw .damagedItem }
            try context.forget(refused, for: verifier, mayTryAgain: passwords < AuthenticationContext.tries)
        }
        return nil
    }
}
