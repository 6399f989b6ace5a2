// SPDX-License-Identifier: Apache-2.0
// What sharing costs: how soon another machine has a change, and what saving, joining and waiting take.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainServices
import KeychainSync
import KeychainSyncEtcd
import KeychainVault

/// Two machines, each with its vault, and the folder that they share, all on one disk. Then the same over an etcd.
func measureSync(parent: String) async throws {
    try await measureSync(parent, "sync over a local folder") { try BenchPlace(folder: $0) }
    #if Etcd
        guard let program = BenchEtcd.program else {
            return print("sync over etcd was not measured: not installed (Debian: etcd-server, etcd-client)")
        }
        try await measureSync(parent, "sync over etcd, one node") { try BenchPlace(etcd: BenchEtcd(program, $0)) }
    #else
        print("sync over etcd was not measured: it was built without the trait Etcd")
    #endif
}

private func measureSync(_ parent: String, _ title: String, _ place: (String) throws -> BenchPlace) async throws {
    let folder = parent + "/keychain-bench-" + UUID().uuidString
    defer { do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(folder)") } }
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let ring = try await BenchRing(folder, place(folder))
    print(title)
    try await ring.measureSight()
    try await ring.measureSaves()
    try await ring.measureJoin(of: 10_000)
}

/// What machines share, and the least that it allows.
struct BenchPlace {
    let place: SyncPlace
    let ways: [SyncWay]
    /// What the floor does, in the table and in short.
    let floor: (name: String, short: String)
    /// Stores 1 KiB durably, under the name of a round.
    let store: (Int) throws -> Void
    /// The bytes of all that is shared.
    let size: () throws -> Int

    init(folder: String) throws {
        let shared = folder + "/shared"
        try FileManager.default.createDirectory(
            atPath: shared, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        (place, ways, floor) = (try .folder(shared), [], ("file written and put in place", "file"))
        store = { try Self.write("\(folder)/floor-\($0)", in: folder) }
        size = { try Self.size(of: shared) }
    }

    #if Etcd
        init(etcd: BenchEtcd) throws {
            (place, ways, floor) = (try etcd.place, [.etcd], ("put of etcd, over HTTP", "put"))
            store = { try etcd.put("floor-\($0)", [UInt8](repeating: 7, count: 1024)) }
            size = { try etcd.size() }
        }
    #endif

    private static func write(_ path: String, in folder: String) throws {
        let bytes = [UInt8](repeating: 7, count: 1024)
        let (file, directory) = (open(path + ".tmp", O_WRONLY | O_CREAT, 0o600), open(folder, O_RDONLY))
        defer { close(directory) }
        guard Foundation.write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0, close(file) == 0,
            rename(path + ".tmp", path) == 0, fsync(directory) == 0
        else { throw BenchError(status: errSecInternalComponent) }
    }

    private static func size(of folder: String) throws -> Int {
        try FileManager.default.subpathsOfDirectory(atPath: folder).reduce(0) { sum, path in
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { return sum }
            return sum + ((attributes[.size] as? NSNumber)?.intValue ?? 0)
        }
    }
}

/// A machine of a ring.
private struct Member {
    let location: VaultLocation
    let sync: KeychainSync
    let shared: SecretStore
    let own: SecretStore

    init(_ folder: String, _ ways: [SyncWay] = []) throws {
        location = try VaultLocation(folder: folder + "/vault", deviceKeyFile: folder + "/key/device.key")
        let vault = Vault.at(location)
        sync = try KeychainSync(vault: vault, ways: ways)
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

    private let shared: BenchPlace

    init(_ folder: String, _ shared: BenchPlace) async throws {
        (self.folder, self.shared) = (folder, shared)
        (first, second) = (
            try Member(folder + "/first", shared.ways), try Member(folder + "/second", shared.ways)
        )
        try await first.sync.found(name: "first", at: shared.place)
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
        try await machine.sync.join(code: code, at: shared.place)
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

    /// From the begin of a save to the moment at which the other machine's observer has the new value, beside the least that what they
    /// share allows.
    func measureSight() async throws {
        let watches = [first, second].map { machine in Task { try await machine.sync.watch() } }
        defer { for watch in watches { watch.cancel() } }
        var changes = try await second.shared.changes(for: "seen").makeAsyncIterator()
        let before = try shared.size()
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
        Row(name: shared.floor.name, micros: base, floor: nil, base: 1).print()
        Row(
            name: "save seen by the other machine", micros: Timing.median(sights), floor: shared.floor.short, base: base
        ).print()
        Row(name: "the same, p99", micros: sights.sorted()[rounds * 99 / 100], floor: shared.floor.short, base: base)
            .print()
        printCount("bytes stored for a change", (try shared.size() - before) / rounds)
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
        let start = ContinuousClock.now
        try shared.store(round)
        return (ContinuousClock.now - start) / .microseconds(1)
    }

    // MARK: - Joining

    func measureJoin(of count: Int) async throws {
        for start in stride(from: 0, to: count, by: 1000) {
            try first.shared.transaction { transaction in
                for index in start..<start + 1000 { try transaction.save(Self.value, for: "item-\(index)") }
            }
        }
        while try await first.sync.now(timeout: .seconds(600)).sent > 0 {}
        let third = try Member(folder + "/third", shared.ways)
        let micros = try await join(third, "third")
        Row(name: "joining a ring of \(count) items", micros: micros, floor: nil, base: 1).print()
        let there = try await third.shared.items().count
        guard there >= count else { throw BenchError(status: errSecItemNotFound) }
        printCount("bytes stored then", try shared.size())
    }

    private func printCount(_ name: String, _ count: Int) {
        print("  " + name.padding(toLength: 42, withPad: " ", startingAt: 0) + String(format: "%9d", count))
    }
}
