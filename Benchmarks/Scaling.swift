// SPDX-License-Identifier: Apache-2.0
// How reads scale: by threads and by tasks, of items that were read before and of others.

import Foundation
import KeychainKit
import KeychainServices
import KeychainVault
import Synchronization

/// Reads by several threads or tasks at once for a fixed time.
struct Scaling {
    /// What readers did together.
    struct Result {
        let readsPerSecond: Double
        /// In microseconds.
        let median: Double
        let p99: Double
    }

    let store: SecretStore
    /// The readers read these in turns, each in an order of its own.
    let names: [String]
    static let seconds = 0.4

    func threads(_ count: Int) throws -> Result {
        try Self.threads(count) { _ in { try store.read(Data.self, for: names[$0 % names.count]) != nil } }
    }

    /// - Parameter reading: Makes a reader, on its thread.
    static func threads(
        _ count: Int, _ reading: @escaping @Sendable (_ reader: Int) throws -> (_ index: Int) throws -> Bool
    ) throws -> Result {
        let collected = Mutex<[Double]>([])
        let failures = Mutex(0)
        let group = DispatchGroup()
        let end = ContinuousClock.now + .seconds(Self.seconds)
        for reader in 0..<count {
            group.enter()
            Thread.detachNewThread {
                var samples: [Double] = []
                var index = reader &* 7919
                do {
                    let read = try reading(reader)
                    while ContinuousClock.now < end {
                        let start = ContinuousClock.now
                        let isRead = try read(index)
                        samples.append((ContinuousClock.now - start) / .microseconds(1))
                        if !isRead { failures.withLock { $0 += 1 } }
                        index &+= 31
                    }
                } catch {
                    failures.withLock { $0 += 1 }
                }
                collected.withLock { $0 += samples }
                group.leave()
            }
        }
        group.wait()
        guard failures.withLock({ $0 }) == 0 else { throw BenchError(status: -1) }
        return Self.result(collected.withLock { $0 })
    }

    func tasks(_ count: Int) async throws -> Result {
        let end = ContinuousClock.now + .seconds(Self.seconds)
        let samples = try await withThrowingTaskGroup(of: [Double].self) { group in
            for reader in 0..<count {
                group.addTask {
                    var samples: [Double] = []
                    var index = reader &* 7919
                    while ContinuousClock.now < end {
                        let start = ContinuousClock.now
                        guard try await store.read(Data.self, for: names[index % names.count]) != nil else {
                            throw BenchError(status: -1)
                        }
                        samples.append((ContinuousClock.now - start) / .microseconds(1))
                        index &+= 31
                        await Task.yield()
                    }
                    return samples
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        return Self.result(samples)
    }

    private static func result(_ samples: [Double]) -> Result {
        let sorted = samples.sorted()
        guard !sorted.isEmpty else { return Result(readsPerSecond: 0, median: .nan, p99: .nan) }
        return Result(
            readsPerSecond: Double(sorted.count) / seconds, median: sorted[sorted.count / 2],
            p99: sorted[sorted.count * 99 / 100])
    }
}

extension Scaling {
    /// What the machine gives to threads that share nothing: each reads the floor with crypto in a database of its own.
    static func floors(_ count: Int, folder: String) throws -> Result {
        let run = UUID().uuidString
        return try threads(count) { reader in
            let floor = try Floor(path: "\(folder)/floor-\(run)-\(reader).db", rowSize: 32 + 284 + 152)
            try floor.fill(64)
            return { try floor.read($0 % 64, opening: true) > 0 }
        }
    }

    /// How many times the reads of one thread two threads make.
    struct Gain {
        /// Of threads that share nothing: the most that the machine gives now.
        let machine: Double
        let readers: Double
    }

    /// Of several tries the best, since the other processor may be busy.
    func gain(folder: String) throws -> Gain {
        var (machine, readers): ([Int: Double], [Int: Double]) = ([:], [:])
        for _ in 1...3 {
            for count in [1, 2] {
                machine[count] = max(machine[count] ?? 0, try Self.floors(count, folder: folder).readsPerSecond)
                readers[count] = max(readers[count] ?? 0, try threads(count).readsPerSecond)
            }
        }
        return Gain(
            machine: (machine[2] ?? .nan) / (machine[1] ?? .nan), readers: (readers[2] ?? .nan) / (readers[1] ?? .nan))
    }
}

extension Scaling {
    /// Prints a row for one thread, and one for each of the counts.
    ///
    /// - Returns: That of one thread.
    @discardableResult
    func printThreads(_ kind: String, _ counts: [Int]) throws -> Result {
        _ = try threads(1)
        let alone = try threads(1)
        printRow("\(kind), 1 thread", alone, beside: alone)
        for count in counts { printRow("\(kind), \(count) threads", try threads(count), beside: alone) }
        return alone
    }
}

/// In a vault of `size` items: reads of 64 names, and of all names.
func measureScaling(size: Int, parent: String) async throws {
    print("reads by several readers, \(size) items")
    let bench = try Bench(size: size, parent: parent)
    let store = SecretStore(service: "com.example.service", store: bench.services.engine.store)
    let floor = try Scaling.floors(1, folder: bench.location.folder)
    printRow("floor + open, 1 thread", floor, beside: floor)
    for threads in [2, 8, 64] {
        let result = try Scaling.floors(threads, folder: bench.location.folder)
        printRow("floor + open, \(threads) threads", result, beside: floor)
    }
    for (kind, count) in [("64 names", 64), ("all names", size)] {
        let scaling = Scaling(store: store, names: (0..<count).map { "account-\($0)" })
        let alone = try scaling.printThreads(kind, [2, 8, 64])
        printRow("\(kind), 64 tasks", try await scaling.tasks(64), beside: alone)
    }
}

private func printRow(_ name: String, _ result: Scaling.Result, beside alone: Scaling.Result) {
    print(
        "  " + name.padding(toLength: 28, withPad: " ", startingAt: 0)
            + String(
                format: "%9.0f reads/s  %5.2f × one thread   median %6.1f µs   p99 %7.1f µs", result.readsPerSecond,
                result.readsPerSecond / alone.readsPerSecond, result.median, result.p99))
}
