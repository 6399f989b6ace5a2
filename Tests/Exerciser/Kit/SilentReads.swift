// SPDX-License-Identifier: Apache-2.0
// Many reads at once of a keychain that never answers, and what they take.

import Foundation
import KeychainKit
import KeychainTesting
import Synchronization

struct SilentReads {
    let count: Int
    let timeout: Duration

    /// Prints how many reads timed out, what it took, and what is left of it.
    func report() async {
        let silent = ScriptedStore()
        silent.fail(.neverAnswers, .every)
        var store = SecretStore(service: "s", store: silent)
        store.timeout = Timeout(operation: timeout)
        // What several times add, once the allocator has got what it wants, is what leaks.
        for _ in 0..<3 { _ = await read(store) }
        let before = Resources.now
        for _ in 0..<4 { _ = await read(store) }
        let (timedOut, ticks) = await read(store)
        let after = Resources.now
        print("timed-out \(timedOut)")
        print("ticks \(ticks)")
        print("threads-more \(after.threads - before.threads)")
        print("kilobytes-more \(after.kilobytes - before.kilobytes)")
        print("blocked \(silent.blockedCallCount)")
        silent.reset()
    }

    private func read(_ store: SecretStore) async -> (timedOut: Int, ticks: Int) {
        let counter = Counter()
        let ticking = Task { await counter.tick() }
        let timedOut = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<count { group.addTask { await Self.timesOut(store, "\(number)") } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        ticking.cancel()
        return (timedOut, counter.total)
    }

    private static func timesOut(_ store: SecretStore, _ account: String) async -> Bool {
        do throws(KeychainError) {
            _ = try await store.read(String.self, for: account)
            return false
        } catch {
            return error.reason == .timedOut
        }
    }
}

/// Another task of the same program, which must be able to continue meanwhile.
private final class Counter: Sendable {
    private let state = Mutex(0)

    var total: Int { state.withLock { $0 } }

    func tick() async {
        while !Task.isCancelled {
            state.withLock { $0 += 1 }
            await Task.yield()
        }
    }
}

/// What the process has of the system.
private struct Resources {
    let threads: Int
    let kilobytes: Int

    static var now: Resources {
        Resources(threads: number(of: "Threads"), kilobytes: number(of: "VmRSS"))
    }

    private static func number(of name: String) -> Int {
        let status = FileManager.default.contents(atPath: "/proc/self/status").map {
            String(decoding: $0, as: UTF8.self)
        }
        let line = status?.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }
}
