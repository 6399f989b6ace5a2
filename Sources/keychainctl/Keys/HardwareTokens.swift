// SPDX-License-Identifier: Apache-2.0
// The hardware that holds keys for this tool.

import KeychainEngine
import KeychainKit

/// The one place where the tool takes its tokens into use: `KeyTokens`.
enum HardwareTokens {
    /// Called before keys are used. It must neither ask nor wait: hardware is looked for when a key is made or used.
    static func use() {}

    /// - Throws: `unsupported` if this build of the tool has no token.
    static func check() throws(KeychainError) {
        use()
        guard KeyTokens.shared.standard == nil else { return }
        throw KeychainError(
            .unsupported,
            "This build of keychainctl has no token that could hold a key. Nothing was stored. For a key in the vault, leave "
                + "out --token.")
    }
}
