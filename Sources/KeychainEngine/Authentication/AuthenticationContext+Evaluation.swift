// SPDX-License-Identifier: Apache-2.0
// Authenticating before an item requires it.

extension AuthenticationContext {
    /// Gets the proofs that are missing and asks the user if necessary. `LAContext` uses it to evaluate a policy or an
    /// access control.
    ///
    /// ```swift
    /// try context.evaluate(verifier, reason: "unlock your notes")
    /// ```
    ///
    /// - Parameters:
    ///   - isNew: Whether an application password is set instead of proven.
    ///   - reason: The reason that is shown to the user. It overrides the reason in the settings.
    ///   - cancellation: Cancels the question. Earlier proofs remain.
    /// - Throws: `unavailable` (``KeychainError/passcodeNotSet``) if no passphrase is set; `cancelled`;
    ///   `interactionNotAllowed`; `authenticationFailed` after the last wrong answer, or if the context is invalidated.
    public func evaluate(
        _ verifier: any UserVerifier, needs: Proofs.Needs = .user, isNew: Bool = false, reason: String,
        allowsInteraction: Bool = true, cancellation: AuthenticationCancellation? = nil
    ) throws(KeychainError) {
        var authorization = Authorization(self, allowsInteraction: allowsInteraction, prompt: reason)
        authorization.cancellation = cancellation
        let missing = proofs(for: verifier).missing(needs)
        try obtain(missing, for: verifier, authorization, isNew: isNew)
    }

    /// Checks that the user can be authenticated now: there is already a proof, or an authenticator may ask for it.
    ///
    /// - Throws: The error that ``evaluate(_:needs:isNew:reason:allowsInteraction:cancellation:)`` would throw without
    ///   asking the user.
    public func checkCanEvaluate(_ verifier: any UserVerifier) throws(KeychainError) {
        try checkValid()
        guard proofs(for: verifier).userKey == nil else { return }
        guard try verifier.isPasscodeSet() else { throw .passcodeNotSet }
        guard RecentProof.key(verifier, within: settings.reuseDuration) == nil else { return }
        _ = try authenticator(for: .passphrase)
    }
}
