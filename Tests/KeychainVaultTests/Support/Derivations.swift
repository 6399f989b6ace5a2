// SPDX-License-Identifier: Apache-2.0
// How often a key is derived from a passphrase, which is the work that an attacker would like to cause.

import KeychainCrypto
import Synchronization
import Testing

/// Runs `body` and records an issue if it derives a key, or if a derivation would not be noticed.
func expectNoDerivation(at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) rethrows {
    let count = Mutex(0)
    try PassphraseDerivation.$onDerivation.withValue({ count.withLock { $0 += 1 } }, operation: body)
    #expect(count.withLock { $0 } == 0, sourceLocation: location)
}
