// SPDX-License-Identifier: Apache-2.0
// Advice in messages about damage.

import KeychainEngine

extension KeychainError {
    /// The last sentence of messages about damage that cannot be repaired.
    static let restoreAdvice = "Restore a backup: keychainctl restore FILE"
}
