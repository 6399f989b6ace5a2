// SPDX-License-Identifier: Apache-2.0
// Authentication of the user that several calls can share.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
import KeychainAuthenticators
package import KeychainEngine
import SecretMemory

/// Authenticates the user, and remembers it for the calls that this object is given to
/// (`kSecUseAuthenticationContext`).
///
/// ```swift
/// let context = LAContext()
/// if try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Show your notes") {
///     query[kSecUseAuthenticationContext as String] = context  // asks nobody any more
/// }
/// ```
///
/// The user is asked for a passphrase of the keychain or its recovery key. What was proven is forgotten when this
/// object goes or is invalidated. Does not protect against other programs of the same user, who can ask the same
/// question.
open class LAContext: NSObject {
    /// Set when the object is made, and never again; everything that changes is behind its lock.
    private(set) var authentication = AuthenticationContext(Authenticators.forContexts)
    /// What ends the questions of the calls that this is given to; `nil`: only ``invalidate()``.
    private(set) var questions: Query.Questions?
    private var services: @Sendable () -> Services = { .shared }

    /// A context in which nothing is proven yet.
    public override init() { super.init() }

    /// A context for another keychain than the shared one, and for somebody certain who asks.
    package convenience init(
        services: Services, authenticator: @escaping @Sendable () throws(KeychainError) -> (any Authenticator)?
    ) {
        self.init()
        authentication = AuthenticationContext(authenticator)
        self.services = { services }
    }

    /// A context for one request of another surface: it shares what that one's context has proven, and what ends its
    /// questions.
    package convenience init(for authorization: Authorization) {
        self.init()
        authentication = authorization.context
        questions = authorization.questions
    }

    // MARK: - What the user sees

    /// What calls to the keychain are for, shown to the user; empty for none. Evaluations have a reason of their own.
    open var localizedReason: String {
        get { authentication.settings.reason ?? "" }
        set { authentication.settings.reason = newValue.isEmpty ? nil : newValue }
    }

    /// What the way from biometry to the passphrase is called; `nil` for the usual word.
    open var localizedFallbackTitle: String? {
        get { authentication.settings.fallbackTitle }
        set { authentication.settings.fallbackTitle = newValue }
    }

    /// What cancelling is called; `nil` for the usual word.
    open var localizedCancelTitle: String? {
        get { authentication.settings.cancelTitle }
        set { authentication.settings.cancelTitle = newValue }
    }

    // MARK: - Whether the user is asked

    /// Whether whatever would ask fails instead: evaluations with `notInteractive`, calls to the keychain with
    /// `errSecInteractionNotAllowed`.
    open var interactionNotAllowed: Bool {
        get { authentication.settings.isInteractionNotAllowed }
        set { authentication.settings.isInteractionNotAllowed = newValue }
    }

    /// For how many seconds after the user was authenticated in this process, by a context that allows the same, this
    /// one asks nobody; 0, the default, for asking. At most `LATouchIDAuthenticationMaximumAllowableReuseDuration`.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { authentication.settings.reuseDuration / .seconds(1) }
        set {
            // Not a number is not above 0 either.
            let longest = LATouchIDAuthenticationMaximumAllowableReuseDuration
            authentication.settings.reuseDuration = newValue > 0 ? .seconds(min(newValue, longest)) : .zero
        }
    }

    /// Has no effect, and had none on Apple's platforms since iOS 9.
    open var maxBiometryFailures: NSNumber?

    /// The kind of biometry: none.
    open var biometryType: LABiometryType { .none }

    /// What changes with the enrolled biometry: `nil`, as there is none.
    open var evaluatedPolicyDomainState: Data? { nil }

    // MARK: - Credentials

    /// Hands over a password in place of the person, who is not asked for it then.
    ///
    /// - Parameter credential: 1 to 1024 bytes; `nil` takes it back. It is kept in locked memory; the `Data` is the
    ///   caller's.
    /// - Returns: `false` for another length, for `smartCardPIN`, and once the context is invalidated.
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

    /// Whether a password was handed over.
    @discardableResult
    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        type == .applicationPassword && authentication.hasApplicationPassword
    }

    /// Forgets everything, ends what is being asked (`appCancel`), and refuses from now on (`invalidContext`; calls to
    /// the keychain that would ask: `errSecAuthFailed`).
    open func invalidate() { authentication.invalidate() }

    // MARK: - Evaluating

    /// Whether a policy can be satisfied now, perhaps by asking; asks nobody.
    ///
    /// - Parameter error: Gets why not: `passcodeNotSet`, `notInteractive`, `invalidContext`; `biometryNotAvailable`
    ///   and `companionNotAvailable` for every other policy than `deviceOwnerAuthentication`.
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

    /// Authenticates the user, unless this context has already.
    ///
    /// - Parameters:
    ///   - localizedReason: What for, shown to the user. Not empty: Apple's framework ends the program then, this one
    ///     replies `authenticationFailed`.
    ///   - reply: Called once, on a thread of its own; on this one if the system makes no more. If it did not work, the error is an ``LAError``.
    @preconcurrency
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        evaluation(localizedReason).start(reply) { (evaluation) throws(LAError) in try evaluation.evaluate(policy) }
    }

    /// Authenticates the user, unless this context has already. Takes no thread of Swift's own pool while the user is
    /// asked.
    ///
    /// - Throws: An ``LAError``; `appCancel` if the task is cancelled meanwhile.
    @discardableResult
    nonisolated(nonsending) open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String
    ) async throws -> Bool {
        try await Evaluation.waiting { evaluatePolicy(policy, localizedReason: localizedReason, reply: $0) }
    }

    /// Gets what items with an access control ask for, so that calls to the keychain with this context ask nobody any
    /// more.
    ///
    /// Adding asks for the application password alone, all else for the user as well. A password is found to be wrong
    /// only when an item is used.
    ///
    /// - Parameters:
    ///   - localizedReason: As in `evaluatePolicy`.
    ///   - reply: As in `evaluatePolicy`.
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

    /// Gets what items with an access control ask for, so that calls to the keychain with this context ask nobody any
    /// more.
    ///
    /// - Throws: As `evaluatePolicy`.
    @discardableResult
    nonisolated(nonsending) open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
    ) async throws -> Bool {
        try await Evaluation.waiting {
            evaluateAccessControl(accessControl, operation: operation, localizedReason: localizedReason, reply: $0)
        }
    }

    /// One evaluation by this context as it is now.
    private func evaluation(_ reason: String) -> Evaluation {
        Evaluation(
            authentication: authentication, services: services, reason: reason,
            cancellation: Evaluation.cancellationOfTask ?? AuthenticationCancellation())
    }
}
