// SPDX-License-Identifier: Apache-2.0
// The status of a connection, and whoever watches it.

import Foundation
import Synchronization

final class StatusBoard: Sendable {
    private struct State {
        var status = ConnectionStatus.disconnected
        var watchers: [UUID: AsyncStream<ConnectionStatus>.Continuation] = [:]
    }

    private let state = Mutex(State())
    /// `nil`: the status is nobody else's business.
    private let shared: AppGroupManager?
    /// One at a time, each with what is so by then: the last to write writes the last status.
    private let sharing = Mutex(())

    init(shared: AppGroupManager?) { self.shared = shared }

    var status: ConnectionStatus { state.withLock { $0.status } }

    /// Quick enough to be called under a lock; ``share()`` is to follow.
    func note(_ status: ConnectionStatus) {
        state.withLock {
            $0.status = status
            for watcher in $0.watchers.values { watcher.yield(status) }
        }
    }

    /// Tells other programs.
    func share() {
        guard let shared else { return }
        sharing.withLock { _ in
            _ = shared.setString(self.status.sharedText, forKey: LGTVControlManager.Constants.lastStatusKey)
        }
    }

    /// Begins with what is so. Who does not keep up misses what was in between, never the last.
    func updates() -> AsyncStream<ConnectionStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
            let id = UUID()
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.watchers.removeValue(forKey: id) }
            }
            state.withLock {
                continuation.yield($0.status)
                $0.watchers[id] = continuation
            }
        }
    }

    deinit {
        for watcher in state.withLock({ $0.watchers.values }) { watcher.finish() }
    }
}
