// SPDX-License-Identifier: Apache-2.0
// How additions scale: by threads of one process, each waiting until its item is durable.

import Foundation
import KeychainKit
import KeychainServices
import Synchronization

/// Additions by several threads at once for a fixed time.
private struct Adding {
    let store: SecretStore
    private static let seconds = 1.0
    private static let value = Data("a token of about forty characters, say.".utf8)

    /// - Returns: Additions in a second, and the median and the 99th percentile of one of them in microseconds.
    func run(threads: Int) throws -> (rate: Double, median: Double, p99: Double) {
        let samples = Mutex<[Double]>([])
        let failures = Mutex(0)
        let group = DispatchGroup()
        let end = ContinuousClock.now + .seconds(Self.seconds)
        for thread in 0..<threads {
            group.enter()
            Thread.detachNewThread {
                var (own, number): ([Double], Int) = ([], 0)
                while ContinuousClock.now < end {
                    number += 1
                    let start = ContinuousClock.now
                    let isSaved = (try? store.save(Self.value, for: "\(threads)-\(thread)-\(number)")) != nil
                    own.append((ContinuousClock.now - start) / .microseconds(1))
                    if !isSaved { failures.withLock { $0 += 1 } }
                }
                samples.withLock { $0 += own }
                group.leave()
            }
        }
        group.wait()
        guard failures.withLock({ $0 }) == 0 else { throw BenchError(status: errSecIO) }
        let sorted = samples.withLock { $0.sorted() }
        return (Double(sorted.count) / Self.seconds, sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
    }
}

func measureAdding(parent: String) throws {
    print("additions by several threads, 1000 items")
    let bench = try Bench(size: 1000, parent: parent)
    let adding = Adding(store: SecretStore(service: "com.example.added", store: bench.services.engine.store))
    _ = try adding.run(threads: 1)
    // The disk drifts: one thread is measured before and after.
    let before = try adding.run(threads: 1)
    let several = try [2, 8].map { ($0, try adding.run(threads: $0)) }
    let after = try adding.run(threads: 1)
    let alone = (before.rate + after.rate) / 2
    for (threads, result) in [(1, before)] + several + [(1, after)] {
        print(
            "  " + "\(threads) thread\(threads == 1 ? "" : "s")".padding(toLength: 28, withPad: " ", startingAt: 0)
                + String(
                    format: "%9.0f additions/s  %5.2f × one thread   median %6.1f µs   p99 %7.1f µs", result.rate,
                    result.rate / alone, result.median, result.p99))
    }
}
