// SPDX-License-Identifier: Apache-2.0
// The status of a connection, and its observers.

import Foundation
import Synchronization

final class StatusBoard: Sendable {
    private struct State {
        var status = ConnectionStatus.disconnected
        var watchers: [UUID: AsyncStream<ConnectionStatus>.Continuation] = [:]
    }

    private let state = Mutex(State())
    /// `nil` if the status is not shared with other programs.
    private let shared: AppGroupManager?
    /// Held by one writer at a time, which writes the status as it is then. So the last one writes the last status.
    private let sharing = Mutex(())

    init(shared: AppGroupManager?) { self.shared = shared }

    var status: ConnectionStatus { state.withLock { $0.status } }

    /// Fast enough to be called under a lock. Call ``share()`` afterwards.
    func note(_ status: ConnectionStatus) {
        state.withLock {
            $0.status = status
            for watcher in $0.watchers.values { watcher.yield(status) }
        }
    }

    /// Writes the status for other programs.
    func share() {
        guard let shared else { return }
        sharing.withLock { _ in
            _ = shared.setString(self.status.sharedText, forKey: LGTVControlManager.Constants.lastStatusKey)
        }
    }

    /// Begins with the present status. A slow reader misses intermediate states, never the last one.
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
