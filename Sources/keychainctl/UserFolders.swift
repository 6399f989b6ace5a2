// SPDX-License-Identifier: Apache-2.0
// The user's folders: the variables that name them, and folders for the user alone.

import Foundation
import SecretMemory

extension [String: String] {
    /// `nil` also for a relative path, which would lead somewhere else from each folder.
    var homeFolder: String? { absolutePath("HOME") }

    /// Where programs keep their configuration, by the XDG base directory specification.
    var configurationFolder: String? { absolutePath("XDG_CONFIG_HOME") ?? homeFolder.map { $0 + "/.config" } }

    private func absolutePath(_ name: String) -> String? {
        value(name).flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
    }
}

extension FileManager {
    /// Makes a folder, and those above it that are missing, for the user alone, whatever the umask is: who may change such a
    /// folder may put a program, a unit or settings into it.
    func createPrivateFolder(_ path: String) throws {
        try createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
}
