// SPDX-License-Identifier: Apache-2.0
// Proofs of the user, kept while the program holds the context.

public import SecretMemory

/// Proofs of the user that several requests can share, and the way to ask for them. It corresponds to `LAContext`.
///
/// ```swift
/// let context = AuthenticationContext { TerminalAuthenticator() }
/// var query = Query(.genericPassword, [.service: .string("example.com")])
/// query.context = context
/// ```
///
/// All proofs are forgotten when the context is released or invalidated.
public final class AuthenticationContext: Sendable {
    /// How the user is asked.
    public struct Settings: Sendable {
        /// The reason that is shown to the user; `nil`: the reason of the request.
        public var reason: String?
        public var cancelTitle: String?
        public var fallbackTitle: String?
        /// Whether requests fail instead of asking the user.
        public var isInteractionNotAllowed = false
        /// How long a proof of the user made anywhere in this process is accepted without asking again; `zero`: always
        /// ask.
        public var reuseDuration = Duration.zero

        public init() {}
    }

    private struct State {
        var settings = Settings()
        var isInvalidated = false
        var userKeys = ByVerifier<SecretBytes>()
        var applicationKeys = ByVerifier<SecretBytes>()
        /// Set by the program. If it is wrong, the user is not asked for another one.
        var applicationPassword: SecretBytes?
        /// How often the program has set or removed the password.
        var passwordChanges = 0
        var running: [ObjectIdentifier: AuthenticationCancellation] = [:]
    }

    private let state = Guarded(State())
    private let authenticator: @Sendable () throws(KeychainError) -> (any Authenticator)?
    static let tries = 3

    /// - Parameter authenticator: Returns the authenticator. It is called when the user has to be asked; `nil` if there
    ///   is no way to ask.
    public init(_ authenticator: @escaping @Sendable () throws(KeychainError) -> (any Authenticator)?) {
        self.authenticator = authenticator
    }

    /// A new context that asks in the same way and has no proofs.
    @_spi(Wrappers) public func withoutProofs() -> AuthenticationContext {
        let other = AuthenticationContext(authenticator)
        other.settings = settings
        return other
    }

    public var settings: Settings {
        get { state.withLock { $0.settings } }
        set { state.withLock { $0.settings = newValue } }
    }

    /// Sets the password for items that an application password protects; `nil` removes it. Later requests do not use
    /// the previous password, even if a request was deriving its key meanwhile.
    public func setApplicationPassword(_ password: SecretBytes?) {
        state.withLock { state in
            state.applicationPassword = password
            state.passwordChanges += 1
            state.applicationKeys = ByVerifier()
        }
    }

    public var hasApplicationPassword: Bool { state.withLock { $0.applicationPassword != nil } }

    // MARK: - Ending

    public var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    /// Forgets all proofs, cancels open questions, and refuses all later requests.
    public func invalidate() {
        let running = state.withLock { state in
            let running = Array(state.running.values)
            state = State(settings: state.settings, isInvalidated: true)
            return running
        }
        for cancellation in running { cancellation.cancel() }
    }

    // MARK: - Proofs

    func proofs(for verifier: any UserVerifier) -> Proofs {
        state.withLock { state in
            var proofs = Proofs(userKey: state.userKeys[verifier], applicationKey: state.applicationKeys[verifier])
            proofs.hasUnusedPassword = state.applicationPassword != nil && proofs.applicationKey == nil
            return proofs
        }
    }

    /// Gets missing proofs and asks the user if necessary.
    func obtain(
        _ needs: Proofs.Needs, for verifier: any UserVerifier, _ authorization: Authorization, isNew: Bool,
        attempt: Int = 1
    ) throws(KeychainError) {
        try checkValid()
        if needs.contains(.user) { try obtainUserKey(verifier, authorization) }
        if needs.contains(.applicationPassword) {
            try obtainApplicationKey(verifier, authorization, isNew: isNew, attempt: attempt)
        }
    }

    /// Forgets proofs that were refused.
    ///
    /// - Throws: `authenticationFailed` if the program set the password, or no attempts are left.
    func forget(
        _ refused: Proofs.Needs, for verifier: any UserVerifier, mayTryAgain: Bool
    ) throws(KeychainError) {
        let isFinal = state.withLock { state in
            if refused.contains(.user) { state.userKeys[verifier] = nil }
            guard refused.contains(.applicationPassword) else { return false }
            state.applicationKeys[verifier] = nil
            return state.applicationPassword != nil || !mayTryAgain
        }
        if refused.contains(.user) { RecentProof.forget(verifier) }
        guard isFinal else { return }
        throw KeychainError(.authenticationFailed, "The application password does not open this item.")
    }

    func checkValid() throws(KeychainError) {
        guard isInvalidated else { return }
        throw KeychainError(.authenticationFailed, "The authentication context has been invalidated. Make a new one.")
    }

    // MARK: - The user

