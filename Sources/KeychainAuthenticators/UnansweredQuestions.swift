// SPDX-License-Identifier: Apache-2.0
// The errors of questions that got no answer.

import KeychainEngine

extension KeychainError {
    static let cancelledQuestion = KeychainError(.cancelled, "Cancelled.")
    static let unanswered = KeychainError(.timedOut, "The user did not answer in time. Try again.")
}
