// SPDX-License-Identifier: Apache-2.0
// The TPM of this machine as a protector.

import KeychainVault
import SecretMemory

#if TPM
    import KeychainTPM
#endif

extension VaultSettings {
    /// Lets the vault use a TPM, without connecting to it. `KEYCHAIN_TPM` names another one than the kernel's.
    mutating func useTPM(_ environment: [String: String]) {
        #if TPM
            sealer = environment.value("KEYCHAIN_TPM").map { TPMSealing(connection: $0) } ?? TPMSealing()
        #endif
    }
}
