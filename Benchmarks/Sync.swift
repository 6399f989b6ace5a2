// SPDX-License-Identifier: Apache-2.0
// What sharing costs: how soon another machine has a change, and what saving, joining and waiting take.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainServices
import KeychainSync
import KeychainVault

/// Two machines, each with its vault, and the folder that they share, all on one disk.
func measureSync(parent: String) async throws {
    let folder = parent + "/keychain-bench-" + UUID().uuidString
    defer { do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(folder)") } }
    let ring = try await BenchRing(folder)
    print("sync over a local folder")
    try await ring.measureSight()
    try await ring.measureSaves()
    try await ring.measureJoin(of: 10_000)
}

/// A machine of a ring.
private struct Member {
    let location: VaultLocation
    let sync: KeychainSync
    let shared: SecretStore
    let own: SecretStore

    init(_ folder: String) throws {
        location = try VaultLocation(folder: folder + "/vault", deviceKeyFile: folder + "/key/device.key")
        let vault = Vault.at(location)
        sync = try KeychainSync(vault: vault)
        own = SecretStore(service: "com.example.own", store: vault)
        var shared = SecretStore(service: "com.example.shared", store: vault)
        shared.synchronizable = true
        self.shared = shared
    }
}

private struct BenchRing {
    private static let value = "a token of about forty characters, say."

    let folder: String
    private let first: Member
    private let second: Member

    private var place: String { folder + "/shared" }

    init(_ folder: String) async throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            atPath: folder + "/shared", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        (first, second) = (try Member(folder + "/first"), try Member(folder + "/second"))
        try await first.sync.found(name: "first", at: .folder(place))
        _ = try await join(second, "second")
    }

    /// The first machine lets another one in.
    ///
    /// - Returns: How long it took until the other one had everything, in microseconds.
    private func join(_ machine: Member, _ name: String) async throws -> Double {
        let code = try await first.sync.invite(name: name)
        let watch = Task { [first] in try await first.sync.watch() }
        defer { watch.cancel() }
        let start = ContinuousClock.now
        try await machine.sync.join(code: code, at: .folder(place))
        return (ContinuousClock.now - start) / .microseconds(1)
    }

    // MARK: - Saving

    /// Beside a vault that is in no ring. Nothing exchanges meanwhile.
    func measureSaves() async throws {
        let alone = try Member(folder + "/alone")
        var timing = Timing()
        try timing.run(
            rounds: 9, count: 50,
            [
                ("save, in no ring", { try alone.own.save(Self.value, for: "a-\($0)") }),
                ("save, of an item that is not shared", { try first.own.save(Self.value, for: "a-\($0)") }),
                ("save, shared", { try first.shared.save(Self.value, for: "a-\($0)") }),
            ])
        let base = "save, in no ring"
        report(timing, [(base, nil), ("save, of an item that is not shared", base), ("save, shared", base)])
        for name in ["save, of an item that is not shared", "save, shared"] {
            print(String(format: "    %@: %+.1f µs", name, timing.median(name) - timing.median(base)))
        }
        try await first.sync.now(timeout: .seconds(600))
        try await second.sync.now(timeout: .seconds(600))
    }

    // MARK: - Seeing

    /// From the begin of a save to the moment at which the other machine's observer has the new value, beside the least that a
    /// folder allows: a file is written durably and put in place.
    func measureSight() async throws {
        let watches = [first, second].map { machine in Task { try await machine.sync.watch() } }
        defer { for watch in watches { watch.cancel() } }
        var changes = try await second.shared.changes(for: "seen").makeAsyncIterator()
        let before = try size()
        var (sights, floors): ([Double], [Double]) = ([], [])
        let rounds = 101
        for round in 0..<rounds {
            let start = ContinuousClock.now
            try save(round)
            guard await changes.next() != nil else { throw BenchError(status: errSecItemNotFound) }
            sights.append((ContinuousClock.now - start) / .microseconds(1))
            // Both have exchanged what they had to say about it.
            try await Task.sleep(for: .milliseconds(60))
            floors.append(try floor(round))
        }
        let base = Timing.median(floors)
        Row(name: "file written and put in place", micros: base, floor: nil, base: 1).print()
        Row(name: "save seen by the other machine", micros: Timing.median(sights), floor: "file", base: base).print()
        Row(name: "the same, p99", micros: sights.sorted()[rounds * 99 / 100], floor: "file", base: base).print()
        printCount("bytes in the folder for a change", (try size() - before) / rounds)
        // Until the watches have nothing more to do.
        try await Task.sleep(for: .seconds(8))
        let used = clock()
        try await Task.sleep(for: .seconds(10))
        let micros = Double(clock() - used) * 1_000_000 / Double(CLOCKS_PER_SEC)
        Row(name: "processor time of ten idle seconds, twice", micros: micros, floor: nil, base: 1).print()
    }

    /// A call that does not wait for a thread, as an asynchronous one does.
    private func save(_ round: Int) throws { try first.shared.save("\(Self.value) \(round)", for: "seen") }

    private func floor(_ round: Int) throws -> Double {
        let (path, bytes) = (folder + "/floor", [UInt8](repeating: 7, count: 1024))
        let start = ContinuousClock.now
        let (file, directory) = (open(path + ".tmp", O_WRONLY | O_CREAT, 0o600), open(folder, O_RDONLY))
        defer { close(directory) }
        guard write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0, close(file) == 0,
            rename(path + ".tmp", path + "-\(round)") == 0, fsync(directory) == 0
        else { throw BenchError(status: errSecInternalComponent) }
        return (ContinuousClock.now - start) / .microseconds(1)
    }

    /// Of all files that the machines share.
    private func size() throws -> Int {
        try FileManager.default.subpathsOfDirectory(atPath: place).reduce(0) { sum, path in
            let attributes = try FileManager.default.attributesOfItem(atPath: place + "/" + path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { return sum }
            return sum + ((attributes[.size] as? NSNumber)?.intValue ?? 0)
        }
    }

    // MARK: - Joining

    func measureJoin(of count: Int) async throws {
        for start in stride(from: 0, to: count, by: 1000) {
            try first.shared.transaction { transaction in
                for index in start..<start + 1000 { try transaction.save(Self.value, for: "item-\(index)") }
            }
        }
        while try await first.sync.now(timeout: .seconds(600)).sent > 0 {}
        let third = try Member(folder + "/third")
        let micros = try await join(third, "third")
        Row(name: "joining a ring of \(count) items", micros: micros, floor: nil, base: 1).print()
        let there = try await third.shared.items().count
        guard there >= count else { throw BenchError(status: errSecItemNotFound) }
        printCount("bytes in the folder then", try size())
    }

    private func printCount(_ name: String, _ count: Int) {
        print("  " + name.padding(toLength: 42, withPad: " ", startingAt: 0) + String(format: "%9d", count))
    }
}
