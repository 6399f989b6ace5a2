// SPDX-License-Identifier: Apache-2.0
// What additions cost where a sync takes some milliseconds: then it is most of their time.

import Foundation
import KeychainServices
import KeychainVault
import SyncShim

/// Delays each sync of this process, of the floors too.
func measureSlowSyncs(milliseconds: Int, parent: String) throws {
    print("each sync takes \(milliseconds) ms more, 1000 items")
    let bench = try Bench(size: 1000, parent: parent)
    let kit = try KitBench(bench)
    sync_shim_delay(milliseconds * 1_000_000)
    defer { sync_shim_delay(0) }
    var timing = Timing()
    try timing.run(
        rounds: 9, count: 11,
        [
            ("add floor", { try bench.floor.add(1000 + $0, sealing: false) }),
            ("kit save, new", { try kit.saveNew($0) }),
            ("SecItemAdd", { try bench.secItemAdd(1000 + $0) }),
            ("transaction floor, 100", { try bench.floor.add((1 + $0) << 24..<(1 + $0) << 24 + 100, sealing: false) }),
            ("kit transaction, 100", { try kit.transaction($0) }),
        ])
    report(
        timing,
        [
            ("add floor", nil), ("kit save, new", "add floor"), ("SecItemAdd", "add floor"),
            ("transaction floor, 100", nil), ("kit transaction, 100", "transaction floor, 100"),
        ])
}
