// SPDX-License-Identifier: Apache-2.0
// The person whom a protected keychain asks.

import KeychainEngine
import KeychainTestSupport

extension Person {
    static let passphrase = "open sesame"
    static let applicationPassword = "application password"

    /// Knows both secrets.
    convenience init() {
        self.init { $0.method == .passphrase ? Self.passphrase : Self.applicationPassword }
    }
}
