// SPDX-License-Identifier: Apache-2.0
// Failures of multi-step operations whose completed steps are kept.

package import KeychainEngine

extension KeychainError {
    /// The same failure, for an operation whose earlier steps are kept.
    ///
    /// - Parameters:
    ///   - done: The completed steps, in whole sentences.
    ///   - next: How to continue with the remaining steps.
    package func after(_ done: String, next: String? = nil) -> KeychainError {
        // This is true of the failed step, but not of the whole operation.
        let cause = message.replacing("; nothing was changed", with: "").replacing(" Nothing was changed.", with: "")
            .replacing("; nothing was written", with: "")
        return KeychainError(reason, [done, cause, next].compactMap { $0 }.joined(separator: " "), status: status)
    }
}
