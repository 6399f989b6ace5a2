// SPDX-License-Identifier: Apache-2.0
// Stores of both kinds that can get and lose a passphrase.

import KeychainEngine
import KeychainTestSupport

/// A store whose passphrase a test can set and take away.
protocol LockableStore: ItemStore {
    /// `nil` takes it away, and with it the items that exist only while there is one.
    func setPassphrase(_ passphrase: String?) throws
}

extension MemoryStore: LockableStore {}
extension TemporaryVault: LockableStore {}
