// SPDX-License-Identifier: Apache-2.0
// The last authentication of the user in this process, for contexts that accept it for a while.

package import SecretMemory

/// Keeps a user's key as long as a context allows its reuse, and only for such contexts.
package enum RecentProof {
    private struct Entry {
        let key: SecretBytes
        let moment: ContinuousClock.Instant
        let expiry: ContinuousClock.Instant
    }

    /// Apple's limit: five minutes.
    package static let longest = Duration.seconds(300)

    private static let entries = Guarded(ByVerifier<Entry>())

    /// The key is kept only if the context that proved it allows reuse, so that other contexts leave no key behind.
    package static func remember(_ key: SecretBytes, _ verifier: any UserVerifier, keptFor duration: Duration) {
        guard duration > .zero else { return }
        let now = ContinuousClock.now
        let entry = Entry(key: key, moment: now, expiry: now + min(duration, longest))
        entries.withLock { $0[verifier] = entry }
    }

    package static func key(_ verifier: any UserVerifier, within duration: Duration) -> SecretBytes? {
        entries.withLock { entries in
            entries.removeAll { .now >= $0.expiry }
            guard let entry = entries[verifier], .now - entry.moment < duration else { return nil }
            return entry.key
        }
    }

    package static func forget(_ verifier: any UserVerifier) {
        entries.withLock { $0[verifier] = nil }
    }
}
