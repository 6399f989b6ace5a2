// SPDX-License-Identifier: Apache-2.0
// Authentication of the user, shared by several calls.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainAuthenticators
    package import KeychainEngine
    import SecretMemory

    /// Authenticates the user, and keeps the proofs for the calls that use this object
    /// (`kSecUseAuthenticationContext`).
    ///
    /// ```swift
    /// let context = LAContext()
    /// if try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Show your notes") {
    ///     query[kSecUseAuthenticationContext as String] = context  // does not ask again
    /// }
    /// ```
    ///
    /// The user is asked for a passphrase of the keychain or its recovery key. The proofs are forgotten when this
    /// object is released or invalidated. Does not protect against other programs of the same user, which can ask the
    /// same question.
    open class LAContext: NSObject {
        /// Set on creation and never changed. Its own lock protects everything that changes.
        private(set) var authentication = AuthenticationContext(Authenticators.forContexts)
        /// Cancels the questions of the calls that use this context; `nil`: only ``invalidate()`` does.
        private(set) var questions: Query.Questions?
        private var services: @Sendable () -> Services = { .shared }

        /// A context without proofs.
        public override init() { super.init() }

        /// A context for another keychain than the shared one, with a given authenticator.
        package convenience init(
            services: Services, authenticator: @escaping @Sendable () throws(KeychainError) -> (any Authenticator)?
        ) {
            self.init()
            authentication = AuthenticationContext(authenticator)
            self.services = { services }
        }

        /// A context for one request of another API. It shares the proofs of that request's context, and is cancelled
        /// with the request.
        package convenience init(for authorization: Authorization) {
            self.init()
            authentication = authorization.context
            questions = authorization.questions
        }

        // MARK: - What the user sees

        /// The reason for keychain calls, shown to the user; empty for none. Evaluations have their own reason.
        open var localizedReason: String {
            get { authentication.settings.reason ?? "" }
            set { authentication.settings.reason = newValue.isEmpty ? nil : newValue }
        }

        /// The title of the button that switches from biometry to the passphrase; `nil` for the default.
        open var localizedFallbackTitle: String? {
            get { authentication.settings.fallbackTitle }
            set { authentication.settings.fallbackTitle = newValue }
        }

        /// The title of the cancel button; `nil` for the default.
        open var localizedCancelTitle: String? {
            get { authentication.settings.cancelTitle }
            set { authentication.settings.cancelTitle = newValue }
        }

        // MARK: - Whether the user is asked

        /// Whether calls fail instead of asking the user: evaluations with `notInteractive`, keychain calls with
        /// `errSecInteractionNotAllowed`.
        open var interactionNotAllowed: Bool {
            get { authentication.settings.isInteractionNotAllowed }
            set { authentication.settings.isInteractionNotAllowed = newValue }
        }

        /// How many seconds an authentication of the user in this process is accepted without asking again. The context
        /// that authenticated the user must also allow reuse. 0, the default: always ask. At most
        /// `LATouchIDAuthenticationMaximumAllowableReuseDuration`.
        open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
            get { authentication.settings.reuseDuration / .seconds(1) }
            set {
                // NaN is not above 0 either.
                let longest = LATouchIDAuthenticationMaximumAllowableReuseDuration
                authentication.settings.reuseDuration = newValue > 0 ? .seconds(min(newValue, longest)) : .zero
            }
        }

        /// Has no effect. On Apple platforms it has had none since iOS 9.
        open var maxBiometryFailures: NSNumber?

        /// The kind of biometry: none.
        open var biometryType: LABiometryType { .none }

        /// Changes with the enrolled biometry. It is `nil`, as there is none.
        open var evaluatedPolicyDomainState: Data? { nil }

        // MARK: - Credentials

        /// Sets a password, so that the user is not asked for it.
        ///
        /// - Parameter credential: 1 to 1024 bytes; `nil` removes the password. It is kept in locked memory; the caller
        ///   must wipe its own `Data`.
        /// - Returns: `false` for any other length, for `smartCardPIN`, and after the context is invalidated.
        @discardableResult
        open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
            guard type == .applicationPassword, !authentication.isInvalidated else { return false }
            guard let credential else {
                authentication.setApplicationPassword(nil)
                return true
            }
            guard 1...1024 ~= credential.count else { return false }
            authentication.setApplicationPassword(credential.withUnsafeBytes { SecretBytes(copying: $0) })
            return true
        }

        /// Whether a password is set.
        @discardableResult
        open func isCredentialSet(_ type: LACredentialType) -> Bool {
            type == .applicationPassword && authentication.hasApplicationPassword
        }

        /// Forgets all proofs, cancels open questions (`appCancel`), and refuses later requests (`invalidContext`;
        /// keychain calls that would ask: `errSecAuthFailed`).
        open func invalidate() { authentication.invalidate() }

        // MARK: - Evaluating

        /// Whether a policy can be satisfied now, possibly by asking the user. This method does not ask.
        ///
        /// - Parameter error: Receives the reason if not: `passcodeNotSet`, `notInteractive`, `invalidContext`;
        ///   `biometryNotAvailable` or `companionNotAvailable` for every policy except `deviceOwnerAuthentication`.
        @discardableResult
        open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
            do throws(LAError) {
                try evaluation("").checkCanEvaluate(policy)
                return true
            } catch let failure {
                error?.pointee = failure._nsError
                return false
            }
        }

        /// Authenticates the user, unless this context already has the proof.
        ///
        /// - Parameters:
        ///   - localizedReason: The reason, shown to the user. It must not be empty: Apple's framework crashes in this
        ///     case, and this one replies `authenticationFailed`.
        ///   - reply: Called once on a separate thread, or on this thread if the system cannot create one. On failure
        ///     the error is an ``LAError``.
        @preconcurrency
        open func evaluatePolicy(
            _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
        ) {
            evaluation(localizedReason).start(reply) { (evaluation) throws(LAError) in try evaluation.evaluate(policy) }
        }

        /// Authenticates the user, unless this context already has the proof. It does not block Swift's cooperative
        /// thread pool while the user is asked.
        ///
        /// - Throws: An ``LAError``; `appCancel` if the task is cancelled meanwhile.
        @discardableResult
        nonisolated(nonsending) open func evaluatePolicy(
            _ policy: LAPolicy, localizedReason: String
        ) async throws -> Bool {
            try await Evaluation.waiting { evaluatePolicy(policy, localizedReason: localizedReason, reply: $0) }
        }

        /// Gets the proofs that items with an access control require, so that keychain calls with this context do not
        /// ask again.
        ///
        /// Adding an item requires only the application password; the other operations also require the user. A wrong
        /// password is detected only when an item is used.
        ///
        /// - Parameters:
        ///   - localizedReason: See `evaluatePolicy`.
        ///   - reply: See `evaluatePolicy`.
        @preconcurrency
        open func evaluateAccessControl(
            _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
            reply: @escaping @Sendable (Bool, (any Error)?) -> Void
        ) {
            let accessControl = accessControl.accessControl
            evaluation(localizedReason).start(reply) { (evaluation) throws(LAError) in
                try evaluation.evaluate(accessControl, for: operation)
            }
        }

        /// Gets the proofs that items with an access control require, so that keychain calls with this context do not
        /// ask again.
        ///
        /// - Throws: The errors of `evaluatePolicy`.
        @discardableResult
        nonisolated(nonsending) open func evaluateAccessControl(
            _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
        ) async throws -> Bool {
            try await Evaluation.waiting {
                evaluateAccessControl(accessControl, operation: operation, localizedReason: localizedReason, reply: $0)
            }
        }

        /// An evaluation with a copy of this context's current state.
        private func evaluation(_ reason: String) -> Evaluation {
            Evaluation(
                authentication: authentication, services: services, reason: reason,
                cancellation: Evaluation.cancellationOfTask ?? AuthenticationCancellation())
        }
    }
#endif
