// SPDX-License-Identifier: Apache-2.0
// A folder that another tool shares: Syncthing, Nextcloud, NFS, git, a USB stick.

package import Dispatch
import Foundation
package import KeychainSyncCore
import SecretMemory

/// Stores objects as files in a shared folder, under `skc1/` and the ring.
///
/// No file is ever rewritten unless it is damaged, so that no tool makes a copy of a conflict: whatever has another content has another
/// name. Files of others, hidden ones, empty ones and half-copied ones are passed over.
///
/// ```swift
/// let carrier = FolderCarrier("/srv/shared", ring: ring.id)
/// for (name, bytes) in try await carrier.read(wanted).objects { … }
/// ```
///
/// Does not protect against an attacker who can write to the folder. The core detects what was changed or withheld.
package final class FolderCarrier: Carrier {
    let path: String
    let ring: String
    let intervals: Intervals
    let clock: any Clock<Duration>
    let mostWatches: Int
    /// A call on a network folder may block for minutes, and must not block Swift's thread pool.
    private let queue: DispatchQueue
    private let timeout: Duration
    let own: OwnFiles

    let mostFiles: Int
    private let mostNames: Int
    /// Objects of one name. A ring needs one; a second one tells that a machine was copied, and anybody may have put others there.
    private static let mostOfOneName = 64
    /// So long a file that is not whole is perhaps still being copied, in seconds.
    private static let grace = 600
    /// How often ``changes()`` looks.
    package struct Intervals: Sendable {
        /// Where changes can come that the kernel does not tell of: other machines write to a network folder.
        package var otherwise: Duration
        /// Where the kernel tells of every change.
        package var watched: Duration

        package init(otherwise: Duration = .seconds(5), watched: Duration = .seconds(60)) {
            (self.otherwise, self.watched) = (otherwise, watched)
        }
    }

    /// In the shared folder; it holds a folder for each ring.
    static let top = "skc1"

    /// - Parameters:
    ///   - path: The shared folder. It must exist.
    ///   - own: What the carriers of one machine have in common: ``changes()`` does not tell of what another one of them publishes.
    ///   - intervals: How often ``changes()`` looks at the folder without having been told of a change.
    ///   - mostWatches: How many folders the kernel is asked to watch at most. What lies in others is only seen when looking.
    ///   - mostFiles: How many files a listing reads at most, including other files, because the folder may have any
    ///     number.
    ///   - mostNames: How many objects a listing has at most.
    ///   - timeout: After which time a call fails because the folder does not answer.
    package init(
        _ path: String, ring: RingID, own: OwnFiles = OwnFiles(), intervals: Intervals = Intervals(),
        clock: any Clock<Duration> = ContinuousClock(), mostWatches: Int = 2048,
        mostFiles: Int = 4 * Bounds.listing, mostNames: Int = Bounds.listing, timeout: Duration = .seconds(120),
        queue: DispatchQueue = DispatchQueue(label: "swift-keychain.folder-carrier")
    ) {
        (self.path, self.ring, self.intervals, self.clock) = (path, ring.hex, intervals, clock)
        (self.mostWatches, self.mostFiles, self.mostNames) = (mostWatches, mostFiles, mostNames)
        (self.timeout, self.queue, self.own) = (timeout, queue, own)
    }

    /// The rings that have objects in a folder.
    package static func rings(in path: String) async throws(CarrierFailure) -> [RingID] {
        let carrier = FolderCarrier(path, ring: .zero)
        return try await carrier.run { (carrier) throws(CarrierFailure) in
            guard let top = try OpenFolder.shared(carrier.path).folder(Self.top) else { return [] }
            var budget = carrier.mostFiles
            return try top.names(&budget).compactMap { ObjectName("g/" + $0) }
                .compactMap { if case .entry(let hash) = $0 { hash } else { nil } }.sorted()
        }
    }

    package func list() async throws(CarrierFailure) -> Listing {
        try await run { (carrier) throws(CarrierFailure) in
            var (names, contents) = (Set<ObjectName>(), [ObjectName: Set<ListedContent>]())
            try carrier.forEachFile { file, size in
                names.insert(file.object)
                contents[file.object, default: []].insert(ListedContent(fingerprint: file.fingerprint, size: size))
            }
            guard names.count <= carrier.mostNames else {
                throw CarrierFailure(
                    .overcrowded,
                    "'\(carrier.path)' has more objects than a ring needs. Remove files that do not belong to it.")
            }
            return Listing(names: names, contents: contents)
        }
    }

    /// Reads at most about 64 MiB; the rest is asked for again.
    package func read(_ names: [ObjectName]) async throws(CarrierFailure) -> CarrierReading {
        try await run { (carrier) throws(CarrierFailure) in
            var (reading, size) = (CarrierReading(), 0)
            try carrier.forEachFolder(of: names) { (folder, files) throws(CarrierFailure) in
                for (name, files) in files where size < Bounds.waiting {
                    var (count, isDamaged) = (0, false)
                    for file in files where count < Self.mostOfOneName {
                        // What was not copied wholly comes later.
                        guard let bytes = try folder.bytes(of: file.parts.file), file.isOf(bytes) else {
                            let name = file.parts.file
                            isDamaged =
                                isDamaged || folder.hasForeign(name) || folder.isUnchanged(name, for: Self.grace)
                            continue
                        }
                        reading.objects.append((name, bytes))
                        (count, size) = (count + 1, size + bytes.count)
                    }
                    if count == 0, isDamaged { reading.damaged.append(name) }
                }
            }
            return reading
        }
    }

    package func remove(_ names: [ObjectName]) async throws(CarrierFailure) {
        try await run { (carrier) throws(CarrierFailure) in
            try carrier.forEachFolder(of: names) { (folder, files) throws(CarrierFailure) in
                for file in files.flatMap(\.files) { try folder.remove(file.parts.file) }
                // A writer goes on writing. Syncthing does not watch a folder that was removed and made again (its issue 7879): it would
                // carry what comes next only when it looks at all files, by default once an hour.
                if case .segment = files.first?.name { return }
                folder.removeIfEmpty()
            }
        }
    }

    // MARK: - Files

    /// Runs on the carrier's own thread. A server that is gone may never answer; the thread then waits without its caller. What it does
    /// later does no harm: a file that is written is the one that the next exchange would write.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (FolderCarrier) throws(CarrierFailure) -> Result
    ) async throws(CarrierFailure) -> Result {
        let outcome: Swift.Result<Result, CarrierFailure> = await withCheckedContinuation { continuation in
            let caller = Guarded<CheckedContinuation<Swift.Result<Result, CarrierFailure>, Never>?>(continuation)
            let answer: @Sendable (Swift.Result<Result, CarrierFailure>) -> Void = { outcome in
                caller.withLock { caller in
                    caller?.resume(returning: outcome)
                    caller = nil
                }
            }
            let limit = Task { [path, timeout] in
                do { try await Task.sleep(for: timeout) } catch { return }
                answer(.failure(.silent(path)))
            }
            queue.async {
                do throws(CarrierFailure) { answer(.success(try body(self))) } catch { answer(.failure(error)) }
                limit.cancel()
            }
        }
        return try outcome.get()
    }

    private func ringFolder() throws(CarrierFailure) -> OpenFolder? {
        try OpenFolder.shared(path).folder(Self.top)?.folder(ring)
    }

    /// Every file that may be an object, with its size. Something else than a file in the place of what opens the ring is listed with the
    /// size 0: a machine that needs it names it.
    ///
    /// - Parameter entering: Is given each folder before its names are read.
    func forEachFile(
        entering: (OpenFolder) -> Void = { _ in }, _ body: (FileName, Int) -> Void
    ) throws(CarrierFailure) {
        guard let top = try ringFolder() else { return }
        entering(top)
        var budget = mostFiles
        for kind in ["g", "h", "j", "k", "l", "s"] {
            guard let folder = try top.folder(kind) else { continue }
            entering(folder)
            for name in try folder.names(&budget) {
                if let file = FileName(kind, name) {
                    if let size = Self.size(of: file, name, in: folder) { body(file, size) }
                } else if let inner = try folder.folder(name) {
                    entering(inner)
                    for name2 in try inner.names(&budget) {
                        guard let file = FileName(kind + "/" + name, name2),
                            let size = Self.size(of: file, name2, in: inner)
                        else { continue }
                        body(file, size)
                    }
                }
            }
        }
    }

    /// - Returns: `nil` for what is not listed.
    private static func size(of file: FileName, _ name: String, in folder: OpenFolder) -> Int? {
        if let size = folder.size(of: name) { return size }
        return switch file.object {
        case .entry, .wrap: folder.hasForeign(name) ? 0 : nil
        case .segment, .snapshot, .head, .invitation, .request: nil
        }
    }

    /// The folders of the names, and the files of each name that are there.
    private func forEachFolder(
        of names: [ObjectName],
        _ body: (OpenFolder, [(name: ObjectName, files: [FileName])]) throws(CarrierFailure) -> Void
    ) throws(CarrierFailure) {
        guard let top = try ringFolder() else { return }
        let folders = Dictionary(grouping: names) { $0.text.split(separator: "/").dropLast().joined(separator: "/") }
        for (path, wanted) in folders.sorted(by: { $0.key < $1.key }) {
            var folder: OpenFolder? = top
            for part in path.split(separator: "/") { folder = try folder?.folder(String(part)) }
            guard let folder else { continue }
            var budget = mostFiles
            let there = Dictionary(grouping: try folder.names(&budget).compactMap { FileName(path, $0) }, by: \.object)
            try body(folder, wanted.map { ($0, (there[$0] ?? []).sorted { $0.hash < $1.hash }) })
        }
    }
}
