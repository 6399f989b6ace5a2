// SPDX-License-Identifier: Apache-2.0
// What one read, one addition and one opening cost, beside the floor, at three sizes.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainServices
import KeychainVault

/// One vault and one floor of the same number of rows, in a folder of their own.
final class Bench {
    let size: Int
    let location: VaultLocation
    let services: Services
    let floor: Floor
    private let folder: String
    private let value = Data("a token of about forty characters, say.".utf8)

    init(size: Int, parent: String) throws {
        self.size = size
        folder = parent + "/keychain-bench-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        location = try VaultLocation(folder: folder + "/vault", deviceKeyFile: folder + "/key/device.key")
        services = Services(engine: Engine(store: Vault.at(location)), accessGroups: .unrestricted)
        // locator, scope, metadata (256 + 28) and value (64 + 88) of an item with a short account, service and value.
        floor = try Floor(path: folder + "/floor.db", rowSize: 32 + 284 + 152)
        try floor.fill(size)
        try fill()
    }

    /// In transactions, each of as many items as one may have without growing large.
    private func fill() throws {
        let store = SecretStore(service: "com.example.service", store: services.engine.store)
        for start in stride(from: 0, to: size, by: 1000) {
            try store.transaction { transaction in
                for index in start..<min(start + 1000, size) { try transaction.save(value, for: "account-\(index)") }
            }
        }
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(folder)") }
    }

    func add(_ index: Int) throws {
        var query = query(index)
        query.value = value
        _ = try services.engine.add(query, accessGroups: .unrestricted)
    }

    func secItemAdd(_ index: Int) throws {
        let status = services.add(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.service",
                kSecAttrAccount: "account-\(index)", kSecValueData: value,
            ] as NSDictionary, nil)
        guard status == errSecSuccess else { throw BenchError(status: status) }
    }

    func read(_ index: Int) throws {
        var query = query(index % size)
        query.returns = .value
        _ = try services.engine.copyMatching(query, accessGroups: .unrestricted)
    }

    func secItemCopyMatching(_ index: Int) throws {
        var result: AnyObject?
        let status = services.copyMatching(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.service",
                kSecAttrAccount: "account-\(index % size)", kSecReturnData: true,
            ] as NSDictionary, &result)
        guard status == errSecSuccess, result is Data else { throw BenchError(status: status) }
    }

    func searchByAccount(_ index: Int) throws {
        var query = Query(.genericPassword, [.account: .string("account-\(index % size)")])
        query.returns = .value
        _ = try services.engine.copyMatching(query, accessGroups: .unrestricted)
    }

    func open() throws {
        let engine = Engine(store: Vault(location))
        var query = query(size / 2)
        query.returns = .value
        _ = try engine.copyMatching(query, accessGroups: .unrestricted)
    }

    /// The size of the database's pages by the number of its items; at most the last thousand pages are in the WAL instead.
    func bytesOfItem() throws -> Double {
        let attributes = try FileManager.default.attributesOfItem(atPath: location.folder + "/vault.db")
        return ((attributes[.size] as? NSNumber)?.doubleValue ?? .nan) / Double(size)
    }

    private func query(_ index: Int) -> Query {
        Query(
            .genericPassword, [.service: .string("com.example.service"), .account: .string("account-\(index)")])
    }
}

struct BenchError: Error { let status: OSStatus }

struct Row {
    let name: String
    let micros: Double
    let floor: String?
    let base: Double

    func print() {
        let ratio = floor.map { String(format: "%6.2f × %@", micros / base, $0) } ?? ""
        Swift.print(
            "  " + name.padding(toLength: 42, withPad: " ", startingAt: 0) + String(format: "%9.1f µs  ", micros)
                + ratio)
    }
}

func measure(size: Int, parent: String) throws -> Timing {
    print("\(size) items")
    let bench = try Bench(size: size, parent: parent)
    var timing = Timing()
    // A stride that is coprime to the size meets all items before it meets one twice.
    let pick = { (number: Int) in (number &* 7919) % size }
    try timing.run(
        rounds: 9, count: 500,
        [
            ("read floor", { _ = try bench.floor.read(pick($0), opening: false) }),
            ("read floor + open", { _ = try bench.floor.read(pick($0), opening: true) }),
            ("engine read", { try bench.read(pick($0)) }),
            ("SecItemCopyMatching", { try bench.secItemCopyMatching(pick($0)) }),
        ])
    try timing.run(
        rounds: 9, count: 100,
        [
            ("add floor", { try bench.floor.add(size + $0, sealing: false) }),
            ("add floor + seal", { try bench.floor.add(size + $0, sealing: true) }),
            ("engine add", { try bench.add(size + $0) }),
            ("SecItemAdd", { try bench.secItemAdd(size + $0) }),
        ])
    try timing.run(
        rounds: 9, count: 11,
        [
            ("open and read one", { _ in try bench.open() }),
            ("search by account alone", { try bench.searchByAccount(pick($0)) }),
        ])
    report(
        timing,
        [
            ("read floor", nil), ("read floor + open", nil), ("engine read", "read floor + open"),
            ("SecItemCopyMatching", "read floor + open"), ("add floor", nil), ("add floor + seal", nil),
            ("engine add", "add floor"), ("SecItemAdd", "add floor"), ("open and read one", nil),
            ("search by account alone", nil),
        ])
    try measureFreshProcesses(bench)
    print(
        "  " + "bytes on disk for an item".padding(toLength: 42, withPad: " ", startingAt: 0)
            + String(format: "%9.0f", try bench.bytesOfItem()))
    return timing
}

