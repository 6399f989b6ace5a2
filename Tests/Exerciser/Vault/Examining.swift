// SPDX-License-Identifier: Apache-2.0
// What an examination says, in one line.

import KeychainVault

/// The problems, or that there is none.
func problems(of vault: Vault) -> String {
    let problems = Vault.examine(vault.location, vault.settings).filter { $0.severity == .problem }
    return problems.isEmpty ? "no problem" : problems.map { "\($0.check): \($0.message)" }.joined(separator: "; ")
}
