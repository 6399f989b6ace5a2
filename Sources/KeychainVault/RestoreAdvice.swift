// SPDX-License-Identifier: Apache-2.0
// What people are told to do about what is damaged.

import KeychainEngine

extension KeychainError {
    /// The last sentence of messages about damage that nothing here can mend.
    static let restoreAdvice = "Restore a backup: keychainctl restore FILE"
}
