// SPDX-License-Identifier: Apache-2.0
// A machine with a disk, a wrong clock, and crashes.

import Foundation
import KeychainSyncCore

struct SimulatedDevice {
    /// What is on the disk: all of it changes at once.
    struct Disk {
        var replica: Replica
        /// Acknowledged local writes: the number of each, and its item.
        var acknowledged: [UInt64: SyncID] = [:]
    }

    var disk: Disk
    var carrier: Int
    let skew: Int64
    var isRemoved = false
    /// An old copy of the disk.
    var backup: Disk?
    var awayUntil = 0

    func clock(_ now: UInt64) -> UInt64 { UInt64(max(1, Int64(now) + skew)) }
}

/// Where a machine dies.
enum Crash {
    case never
    /// Before anything is stored: the call never happened.
    case beforeStoring
    /// After so many effects.
    case afterEffects(Int)
}
