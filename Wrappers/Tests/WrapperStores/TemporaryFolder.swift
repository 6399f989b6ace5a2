// SPDX-License-Identifier: Apache-2.0
// A folder that exists as long as an object refers to it.

import Foundation

final class TemporaryFolder: Sendable {
    let path: String

    init(_ name: String) throws {
        // These tests are about meaning, not about disks: memory spares thousands of waits for one.
        let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm/" : NSTemporaryDirectory()
        path = parent + name + "-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch { print("left behind: \(path)") }
    }
}
