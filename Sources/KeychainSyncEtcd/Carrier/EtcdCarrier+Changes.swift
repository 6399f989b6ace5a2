// SPDX-License-Identifier: Apache-2.0
// Watching an etcd.

#if Etcd
    import Foundation
    import KeychainSync
    import KeychainSyncCore
    import SecretMemory

    extension EtcdCarrier {
        /// An event is only a hint to list again. So nothing is lost if the history was compacted or etcd was restored.
        func changes() -> AsyncStream<Void> {
            let (stream, hints) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let watch = Task { [self] in
                let progress = Guarded(WatchProgress())
                var (failures, pause, end) = (0, timing.pauses.first, End.again)
                while !Task.isCancelled {
                    progress.withLock { $0.begin(isHinting: end != .silent) }
                    let begin = ContinuousClock.now
                    end = await follow(progress, client.endpoint(failures), hints)
                    if end == .silent { continue }
                    failures = end == .again ? 0 : failures + 1
                    // A watch that has lasted is over the former failures. One that a node begins and drops is another failure.
                    let hasLasted = progress.withLock { $0.hasBegun } && .now - begin > pause
                    if end == .again || hasLasted { pause = timing.pauses.first }
                    do { try await Task.sleep(for: pause * Double.random(in: 0.5...1.5)) } catch { break }
                    pause = min(pause * 2, timing.pauses.longest)
                }
                hints.finish()
            }
            hints.onTermination = { _ in watch.cancel() }
            return stream
        }

        private enum End {
            /// Nothing was heard for a while.
            case silent
            /// It has to begin from now.
            case again
            case failed
        }

        private func follow(
            _ progress: Guarded<WatchProgress>, _ endpoint: EtcdEndpoint, _ hints: AsyncStream<Void>.Continuation
        ) async -> End {
            await withTaskGroup(of: End.self) { group in
                group.addTask { [self] in await read(progress, endpoint, hints) }
                group.addTask { [timing] in
                    // A connection that was lost on the way looks like one over which nothing happens.
                    while true {
                        let rest = progress.withLock { $0.heard } + timing.silence - .now
                        guard rest > .zero else { return progress.withLock { $0.hasBegun } ? .silent : .failed }
                        do { try await Task.sleep(for: rest) } catch { return .silent }
                    }
                }
                defer { group.cancelAll() }
                return await group.next() ?? .failed
            }
        }

        private func read(
            _ progress: Guarded<WatchProgress>, _ endpoint: EtcdEndpoint, _ hints: AsyncStream<Void>.Continuation
        ) async -> End {
            do {
                let connection = try await client.connection(to: endpoint, timing.first)
                let body = try requests(from: progress.withLock { $0.next })
                var end = End.failed
                try await connection.lines("watch", body, within: timing.first * 4) { (line) throws(TryFailure) in
                    guard let line = EtcdJSON.decode(WatchLine.self, line) else { throw .notEtcd }
                    let step = progress.withLock { $0.take(line) }
                    if step.isHint { hints.yield() }
                    if step.isRefused { client.forgetToken() }
                    if step.goesOn { return true }
                    if step.isAgain { end = .again }
                    return false
                }
                return end
            } catch {
                if error is EtcdRefusal { client.forgetToken() }
                return .failed
            }
        }

        /// Several watches in one body.
        private func requests(from revision: UInt64?) throws -> Data {
            var body = Data()
            for (index, kind) in WatchProgress.kinds.enumerated() {
                body += try JSONEncoder().encode(WatchRequest(keys.range(below: kind), id: index + 1, from: revision))
            }
            return body
        }
    }

    /// What a watch has seen.
    struct WatchProgress {
        /// From where to go on; `nil`: from now.
        private(set) var next: UInt64?
        private(set) var heard = ContinuousClock.now
        private var isHinting = true
        /// Watches of this connection that have begun.
        private var begun = 0
        /// Of objects; each is a watch.
        static let kinds = ["g/", "h/", "j/", "k/", "l/", "s/"]

        /// Whether all watches of this connection have begun. One that is silent before has failed: its hint never came, and the next node
        /// may do better.
        var hasBegun: Bool { begun == Self.kinds.count }

        struct Step: Equatable {
            var isHint = false
            var goesOn = false
            /// Whether to open the watch again at once.
            var isAgain = false
            var isRefused = false
        }

        /// - Parameter isHinting: Whether it is a hint that the last watch begins. It is none if the last connection was only silent.
        ///   Otherwise there may be changes without an event: those before a watch that has no `next`, also after the first one began;
        ///   and after etcd was restored, those by which its counter has passed `next`.
        mutating func begin(isHinting: Bool) { (heard, begun, self.isHinting) = (.now, 0, isHinting) }

        mutating func take(_ line: WatchLine) -> Step {
            // A watch that is refused is also created.
            if let refusal = line.error?.refusal { return Step(isRefused: refusal == .invalidToken) }
            guard let result = line.result else { return Step() }
            if result.canceled == true { return cancelled(result) }
            heard = .now
            let revision = result.header?.revision.value ?? 0
            if result.created == true {
                begun += 1
                let next = next ?? revision + 1
                self.next = next
                guard revision >= next - 1 else {
                    // It was restored, and would be silent until its counter has passed; or this node is behind the others, and
                    // the next one may not be.
                    self.next = nil
                    return Step(isHint: true, isAgain: true)
                }
                return Step(isHint: isHinting && hasBegun, goesOn: true)
            }
            guard let events = result.events, !events.isEmpty else { return Step(goesOn: true) }
            if let known = next { next = max(known, revision + 1) }
            return Step(isHint: true, goesOn: true)
        }

        private mutating func cancelled(_ result: WatchLine.Result) -> Step {
            if let compacted = result.compacted?.value, compacted > 0, next != nil {
                next = nil
                return Step(isHint: true, isAgain: true)
            }
            return Step(isRefused: EtcdRefusal(cancelled: result.reason ?? "") == .invalidToken)
        }
    }
#endif
