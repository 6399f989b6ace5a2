// SPDX-License-Identifier: Apache-2.0
// Waiting for what another process or thread does, which takes long on a busy machine.

import Foundation

/// Looks every millisecond until a condition holds, for at most fifteen minutes. Uses nothing that the child of a fork must not.
func waitUntil(_ condition: () -> Bool) {
    let end = monotonicSeconds + 900
    while !condition() && monotonicSeconds < end { usleep(1000) }
}

private var monotonicSeconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
}
