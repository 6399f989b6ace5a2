// SPDX-License-Identifier: Apache-2.0
// What deriving a key from a passphrase costs in tests.

import KeychainCrypto
package import KeychainVault

extension ScryptCost {
    /// A tenth of a second: hardly any test is about guessing.
    package static let cheap = ScryptCost(
        floor: ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1), target: nil)
}
