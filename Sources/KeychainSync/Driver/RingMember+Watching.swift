// SPDX-License-Identifier: Apache-2.0
// Exchanging whenever something has changed, here or elsewhere.

package import KeychainEngine
import KeychainSyncCore
import KeychainVault

extension RingMember {
    /// Exchanges now, and whenever an item is changed here or something comes from another machine, until the task is cancelled.
    ///
    /// A failure ends nothing: after it there is another try when something changes, and after a pause that grows to a minute.
    ///
    /// - Parameter tell: Told of each exchange, and of each failure.
    /// - Throws: `unavailable` if the vault is in no ring, or cannot be observed.
    package func watch(
        _ tell: @escaping @Sendable (Result<ExchangeReport, KeychainError>) -> Void
    ) async throws(KeychainError) {
        let state = try await blocking { [self] () throws(KeychainError) -> RingState in try step { _, _ in [] }.state }
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // An exchange is a write too, and must not lead to the next one. If it cannot be told whether something was changed, the
        // exchange tells why.
        let observation = try vault.observe { [vault] in
            if (try? vault.hasOutgoing) ?? true { signal.yield() }
        }
        defer { withExtendedLifetime(observation) {} }
        let carried = Task { [carrier = state.carrier] in
            for await _ in carrier.changes() { signal.yield() }
        }
        defer { carried.cancel() }
        var pause = Duration.seconds(1)
        for await _ in signals {
            if Task.isCancelled { break }
            do throws(KeychainError) {
                tell(.success(try await exchange()))
                pause = .seconds(1)
            } catch {
                guard error.reason != .cancelled else { break }
                tell(.failure(error))
                let again = pause
                Task {
                    // Cancelled, it may as well try at once: the loop ends.
                    try? await Task.sleep(for: again)
                    signal.yield()
                }
                pause = min(pause * 2, .seconds(60))
            }
        }
    }
}