private func measureSizes(parent: String) throws {
    let small = try measure(size: 1000, parent: parent)
    for (size, words) in [(100_000, "100,000"), (1_000_000, "1,000,000")] {
        let large = try measure(size: size, parent: parent)
        print("\(words) items beside 1,000")
        for name in [
            "engine read", "SecItemCopyMatching", "engine add", "SecItemAdd", "open and read one", "read floor",
            "add floor",
        ] {
            print(
                "  " + name.padding(toLength: 42, withPad: " ", startingAt: 0)
                    + String(format: "%6.2f ×", large.median(name) / small.median(name)))
        }
    }
}

/// A row for each name, beside the one that it is compared with.
func report(_ timing: Timing, _ rows: [(name: String, floor: String?)]) {
    for (name, floor) in rows {
        Row(name: name, micros: timing.median(name), floor: floor, base: floor.map(timing.median) ?? 1).print()
    }
}

// keychain-benchmarks [FOLDER [gate [PART OF EACH LIMIT]|kit|keys|scaling|adding|slow-syncs|changes|items|writers|head|sync]]
if CommandLine.arguments.count == 4, CommandLine.arguments[1] == "--writer" {
    try writeAtEachLine(VaultLocation(folder: CommandLine.arguments[2], deviceKeyFile: CommandLine.arguments[3]))
    exit(0)
}
if CommandLine.arguments.count == 5, CommandLine.arguments[1] == "--contender" {
    let location = try VaultLocation(folder: CommandLine.arguments[2], deviceKeyFile: CommandLine.arguments[3])
    try writeAndRemove(location, CommandLine.arguments[4])
    exit(0)
}
if CommandLine.arguments.count == 5, CommandLine.arguments[1] == "--fresh",
    let program = FreshProgram(rawValue: CommandLine.arguments[4])
{
    try program.run(VaultLocation(folder: CommandLine.arguments[2], deviceKeyFile: CommandLine.arguments[3]))
    exit(0)
}
if CommandLine.arguments.count >= 4, CommandLine.arguments[1] == "--peer" {
    let location = try VaultLocation(folder: CommandLine.arguments[2], deviceKeyFile: CommandLine.arguments[3])
    let contender = PeerContender(location)
    // An index: reads that item once, as a process of its own.
    if let index = CommandLine.arguments.dropFirst(4).first.flatMap(Int.init) {
        try contender.perform("read", index)
    } else {
        contender.serve()
    }
    exit(0)
}
let parent = CommandLine.arguments.dropFirst().first ?? FileManager.default.currentDirectoryPath + "/.build"
if CommandLine.arguments.contains("gate") {
    guard await gateWorks() else { throw BenchError(status: errSecInternalComponent) }
    let part = CommandLine.arguments.last.flatMap { Double($0) } ?? 1
    exit(try await passesGate(parent: parent, part: part) ? 0 : 1)
}
if CommandLine.arguments.contains("writers") {
    try measureStoppedReader(parent: parent)
    exit(0)
}
if CommandLine.arguments.contains("sync") {
    try await measureSync(parent: parent)
    try measureLargeRings()
    exit(0)
}
if CommandLine.arguments.contains("rings") {
    try measureLargeRings()
    exit(0)
}
if CommandLine.arguments.contains("adding") {
    try measureAdding(parent: parent)
    exit(0)
}
if CommandLine.arguments.contains("slow-syncs") {
    try measureSlowSyncs(milliseconds: 3, parent: parent)
    exit(0)
}
if CommandLine.arguments.contains("changes") {
    try await measureObservation(parent: parent)
    exit(0)
}
if CommandLine.arguments.contains("keys") {
    try measureKeys(parent: parent)
    try measureKeysInTPM(parent: parent)
    exit(0)
}
if CommandLine.arguments.contains("items") {
    try measureSizes(parent: parent)
    exit(0)
}
if CommandLine.arguments.contains("scaling") {
    try await measureScaling(size: 100_000, parent: parent)
    exit(0)
}
if !CommandLine.arguments.contains("kit") { try measureHead(parent: parent) }
if CommandLine.arguments.contains("head") { exit(0) }
try await measureKit(size: 1000, parent: parent)
if CommandLine.arguments.contains("kit") { exit(0) }
try await measureScaling(size: 100_000, parent: parent)
try measureAdding(parent: parent)
try measureSlowSyncs(milliseconds: 3, parent: parent)
try await measureObservation(parent: parent)
try measureStoppedReader(parent: parent)
try measureUnlocking(size: 1000, parent: parent)
try measureKeys(parent: parent)
try measureKeysInTPM(parent: parent)
try measureSizes(parent: parent)
