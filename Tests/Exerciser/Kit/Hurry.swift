// SPDX-License-Identifier: Apache-2.0
// Calls that have hardly any time.

import Foundation
import KeychainKit
@_spi(Wrappers) import KeychainTesting

/// Random changes of a few keys that all processes share, with short timeouts, and reads of what is there. Each call is a
/// line of the output.
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
                    RecordedCall.absent
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
                found ?? RecordedCall.absent
            }
        }
    }
}

private func note(_ verb: String, _ key: String, _ body: () throws -> Void, value: () -> String) {
    let start = RecordedCall.now
    var outcome = "ok"
    do {
        try body()
    } catch let failure as KeychainError {
        outcome = failure.reason.rawValue
    } catch {
        outcome = "unknown"
    }
    let end = RecordedCall.now
    let call = RecordedCall(verb: verb, key: key, value: value(), start: start, end: end, outcome: outcome)
    print(call.line)
}
