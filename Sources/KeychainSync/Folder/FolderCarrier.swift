// SPDX-License-Identifier: Apache-2.0
// A folder that another tool shares: Syncthing, Nextcloud, NFS, git, a USB stick.

import Dispatch
package import Foundation
package import KeychainSyncCore

/// Stores objects as files in a shared folder, under `skc1/` and the ring.
///
/// Files are never rewritten, so that tools make no conflict copies: different content has a different name. Other
/// files, hidden files and incomplete files are ignored.
///
/// ```swift
/// let carrier = FolderCarrier("/srv/shared", ring: ring.id)
/// for (name, bytes) in try await carrier.read(wanted) { … }
/// ```
///
/// Does not protect against an attacker who can write to the folder. The core detects what was changed or withheld.
package final class FolderCarrier: Carrier {
    private let path: String
    private let ring: String
    private let interval: Duration
    private let clock: any Clock<Duration>
    /// A call on a network folder may block for minutes, and must not block Swift's thread pool.
    private let queue = DispatchQueue(label: "swift-keychain.folder-carrier")

    private let mostFiles: Int
    /// The maximum number of objects with one name. A ring needs one; a second one shows that a machine was copied.
    private static let mostOfOneName = 4

    /// - Parameters:
    ///   - path: The shared folder. It must exist.
    ///   - interval: How often ``changes()`` checks the folder.
    ///   - mostFiles: How many files a listing reads at most, including other files, because the folder may have any
    ///     number.
    package init(
        _ path: String, ring: RingID, interval: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock(),
        mostFiles: Int = 4 * Bounds.listing
    ) {
        (self.path, self.ring, self.interval, self.clock) = (path, ring.hex, interval, clock)
        self.mostFiles = mostFiles
    }

    /// The rings that have objects in a folder.
    package static func rings(in path: String) async throws(CarrierFailure) -> [RingID] {
        let carrier = FolderCarrier(path, ring: .zero)
        return try await carrier.run { (carrier) throws(CarrierFailure) in
            guard let top = try OpenFolder.shared(carrier.path).folder("skc1") else { return [] }
            var budget = carrier.mostFiles
            return try top.names(&budget).compactMap { ObjectName("g/" + $0) }
                .compactMap { if case .entry(let hash) = $0 { hash } else { nil } }.sorted()
        }
    }

    package func list() async throws(CarrierFailure) -> Listing {
        try await run { (carrier) throws(CarrierFailure) in
            var names: Set<ObjectName> = []
            try carrier.forEachFile { file, _ in names.insert(file.object) }
            guard names.count <= Bounds.listing else {
                throw CarrierFailure(
                    .overcrowded,
                    "'\(carrier.path)' has more objects than a ring needs. Remove files that do not belong to it.")
            }
            return Listing(names: names)
        }
    }

    /// Reads at most about 64 MiB; the caller asks again for the rest.
    package func read(_ names: [ObjectName]) async throws(CarrierFailure) -> [(name: ObjectName, bytes: Data)] {
        try await run { (carrier) throws(CarrierFailure) in
            var (objects, size): ([(name: ObjectName, bytes: Data)], Int) = ([], 0)
            try carrier.forEachFile(of: names) { (folder, files) throws(CarrierFailure) in
                for file in files.prefix(Self.mostOfOneName) where size < Bounds.waiting {
                    // An incomplete file is read later.
                    guard let bytes = try folder.bytes(of: file.parts.file), file.isOf(bytes) else { continue }
                    objects.append((file.object, bytes))
                    size += bytes.count
                }
            }
            return objects
        }
    }

    package func publish(_ name: ObjectName, _ bytes: Data) async throws(CarrierFailure) -> Publication {
        guard bytes.count <= Bounds.object else {
            throw CarrierFailure(
                .tooLarge, "An object has \(bytes.count) bytes, which is more than the maximum. Please report this.")
        }
        return try await run { (carrier) throws(CarrierFailure) in try carrier.place(FileName(name, bytes), bytes) }
    }

    private func place(_ file: FileName, _ bytes: Data) throws(CarrierFailure) -> Publication {
        let (parts, name) = file.parts
        var folder = try OpenFolder.shared(path)
        for part in ["skc1", ring] + parts { folder = try folder.folderForWriting(part) }
        var isThere = false
        if let present = try folder.bytes(of: name) {
            isThere = present == bytes
            if !isThere { _ = try folder.make(name, bytes, replacing: true) }
        } else {
            isThere = try !folder.make(name, bytes, replacing: false)
        }
        try folder.removeResidue(beside: name)
        var budget = mostFiles
        let others = try folder.names(&budget).contains {
            $0 != name && FileName(parts.joined(separator: "/"), $0)?.object == file.object
        }
        return others ? .otherThere : isThere ? .alreadySame : .created
    }

    package func remove(_ names: [ObjectName]) async throws(CarrierFailure) {
        try await run { (carrier) throws(CarrierFailure) in
            try carrier.forEachFile(of: names) { (folder, files) throws(CarrierFailure) in
                for file in files { try folder.remove(file.parts.file) }
            }
        }
    }

    package func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch = Task { [self] in
            var last: Int?
            while !Task.isCancelled {
                let state = await state()
                if state != last { continuation.yield() }
                last = state
                do { try await clock.sleep(for: interval) } catch { break }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }

    /// Changes whenever a file is added or removed; `nil` while the folder cannot be reached.
    private func state() async -> Int? {
        do throws(CarrierFailure) {
            return try await run { (carrier) throws(CarrierFailure) in
                var state = 0
                try carrier.forEachFile { file, _ in state ^= file.hashValue }
                return state
            }
        } catch {
            return nil
        }
    }

    // MARK: - Files

    /// Runs on the carrier's own thread.
    private func run<Result: Sendable>(
        _ body: @escaping @Sendable (FolderCarrier) throws(CarrierFailure) -> Result
    ) async throws(CarrierFailure) -> Result {
        let outcome: Swift.Result<Result, CarrierFailure> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(CarrierFailure) {
                    continuation.resume(returning: .success(try body(self)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try outcome.get()
    }

    private func ringFolder() throws(CarrierFailure) -> OpenFolder? {
        try OpenFolder.shared(path).folder("skc1")?.folder(ring)
    }

    private func forEachFile(_ body: (FileName, OpenFolder) -> Void) throws(CarrierFailure) {
        guard let top = try ringFolder() else { return }
        var budget = mostFiles
        for kind in ["g", "h", "j", "k", "l", "s"] {
            guard let folder = try top.folder(kind) else { continue }
            for name in try folder.names(&budget) {
                if let file = FileName(kind, name) {
                    body(file, folder)
                } else if let inner = try folder.folder(name) {
                    for name2 in try inner.names(&budget) {
                        if let file = FileName(kind + "/" + name, name2) { body(file, inner) }
                    }
                }
            }
        }
    }

    /// The existing files of each name.
    private func forEachFile(
        of names: [ObjectName], _ body: (OpenFolder, [FileName]) throws(CarrierFailure) -> Void
    ) throws(CarrierFailure) {
        guard let top = try ringFolder() else { return }
        let folders = Dictionary(grouping: names) { $0.text.split(separator: "/").dropLast().joined(separator: "/") }
        for (path, wanted) in folders.sorted(by: { $0.key < $1.key }) {
            var folder: OpenFolder? = top
            for part in path.split(separator: "/") { folder = try folder?.folder(String(part)) }
            guard let folder else { continue }
            var budget = mostFiles
            let there = Dictionary(grouping: try folder.names(&budget).compactMap { FileName(path, $0) }, by: \.object)
            for name in wanted { try body(folder, (there[name] ?? []).sorted { $0.hash < $1.hash }) }
        }
    }
}
