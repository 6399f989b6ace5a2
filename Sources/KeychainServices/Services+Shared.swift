// SPDX-License-Identifier: Apache-2.0
// The services that the public functions use: the vault that the environment names.

import KeychainEngine
import KeychainVault

extension Services {
    static let shared = Services(engine: Engine(store: Vault.ofEnvironment()), caller: .unrestricted)
}
