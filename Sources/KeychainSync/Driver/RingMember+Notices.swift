// SPDX-License-Identifier: Apache-2.0
// Stores why an exchange failed, and forgets what the user has looked at.

package import KeychainEngine
import KeychainSyncCore
import SecretMemory

extension RingMember {
    /// Stores why an exchange failed, so that all processes can tell. One that was cancelled has not failed.
    func storeFailure(_ failure: KeychainError) async {
        guard failure.reason != .cancelled, !Task.isCancelled else { return }
        do throws(KeychainError) {
            _ = try await blocking { [self] () throws(KeychainError) -> Step in
                try step { state, now in
                    state.notices.fail(failure, at: now)
                    return []
                }
            }
            unstoredFailure.withLock { $0 = nil }
        } catch {
            // The vault fails too: it is locked, or its disk is full.
            unstoredFailure.withLock { [now] in $0 = RingFailure(failure, since: $0?.since ?? now) }
        }
    }

    /// Forgets the notices that would stay otherwise, and a revision of the carrier that is not reached any more. What still holds is found
    /// again. What this machine waits for stays: see ``keep(_:)``.
    ///
    /// - Returns: What they are.
    /// - Throws: `unavailable` if the vault is in no ring; `locked`.
    package func dismissNotices() async throws(KeychainError) -> [RingNotice] {
        let dismissed = Guarded<[RingNotice]>([])
        var report = ExchangeReport()
        _ = try await take(&report) { state, _ in
            let notices = state.notices.dismiss(except: state.undecidedFindings)
            if notices.contains(where: \.isAboutTheRevision) { state.replica.forgetRevision() }
            dismissed.withLock { $0 = notices }
            return []
        }
        return dismissed.withLock { $0 }
    }
}
