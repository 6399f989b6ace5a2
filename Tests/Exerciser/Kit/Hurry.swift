// SPDX-License-Identifier: Apache-2.0
// Calls that have hardly any time.

import Foundation
import KeychainKit

/// In nanoseconds, of a clock that all processes share.
private var monotonicTime: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Random changes of a few keys that all processes share, with short timeouts, and reads of what is there. Each line: verb,
/// key, value, begin, end, outcome.
struct Hurry {
    var store: SecretStore
    var worker: String
    /// Whether the store makes several changes together.
    var hasTransactions = true

    /// Each thread is a worker of its own.
    func run(operations: Int, threads: Int) {
        let group = DispatchGroup()
        for thread in 0..<threads {
            var hurry = self
            hurry.worker += ".\(thread)"
            group.enter()
            Thread.detachNewThread { [hurry] in
                hurry.run(operations: operations)
                group.leave()
            }
        }
        group.wait()
    }

    private func run(operations: Int) {
        for operation in 0..<operations {
            let (key, value) = ("key-\(Int.random(in: 0..<4))", "\(worker):\(operation)")
            var hurried = store
            let times: [Duration] = [.microseconds(500), .milliseconds(3), .milliseconds(20)]
            hurried.timeout = Timeout(operation: times[operation % 3])
            switch Int.random(in: 0..<6) {
            case 0, 1:
                note("save", key) {
                    try hurried.save(value, for: key)
                } value: {
                    value
                }
            case 2:
                note("remove", key) {
                    try hurried.remove(for: key)
                } value: {
                    "-"
                }
            case 3:
                note("update", key) {
                    try hurried.update(String.self, for: key) { $0 = value }
                } value: {
                    value
                }
            case 4 where hasTransactions:
                note("transaction", key) {
                    try hurried.transaction { try $0.save(value, for: key) }
                } value: {
                    value
                }
            default: break
            }
            var found: String?
            note("read", key) {
                found = try store.read(String.self, for: key)
            } value: {
                found ?? "-"
            }
        }
    }
}

private func note(_ verb: String, _ key: String, _ body: () throws -> Void, value: () -> String) {
    let start = monotonicTime
    var outcome = "ok"
    do {
        try body()
    } catch let failure as KeychainError {
        outcome = failure.reason.rawValue
    } catch {
        outcome = "unknown"
    }
    let end = monotonicTime
    print(verb, key, value(), start, end, outcome)
}
