// SPDX-License-Identifier: Apache-2.0
// Evaluations in tests: their outcomes as plain values.

import Foundation
import KeychainServices

/// What an evaluation ended with; `nil` if it worked.
nonisolated(nonsending) func outcome(
    _ evaluate: nonisolated(nonsending) () async throws -> Bool
) async -> LAError.Code? {
    do {
        return try await evaluate() ? nil : .userFallback
    } catch let error as LAError {
        return error.code
    } catch {
        return .invalidDimensions
    }
}

extension LAContext {
    nonisolated(nonsending) func outcome(
        _ policy: LAPolicy = .deviceOwnerAuthentication, reason: String = "Show your notes"
    ) async -> LAError.Code? {
        await KeychainServicesTests.outcome { try await evaluatePolicy(policy, localizedReason: reason) }
    }

    nonisolated(nonsending) func outcome(
        _ accessControl: SecAccessControl, _ operation: LAAccessControlOperation
    ) async -> LAError.Code? {
        await KeychainServicesTests.outcome {
            try await evaluateAccessControl(accessControl, operation: operation, localizedReason: "Show your notes")
        }
    }

    /// Why a policy cannot be evaluated; `nil` if it can.
    func refusal(_ policy: LAPolicy = .deviceOwnerAuthentication) -> LAError.Code? {
        var error: NSError?
        if canEvaluatePolicy(policy, error: &error) { return nil }
        return (error as? LAError)?.code
    }
}
