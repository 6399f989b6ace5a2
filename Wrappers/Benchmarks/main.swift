// SPDX-License-Identifier: Apache-2.0
// What the wrappers cost over the calls of KeychainKit that they make: wrapper-benchmarks [FOLDER]

import Foundation

/// The median of each call in microseconds, the first of them being what the others are compared with. In turns, sample by
/// sample, so that a drifting machine slows all of them alike.
func measure(count: Int, _ calls: [(name: String, call: () throws -> Void)]) throws {
    var samples: [String: [Double]] = [:]
    for round in 0..<count {
        for (name, call) in calls {
            let start = DispatchTime.now().uptimeNanoseconds
            try call()
            // The first rounds warm caches, statements and the allocator.
            guard round >= count / 10 else { continue }
            samples[name, default: []].append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1000)
        }
    }
    let medians = calls.map { median(samples[$0.name] ?? []) }
    for (call, median) in zip(calls, medians) {
        let name = call.name.padding(toLength: 42, withPad: " ", startingAt: 0)
        print("  \(name)" + String(format: "%9.1f µs  %6.2f × %@", median, median / medians[0], calls[0].name))
    }
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

let parent = CommandLine.arguments.dropFirst().first ?? FileManager.default.currentDirectoryPath + "/.build"
let bench = try WrapperBench(parent: parent)
print("wrappers, 1000 items")
try measure(count: 5000, bench.reads)
try measure(count: 1000, bench.saves)
