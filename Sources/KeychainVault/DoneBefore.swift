// SPDX-License-Identifier: Apache-2.0
// Failures of operations of several steps, some of which are done and stay.

import KeychainEngine

extension KeychainError {
    /// The same failure, after something was done that stays.
    ///
    /// - Parameters:
    ///   - done: What was done, in whole sentences.
    ///   - next: What to do about the rest.
    func after(_ done: String, next: String? = nil) -> KeychainError {
        // Of the step that failed this is true, of the whole it is not.
        let cause = message.replacing("; nothing was changed", with: "").replacing(" Nothing was changed.", with: "")
        return KeychainError(reason, [done, cause, next].compactMap { $0 }.joined(separator: " "), status: status)
    }
}
