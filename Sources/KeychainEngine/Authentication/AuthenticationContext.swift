// SPDX-License-Identifier: Apache-2.0
// What a person has proven, for as long as the program keeps hold of it.

public import SecretMemory
import Synchronization

/// Proofs of the user that several requests can share, and how to ask for them: what `LAContext` stands for.
///
/// ```swift
/// let context = AuthenticationContext { TerminalAuthenticator() }
/// var query = Query(.genericPassword, [.service: .string("example.com")])
/// query.context = context
/// ```
///
/// Everything proven is forgotten when the context goes or is invalidated.
public final class AuthenticationContext: Sendable {
    /// How a person is asked.
    public struct Settings: Sendable {
        /// What for; `nil` leaves it to the request.
        public var reason: String?
        public var cancelTitle: String?
        public var fallbackTitle: String?
        /// Whether requests fail rather than ask.
        public var isInteractionNotAllowed = false
        /// How long after the person has proven themself anywhere in this process this context asks nobody; `zero`: asks.
        public var reuseDuration = Duration.zero

        public init() {}
    }

    private struct State {
        var settings = Settings()
        var isInvalidated = false
        var userKeys: [ObjectIdentifier: SecretBytes] = [:]
        var applicationKeys: [ObjectIdentifier: SecretBytes] = [:]
        /// Set by the program, which then answers for it: a wrong one is not asked for again.
        var applicationPassword: SecretBytes?
        var running: [ObjectIdentifier: AuthenticationCancellation] = [:]
    }

    private let state = Mutex(State())
    private let authenticator: @Sendable () throws(KeychainError) -> (any Authenticator)?
    static let tries = 3

    /// - Parameter authenticator: Who asks, looked up when somebody has to; `nil` if there is no way to ask.
    public init(_ authenticator: @escaping @Sendable () throws(KeychainError) -> (any Authenticator)?) {
        self.authenticator = authenticator
    }

    /// Another context that asks as this one does, and in which nothing is proven.
    package func withoutProofs() -> AuthenticationContext {
        let other = AuthenticationContext(authenticator)
        other.settings = settings
        return other
    }

    public var settings: Settings {
        get { state.withLock { $0.settings } }
        set { state.withLock { $0.settings = newValue } }
    }

    /// The password that the program gives for items protected by one; `nil` takes it back.
    public func setApplicationPassword(_ password: SecretBytes?) {
        state.withLock { state in
            state.applicationPassword = password
            state.applicationKeys = [:]
        }
    }

    public var hasApplicationPassword: Bool { state.withLock { $0.applicationPassword != nil } }

    // MARK: - Ending

    public var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    /// Forgets everything, breaks off what is being asked, and refuses from now on.
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
        let id = ObjectIdentifier(verifier)
        return state.withLock { Proofs(userKey: $0.userKeys[id], applicationKey: $0.applicationKeys[id]) }
    }

    /// Gets what is missing, asking if it must.
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

    /// Drops proofs that did not fit.
    ///
    /// - Throws: `authenticationFailed` if the program gave the password, or there are no more tries.
    func forget(
        _ refused: Proofs.Needs, for verifier: any UserVerifier, mayTryAgain: Bool
    ) throws(KeychainError) {
        let id = ObjectIdentifier(verifier)
        let isFinal = state.withLock { state in
            if refused.contains(.user) { state.userKeys[id] = nil }
            guard refused.contains(.applicationPassword) else { return false }
            state.applicationKeys[id] = nil
            return state.applicationPassword != nil || !mayTryAgain
        }
        if refused.contains(.user) { RecentProof.forget(verifier) }
        guard isFinal else { return }
        throw KeychainError(.authenticationFailed, "The application password is not the one of this item.")
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
        // Before the limit: who asks nobody does not guess.
        guard authorization.mayAsk else { throw .interactionNotAllowed }
        for attempt in 1...Self.tries {
            try verifier.rateLimit.check()
            let secret = try ask(.passphrase, authorization, attempt: attempt)
            guard let key = try userKey(verifier, secret) else { continue }
            try keep(key, for: verifier)
            RecentProof.remember(key, verifier, keptFor: settings.reuseDuration)
            return
        }
        throw KeychainError(.authenticationFailed, "The passphrase was wrong \(Self.tries) times.")
    }

    /// - Returns: `nil` if the secret is wrong.
    private func userKey(
        _ verifier: any UserVerifier, _ secret: SecretBytes
    ) throws(KeychainError) -> SecretBytes? {
        do throws(KeychainError) {
            let key = try verifier.userKey(provenBy: secret)
            verifier.rateLimit.succeeded()
            return key
        } catch {
            guard error.reason == .authenticationFailed else { throw error }
            verifier.rateLimit.failed()
            return nil
        }
    }

    private func keep(_ key: SecretBytes, for verifier: any UserVerifier) throws(KeychainError) {
        try checkValid()
        state.withLock { state in
            // It may have been invalidated since; nothing is kept then.
            if !state.isInvalidated { state.userKeys[ObjectIdentifier(verifier)] = key }
        }
    }

    // MARK: - The application password

    private func obtainApplicationKey(
        _ verifier: any UserVerifier, _ authorization: Authorization, isNew: Bool, attempt: Int
    ) throws(KeychainError) {
        let password: SecretBytes
        if let given = state.withLock({ $0.applicationPassword }) {
            password = given
        } else {
            password = try ask(.applicationPassword, authorization, attempt: attempt, isNew: isNew)
        }
        let key = try verifier.applicationKey(from: password)
        state.withLock { if !$0.isInvalidated { $0.applicationKeys[ObjectIdentifier(verifier)] = key } }
    }

    // MARK: - Asking

    private func ask(
        _ method: AuthenticationMethod, _ authorization: Authorization, attempt: Int, isNew: Bool = false
    ) throws(KeychainError) -> SecretBytes {
        guard authorization.mayAsk else { throw .interactionNotAllowed }
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
            throw KeychainError(.unavailable, "The authenticator answered with something else than was asked for.")
        }
        return secret
    }

    /// Who can ask for this; `interactionNotAllowed` if nobody may or can.
    func authenticator(for method: AuthenticationMethod) throws(KeychainError) -> any Authenticator {
        guard !settings.isInteractionNotAllowed, let authenticator = try authenticator(),
            authenticator.methods.contains(method)
        else { throw .interactionNotAllowed }
        return authenticator
    }

    /// Lets ``invalidate()`` break the question off; what it breaks off has failed, and was not cancelled by the person.
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
    /// An item asks for a person, and there is no way to ask, or it was forbidden.
    public static let interactionNotAllowed = KeychainError(
        .interactionNotAllowed,
        "The item asks for the user, and nobody can be asked here. Configure an authenticator "
            + "(KEYCHAIN_AUTHENTICATOR), or give an authentication context.")
}
