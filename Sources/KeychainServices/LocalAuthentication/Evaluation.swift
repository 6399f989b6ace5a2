// SPDX-License-Identifier: Apache-2.0
// One evaluation of a policy or an access control, from its checks to its result.

#if os(Linux)
    import Foundation
    import KeychainAuthenticators
    import KeychainEngine

    /// One evaluation with copies of everything it needs. The context it came from may change meanwhile.
    struct Evaluation: Sendable {
        /// Cancels the evaluations of an asynchronous call when its task is cancelled.
        @TaskLocal static var cancellationOfTask: AuthenticationCancellation?

        let authentication: AuthenticationContext
        let services: @Sendable () -> Services
        let reason: String
        let cancellation: AuthenticationCancellation

        /// Waits for the reply of an evaluation that `start` begins. Cancels the evaluation if the task is cancelled.
        nonisolated(nonsending) static func waiting(
            for start: (@escaping @Sendable (Bool, (any Error)?) -> Void) -> Void
        ) async throws -> Bool {
            let cancellation = AuthenticationCancellation()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    $cancellationOfTask.withValue(cancellation) {
                        start { isProven, error in
                            continuation.resume(with: error.map { .failure($0) } ?? .success(isProven))
                        }
                    }
                }
            } onCancel: {
                cancellation.cancel()
            }
        }

        /// Runs `body` on a separate thread, where it may wait for the user, and passes its error on.
        func start(
            _ reply: @escaping @Sendable (Bool, (any Error)?) -> Void,
            _ body: @escaping @Sendable (Evaluation) throws(LAError) -> Void
        ) {
            // If the context is invalidated from here on, it happened during the evaluation.
            let wasInvalidated = authentication.isInvalidated
            let evaluating: @Sendable () -> Void = {
                do throws(LAError) {
                    guard !wasInvalidated else { throw .invalidated }
                    guard !reason.isEmpty else { throw .missingReason }
                    try body(self)
                    reply(true, nil)
                } catch {
                    reply(false, error)
                }
            }
            do throws(KeychainError) {
                try WaitingThread.start(evaluating)
            } catch {
                reply(false, LAError(.systemCancel, error.message))
            }
        }

        /// - Throws: The reason why the policy is not satisfied.
        func evaluate(_ policy: LAPolicy) throws(LAError) {
            try policy.checkCanExist()
            try prove(.user)
        }

        /// Gets the proofs that an item with this access control would require.
        func evaluate(_ accessControl: AccessControl, for operation: LAAccessControlOperation) throws(LAError) {
            try accessControl.checkCanExist()
            guard operation.isNew else { return try prove(accessControl.needs) }
            // An item that requires the user is added without asking, if a passphrase is set.
            if accessControl.needs.contains(.user) { try checkPasscode() }
            try prove(accessControl.needs.intersection(.applicationPassword), isNew: true)
        }

        /// - Throws: The error that evaluating the policy would throw without asking the user.
        func checkCanEvaluate(_ policy: LAPolicy) throws(LAError) {
            guard !authentication.isInvalidated else { throw .invalidated }
            try policy.checkCanExist()
            try translating { (verifier) throws(KeychainError) in try authentication.checkCanEvaluate(verifier) }
        }

        private func prove(_ needs: Proofs.Needs, isNew: Bool = false) throws(LAError) {
            guard !needs.isEmpty else { return }
            try translating { (verifier) throws(KeychainError) in
                try authentication.evaluate(
                    verifier, needs: needs, isNew: isNew, reason: reason, cancellation: cancellation)
            }
        }

        private func checkPasscode() throws(LAError) {
            try translating { (verifier) throws(KeychainError) in
                guard try verifier.isPasscodeSet() else { throw .passcodeNotSet }
            }
        }

        private func translating(_ body: (any UserVerifier) throws(KeychainError) -> Void) throws(LAError) {
            do throws(KeychainError) {
                guard let verifier = services().engine.store.userVerifier else { throw .passcodeNotSet }
                try body(verifier)
            } catch {
                throw LAError(code(for: error), error.message)
            }
        }

        private func code(for failure: KeychainError) -> LAError.Code {
            switch failure.reason {
            case .authenticationFailed: authentication.isInvalidated ? .appCancel : .authenticationFailed
            case .cancelled: cancellation.isCancelled ? .appCancel : .userCancel
            case .interactionNotAllowed: .notInteractive
            case _ where failure == .passcodeNotSet: .passcodeNotSet
            default: .systemCancel
            }
        }
    }

    extension LAPolicy {
        /// - Throws: An error if this platform cannot satisfy the policy for any user.
        fileprivate func checkCanExist() throws(LAError) {
            switch self {
            case .deviceOwnerAuthentication: break
            case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
                throw .noBiometry
            case .deviceOwnerAuthenticationWithCompanion, .deviceOwnerAuthenticationWithWristDetection:
                throw .noCompanion
            }
        }
    }

    extension AccessControl {
        /// Items with these conditions cannot be stored either.
        fileprivate func checkCanExist() throws(LAError) {
            let flags = flags ?? []
            guard flags.isDisjoint(with: [.biometryAny, .biometryCurrentSet]) else { throw .noBiometry }
            guard !flags.contains(.companion) else { throw .noCompanion }
        }
    }

    extension LAAccessControlOperation {
        fileprivate var isNew: Bool { self == .createItem || self == .createKey }
    }

    extension LAError {
        fileprivate static let noBiometry = LAError(.biometryNotAvailable, "There is no biometric sensor here.")
        fileprivate static let noCompanion = LAError(
            .companionNotAvailable, "There is no companion device that could authenticate you.")
        fileprivate static let invalidated = LAError(
            .invalidContext, "The authentication context has been invalidated. Make a new one.")
        /// Apple's framework crashes in this case.
        fileprivate static let missingReason = LAError(
            .authenticationFailed, "The user cannot be asked without a reason. Give one (localizedReason).")
    }
#endif
