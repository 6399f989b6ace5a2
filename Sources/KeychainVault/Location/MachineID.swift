// SPDX-License-Identifier: Apache-2.0
// What tells one installation of a system from another.

import Foundation

/// The machine ID of systemd: the same as long as the system is installed, and different on each machine.
enum MachineID {
    /// - Returns: Empty if the system has none. A copy of a vault on another machine is then recognized only by what it publishes.
    static func read(_ path: String) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return Data() }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Foundation.read(descriptor, &bytes, bytes.count)
        return Data(bytes.prefix(max(0, count)))
    }
}
