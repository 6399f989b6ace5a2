// SPDX-License-Identifier: Apache-2.0
// Proving something before any item asks for it.

extension AuthenticationContext {
    /// Gets the proofs that are not there yet, asking if it must: what evaluating a policy or an access control does.
    ///
    /// ```swift
    /// try context.evaluate(verifier, reason: "unlock your notes")
    /// ```
    ///
    /// - Parameters:
    ///   - isNew: Whether an application password is to be set rather than proven.
    ///   - reason: What the person is told; here it wins over that of the settings.
    ///   - cancellation: Ends the question; what was proven before stays.
    /// - Throws: `unavailable` (``KeychainError/passcodeNotSet``) if there is no passphrase to prove, `cancelled`,
    ///   `interactionNotAllowed`, `authenticationFailed` after the last wrong answer and once the context is
    ///   invalidated.
    public func evaluate(
        _ verifier: any UserVerifier, needs: Proofs.Needs = .user, isNew: Bool = false, reason: String,
        mayAsk: Bool = true, cancellation: AuthenticationCancellation? = nil
    ) throws(KeychainError) {
        var authorization = Authorization(self, mayAsk: mayAsk, prompt: reason)
        authorization.cancellation = cancellation
        let missing = proofs(for: verifier).missing(needs)
        try obtain(missing, for: verifier, authorization, isNew: isNew)
    }

    /// Whether the user can be proven now: is already, or there is somebody who may ask.
    ///
    /// - Throws: Why not: what ``evaluate(_:needs:isNew:reason:mayAsk:cancellation:)`` would throw without asking
    ///   anybody.
    public func checkCanEvaluate(_ verifier: any UserVerifier) throws(KeychainError) {
        try checkValid()
        guard proofs(for: verifier).userKey == nil else { return }
        guard try verifier.isPasscodeSet() else { throw .passcodeNotSet }
        guard RecentProof.key(verifier, within: settings.reuseDuration) == nil else { return }
        _ = try authenticator(for: .passphrase)
    }
}