    private func obtainUserKey(
        _ verifier: any UserVerifier, _ authorization: Authorization
    ) throws(KeychainError) {
        guard try verifier.isPasscodeSet() else { throw .passcodeNotSet }
        if let recent = RecentProof.key(verifier, within: settings.reuseDuration) {
            return try keep(recent, for: verifier)
        }
        // Before the rate limit: a request that does not ask cannot guess.
        guard authorization.allowsInteraction else { throw .interactionNotAllowed }
        for attempt in 1...Self.tries {
            try verifier.rateLimit.check()
            let secret = try ask(.passphrase, authorization, attempt: attempt)
            guard let key = try verifier.userKey(ifProvenBy: secret) else { continue }
            try keep(key, for: verifier)
            RecentProof.remember(key, verifier, keptFor: settings.reuseDuration)
            return
        }
        throw KeychainError(.authenticationFailed, "The passphrase was wrong \(Self.tries) times.")
    }

    private func keep(_ key: SecretBytes, for verifier: any UserVerifier) throws(KeychainError) {
        try checkValid()
        state.withLock { state in
            // If the context was invalidated since, nothing is kept.
            if !state.isInvalidated { state.userKeys[verifier] = key }
        }
    }

    // MARK: - The application password

    /// A derivation takes long. If the program sets or removes the password meanwhile, the current password is used.
    private func obtainApplicationKey(
        _ verifier: any UserVerifier, _ authorization: Authorization, isNew: Bool, attempt: Int
    ) throws(KeychainError) {
        for _ in 1...Self.tries {
            try checkValid()
            let (given, changes) = state.withLock { ($0.applicationPassword, $0.passwordChanges) }
            let password =
                if let given { given } else {
                    try ask(.applicationPassword, authorization, attempt: attempt, isNew: isNew)
                }
            let key = try verifier.applicationKey(from: password)
            if keep(key, for: verifier, after: changes) { return }
        }
        throw KeychainError(
            .authenticationFailed, "The application password was changed each time it was about to be used. Try again.")
    }

    /// - Returns: `false` if the password has changed since, or the context was invalidated; then the key is not kept.
    private func keep(_ key: SecretBytes, for verifier: any UserVerifier, after changes: Int) -> Bool {
        state.withLock { state in
            guard !state.isInvalidated, state.passwordChanges == changes else { return false }
            state.applicationKeys[verifier] = key
            return true
        }
    }

    // MARK: - Asking

    private func ask(
        _ method: AuthenticationMethod, _ authorization: Authorization, attempt: Int, isNew: Bool = false
    ) throws(KeychainError) -> SecretBytes {
        guard authorization.allowsInteraction else { throw .interactionNotAllowed }
        let (authenticator, settings) = (try authenticator(for: method), settings)
        let reason = authorization.prompt ?? settings.reason ?? Self.usualReason
        let question = AuthenticationQuestion(
            method, isNew: isNew, reason: reason, attempt: attempt, cancelTitle: settings.cancelTitle,
            fallbackTitle: settings.fallbackTitle,
            cancellation: authorization.cancellation ?? AuthenticationCancellation())
        authorization.onQuestion?(true)
        defer { authorization.onQuestion?(false) }
        let answer = try whileRunning(question.cancellation) { () throws(KeychainError) in
            try authenticator.ask(question)
        }
        guard case .secret(let secret) = answer else {
            throw KeychainError(.unavailable, "The authenticator returned the wrong kind of answer.")
        }
        return secret
    }

    /// The authenticator for a method; `interactionNotAllowed` if asking is not allowed or not possible.
    func authenticator(for method: AuthenticationMethod) throws(KeychainError) -> any Authenticator {
        guard !settings.isInteractionNotAllowed, let authenticator = try authenticator(),
            authenticator.methods.contains(method)
        else { throw .interactionNotAllowed }
        return authenticator
    }

    /// Lets ``invalidate()`` cancel the question. The request then fails as invalidated, not as cancelled by the user.
    private func whileRunning<Answer>(
        _ cancellation: AuthenticationCancellation, _ body: () throws(KeychainError) -> Answer
    ) throws(KeychainError) -> Answer {
        let id = ObjectIdentifier(cancellation)
        state.withLock { $0.running[id] = cancellation }
        defer { state.withLock { $0.running[id] = nil } }
        try checkValid()
        guard !cancellation.isCancelled else {
            throw KeychainError(.cancelled, "The question was cancelled before it was asked.")
        }
        do throws(KeychainError) {
            return try body()
        } catch {
            if error.reason == .cancelled { try checkValid() }
            throw error
        }
    }

    private static let usualReason = "use an item of your keychain"
}

extension KeychainError {
    /// An item requires authentication, and asking the user is not possible or not allowed.
    public static let interactionNotAllowed = KeychainError(
        .interactionNotAllowed,
        "The item requires authentication, but the user cannot be asked here. Configure an authenticator "
            + "(KEYCHAIN_AUTHENTICATOR), or give an authentication context.")
}
