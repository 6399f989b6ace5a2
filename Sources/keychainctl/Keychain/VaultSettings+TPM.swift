// SPDX-License-Identifier: Apache-2.0
// The TPM of this machine as a protector.

import KeychainVault
import SecretMemory

#if TPM
    import KeychainTPM

    /// The TPM of this machine, unless `KEYCHAIN_TPM` names another one.
    enum MachineTPM {
        static func connection(_ environment: [String: String]) -> String {
            environment.value("KEYCHAIN_TPM") ?? TPMToken.defaultConnection
        }
    }
#endif

extension VaultSettings {
    /// Lets the vault use the TPM. This does not connect to it.
    mutating func useTPM(_ environment: [String: String]) {
        #if TPM
            sealer = TPMSealing(connection: MachineTPM.connection(environment))
        #endif
    }
}
