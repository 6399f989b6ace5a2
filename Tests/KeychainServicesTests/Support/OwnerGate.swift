// SPDX-License-Identifier: Apache-2.0
// A gate before an app, as programs for Apple's platforms write it.

import Foundation
import LocalAuthentication

/// Biometry if there is any, else the passcode; every error becomes one of the program's own.
final class OwnerGate {
    enum Outcome: Equatable { case open, cancelled, noPasscode, noBiometry, failed }

    private let reason = "Unlock your notes"

    func bestPolicy() -> LAPolicy? {
        let context = LAContext()
        var error: NSError?
        if context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) {
            return .deviceOwnerAuthenticationWithBiometrics
        }
        guard error?.code == LAError.biometryNotAvailable.rawValue else { return nil }
        return context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil) ? .deviceOwnerAuthentication : nil
    }

    func unlock() async -> Outcome {
        do {
            let isOwner = try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason)
            return isOwner ? .open : .failed
        } catch let error as LAError {
            return outcome(of: error)
        } catch {
            return .failed
        }
    }

    func unlock(then completion: @escaping @Sendable (Outcome) -> Void) {
        let context = LAContext()
        context.localizedFallbackTitle = "Use the passcode"
        context.localizedCancelTitle = "Cancel"
        context.touchIDAuthenticationAllowableReuseDuration = 10
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason) { success, error in
            guard !success else { return completion(.open) }
            switch (error as NSError?)?.code {
            case LAError.Code.passcodeNotSet.rawValue?: completion(.noPasscode)
            case Int(kLAErrorUserCancel)?: completion(.cancelled)
            default: completion(.failed)
            }
        }
    }

    private func outcome(of error: LAError) -> Outcome {
        switch error.code {
        case .userCancel, .appCancel, .systemCancel: .cancelled
        case .passcodeNotSet: .noPasscode
        case .touchIDNotAvailable, .biometryNotEnrolled, .biometryLockout: .noBiometry
        default: .failed
        }
    }
}
