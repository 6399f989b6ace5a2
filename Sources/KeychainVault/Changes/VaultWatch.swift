// SPDX-License-Identifier: Apache-2.0
// Waiting for changes of one vault, without using the processor while idle.

import SecretMemory

#if os(Linux)
    import Foundation
    import KeychainEngine

    /// Reports every change of a vault, from its creation until ``end()``.
    ///
    /// SQLite writes its WAL before a change is visible, and makes the change visible through shared memory, for which
    /// the kernel sends no events. So the lock file is the signal: a writer holds it open until the change is visible,
    /// and the kernel reports when it is closed, also if the process was killed.
    final class VaultWatch: Sendable {
        private static let retryPause = DispatchTimeInterval.seconds(1)

        private let process = getpid()
        private let inotify: Inotify
        /// `nil` after ``end()``: the descriptor number may belong to another file by then.
        private let folder: Guarded<FolderWatch?>
        private let queue = DispatchQueue(label: "swift-keychain.changes")
        private let source: Guarded<any DispatchSourceRead>
        private let unlocking: UnlockingWatch
        private let tell: @Sendable () -> Void
        private let isRetrying = Guarded(false)

        /// - Parameters:
        ///   - idleTimeout: How long the vault stays unlocked without use; `nil` if it is not unlocked, or has no
        ///     timeout.
        ///   - tell: Called after every change, on a queue that must not be blocked.
        /// - Throws: `unavailable` if the kernel gives no more descriptors or watches.
        init(
            _ location: VaultLocation, idleTimeout: @escaping UnlockingWatch.IdleTimeout,
            tell: @escaping @Sendable () -> Void
        ) throws(KeychainError) {
            inotify = try Inotify(location.folder)
            var folder = FolderWatch(inotify, location)
            do throws(KeychainError) {
                try folder.settle()
            } catch {
                close(inotify.descriptor)
                throw error
            }
            self.folder = Guarded(folder)
            self.tell = tell
            source = Guarded(DispatchSource.makeReadSource(fileDescriptor: inotify.descriptor, queue: queue))
            unlocking = UnlockingWatch(queue, idleTimeout: idleTimeout, tell: tell)
            source.withLock { source in
                source.setEventHandler { [weak self] in self?.takeNews() }
                source.setCancelHandler { [inotify] in close(inotify.descriptor) }
                source.activate()
            }
            queue.async { [unlocking] in unlocking.look() }
        }

        /// `false` in the child of a fork, which has the descriptor of its parent and none of its threads.
        var isOfThisProcess: Bool { process == getpid() }

        func end() {
            folder.withLock { $0 = nil }
            unlocking.end()
            source.withLock { $0.cancel() }
        }

        private func takeNews() {
            let news = folder.withLock { $0?.news(inotify.events()) ?? .nothing }
            guard news > .nothing else { return }
            if news == .place { settle() }
            tell()
            unlocking.look()
        }

        /// If the kernel gives no watches at the moment, this can only try again later.
        private func settle() {
            do throws(KeychainError) {
                try folder.withLock { (folder) throws(KeychainError) in try folder?.settle() }
            } catch {
                retry()
            }
        }

        private func retry() {
            let isFirst = isRetrying.withLock { isRetrying in
                defer { isRetrying = true }
                return !isRetrying
            }
            guard isFirst else { return }
            queue.asyncAfter(deadline: .now() + Self.retryPause) { [weak self] in
                guard let self else { return }
                isRetrying.withLock { $0 = false }
                settle()
                tell()
            }
        }
    }
#endif
