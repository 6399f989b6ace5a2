// SPDX-License-Identifier: Apache-2.0
// The hardware that holds keys for this tool.

import KeychainEngine
import KeychainKit

#if TPM
    import KeychainTPM
#endif

/// The one place where the tool takes its tokens into use: `KeyTokens`.
enum HardwareTokens {
    /// Neither asks nor waits: the TPM is looked for when a key is made or used.
    static func use(_ environment: [String: String]) throws(KeychainError) {
        #if TPM
            try KeyTokens.use(TPMToken(connection: MachineTPM.connection(environment)))
        #endif
    }

    /// - Throws: `unsupported` if this build of the tool has no token.
    static func check() throws(KeychainError) {
        guard KeyTokens.shared.standard == nil else { return }
        throw KeychainError(
            .unsupported,
            "This build of keychainctl has no token that could hold a key. Nothing was stored. For a key in the vault, leave "
                + "out --token.")
    }
}
