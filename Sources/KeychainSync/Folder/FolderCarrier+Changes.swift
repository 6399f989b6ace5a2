// SPDX-License-Identifier: Apache-2.0
// Noticing what others put into a shared folder.

import KeychainSyncCore

extension FolderCarrier {
    /// Changes that are made on this machine are noticed at once. It also looks from time to time, since the kernel tells nothing of
    /// what other machines do in a network folder.
    package func changes() -> AsyncStream<Void> {
        let (stream, hints) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch = Task { [self] in
            let (looks, look) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let events = FolderEvents(most: mostWatches) { look.yield() }
            var (last, next): (Int?, Task<Void, any Error>?)
            look.yield()
            for await _ in looks {
                let begin = ContinuousClock.now
                let (state, isWatched) = await state(events)
                let taken = ContinuousClock.now - begin
                if state != last { hints.yield() }
                last = state
                next?.cancel()
                next = Task { [clock, intervals] in
                    try await clock.sleep(for: isWatched ? intervals.watched : intervals.otherwise)
                    look.yield()
                }
                // A tool that copies many files is looked at now and then, not for each of them. Whatever others do in the
                // folder, looking takes a tenth of the time at most.
                let pause = min(max(.milliseconds(10), taken * 9), .seconds(5))
                do { try await Task.sleep(for: pause) } catch { break }
            }
            next?.cancel()
            hints.finish()
        }
        hints.onTermination = { _ in watch.cancel() }
        return stream
    }

    /// The first value differs whenever a file has come, grown or gone; it is `nil` while the folder cannot be reached. The second one
    /// says whether the kernel will tell of the next change, also of one that is made meanwhile.
    private func state(_ events: FolderEvents) async -> (Int?, Bool) {
        do throws(CarrierFailure) {
            return try await run { (carrier) throws(CarrierFailure) in
                var state = 0
                var isWatched = events.watch(carrier.path, for: FolderCarrier.top, linked: true)
                // Each folder is watched before it is read.
                isWatched = events.watch(carrier.path + "/" + FolderCarrier.top, for: carrier.ring) && isWatched
                try carrier.forEachFile(entering: { isWatched = events.watch($0.path) && isWatched }) { file, size in
                    var hasher = Hasher()
                    hasher.combine(file)
                    hasher.combine(size)
                    state ^= hasher.finalize()
                }
                return (state, isWatched && FolderEvents.tellsAll(of: carrier.path))
            }
        } catch {
            return (nil, false)
        }
    }
}
