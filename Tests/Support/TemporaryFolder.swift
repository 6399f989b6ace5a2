// SPDX-License-Identifier: Apache-2.0
// The folders of tests.

package import Foundation

/// A folder for one test, closed to others; it is removed with this object.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// - Parameters:
    ///   - name: What its own name begins with.
    ///   - parent: Ends with a slash; `nil`: where temporary files lie.
    package init(_ name: String, in parent: String? = nil) throws {
        path = (parent ?? NSTemporaryDirectory()) + name + "-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// For tests that are about meaning, not about disks: memory, where it can be had, spares thousands of waits for one.
    package static func inMemory(_ name: String) throws -> TemporaryFolder {
        let memory = "/dev/shm/"
        return try TemporaryFolder(name, in: FileManager.default.isWritableFile(atPath: memory) ? memory : nil)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch { print("left behind: \(path)") }
    }

    package var url: URL { URL(fileURLWithPath: path, isDirectory: false) }
}
