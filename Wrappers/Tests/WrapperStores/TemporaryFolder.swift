// SPDX-License-Identifier: Apache-2.0
// A folder that exists as long as an object refers to it.

import Foundation

/// A folder for one test, closed to others.
public final class TemporaryFolder: Sendable {
    public let path: String

    /// - Parameter isForPrograms: Whether programs run in it; folders in memory may forbid that.
    public init(_ name: String, isForPrograms: Bool = false) throws {
        // Most tests are about meaning, not about disks: memory spares thousands of waits for one.
        let memory = "/dev/shm/"
        let isInMemory = !isForPrograms && FileManager.default.isWritableFile(atPath: memory)
        path = (isInMemory ? memory : NSTemporaryDirectory()) + name + "-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch { print("left behind: \(path)") }
    }
}
