// SPDX-License-Identifier: Apache-2.0
// Timing of small operations, taken in turns so that a drifting machine slows all of them alike.

import Foundation

/// Times operations one after the other, sample by sample, and keeps every round's median.
///
/// In turns, since a machine drifts, and since a disk that is asked to sync without pause answers faster than one that is
/// asked now and then: each operation pays for what the others leave behind, as it would in a program.
struct Timing {
    private(set) var rounds: [String: [Double]] = [:]

    /// Runs each operation `count` times per round; `operations` are called with a running number.
    mutating func run(rounds: Int, count: Int, _ operations: [(name: String, body: (Int) throws -> Void)]) throws {
        var number = 0
        for round in 0...rounds {
            var samples: [String: [Double]] = [:]
            for _ in 0..<count {
                for (name, body) in operations {
                    number += 1
                    let start = DispatchTime.now().uptimeNanoseconds
                    try body(number)
                    samples[name, default: []].append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1000)
                }
            }
            // The first round warms caches, statements and the allocator.
            guard round > 0 else { continue }
            for (name, samples) in samples { self.rounds[name, default: []].append(Self.median(samples)) }
        }
    }

    /// Microseconds: the median of the rounds' medians.
    func median(_ name: String) -> Double { Self.median(rounds[name] ?? []) }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }
}
