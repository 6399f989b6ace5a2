// SPDX-License-Identifier: Apache-2.0
// Runs the simulation of sync for many seeds: sync-simulator [SEEDS [FIRST]].

import Foundation
import SyncSimulation

let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let (count, first) = (numbers.first ?? 1000, numbers.dropFirst().first ?? 0)
var (counts, failures) = (Simulation.Counts(), 0)
for seed in first..<first + count {
    do {
        counts.add(try Simulation.run(seed: seed))
        if seed.isMultiple(of: 4) { counts.add(try Simulation.runWithImage(seed: seed)) }
        // It takes twice as long.
        if seed.isMultiple(of: 4) { counts.add(try ConfirmedSimulation.run(seed: seed)) }
    } catch {
        failures += 1
        print(error)
        if failures == 20 { break }
    }
}
print("\(count) seeds from \(first), \(failures) violations")
for (name, value) in counts.values.sorted(by: { $0.key < $1.key }) { print("  \(name): \(value)") }
exit(failures == 0 ? 0 : 1)
