// SPDX-License-Identifier: Apache-2.0
// Noticing what others put into a shared folder.

import KeychainSyncCore
import SecretMemory

extension FolderCarrier {
    /// Changes that other programs of this machine make are noticed at once; those of this process are passed over. It also looks from
    /// time to time, since the kernel tells nothing of what other machines do in a network folder.
    package func changes() -> AsyncStream<Void> {
        let (stream, hints) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch = Task { [self] in
            let (looks, look) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let told = Guarded<(news: FolderEvents.News, own: Int)>(([], 0))
            let events = FolderEvents(most: mostWatches, own: own) { news, own in
                told.withLock { told in
                    told.news.formUnion(news)
                    told.own ^= own
                }
                if !news.isEmpty { look.yield() }
            }
            var (last, next): (Int?, Task<Void, any Error>?)
            look.yield()
            for await _ in looks {
                let (news, own) = told.withLock { told in
                    defer { told = ([], 0) }
                    return told
                }
                last = last.map { $0 ^ own }
                // The caller lists the folder for an object. A look at the same time would delay that.
                let isHinted = news == .object
                if isHinted {
                    hints.yield()
                    do { try await Task.sleep(for: Self.shortestPause) } catch { break }
                }
                let (begin, additions) = (ContinuousClock.now, events.additionCount)
                let (state, isWatched) = await state(events)
                let taken = ContinuousClock.now - begin
                // Of what came into a watched folder meanwhile there is another event. In a folder that was not, anything may lie.
                let isAllTold = isHinted && isWatched && events.additionCount == additions
                if state != last, !isAllTold { hints.yield() }
                last = state
                next?.cancel()
                next = Task { [clock, intervals] in
                    try await clock.sleep(for: isWatched ? intervals.watched : intervals.otherwise)
                    look.yield()
                }
                // A tool that copies many files is looked at now and then, not for each of them. Whatever others do in the
                // folder, looking takes a tenth of the time at most.
                let pause = min(max(Self.shortestPause, taken * 9), .seconds(5))
                do { try await Task.sleep(for: pause - (isHinted ? Self.shortestPause : .zero)) } catch { break }
            }
            next?.cancel()
            hints.finish()
        }
        hints.onTermination = { _ in watch.cancel() }
        return stream
    }

    private static let shortestPause = Duration.milliseconds(10)

    /// What a file of this size adds to the state of its folder.
    static func mark(_ file: FileName, _ size: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(file)
        hasher.combine(size)
        return hasher.finalize()
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
                try carrier.forEachFile(entering: { isWatched = events.watch($0.path) && isWatched }) {
                    state ^= FolderCarrier.mark($0, $1)
                }
                return (state, isWatched && FolderEvents.tellsAll(of: carrier.path))
            }
        } catch {
            return (nil, false)
        }
    }

    /// The folders into which others put what this machine fetches, in ascending order. The first object of a writer that comes later is
    /// seen there too, as a new folder.
    func foldersToWatch() async throws(CarrierFailure) -> [String] {
        try await run { (carrier) throws(CarrierFailure) in
            let ring = [carrier.path, FolderCarrier.top, carrier.ring].joined(separator: "/")
            var writers: [String] = []
            try carrier.forEachFile(entering: { if $0.path.hasPrefix(ring + "/l/") { writers.append($0.path) } }) {
                _, _ in
            }
            return ["g", "j", "k", "l", "s"].map { ring + "/" + $0 } + writers.sorted()
        }
    }
}
