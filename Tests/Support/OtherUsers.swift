// SPDX-License-Identifier: Apache-2.0
// Programs for other users, who may not be able to enter the folder of the checkout, or that of the toolchain.

import Foundation

/// What every user of the machine can get at.
package enum OtherUsers {
    /// A folder for temporary files that every user may enter, with a slash at its end: that of this process, if it is one.
    package static let temporaryFolder: String = {
        let own = NSTemporaryDirectory()
        return [own, "/tmp/", "/var/tmp/"].first { canReach($0) && canWrite($0) } ?? own
    }()

    /// Copies a program into a folder, with those of its libraries that others may not read: it looks for them beside itself.
    package static func install(_ program: String, into folder: String) throws {
        var files = [program]
        files += try libraries(of: program).filter { !canReach($0) }
        for file in files {
            let copy = folder + "/" + URL(fileURLWithPath: file).lastPathComponent
            guard !FileManager.default.fileExists(atPath: copy) else { continue }
            try Programs.copy(URL(fileURLWithPath: file).resolvingSymlinksInPath().path, to: copy)
            chmod(copy, 0o755)
        }
    }

    /// Whether every user may read it and enter all folders above it, also where it is only a link.
    private static func canReach(_ path: String) -> Bool {
        [URL(fileURLWithPath: path), URL(fileURLWithPath: path).resolvingSymlinksInPath()].allSatisfy { file in
            var folder = file.deletingLastPathComponent()
            guard allows(file.path, 0o004) else { return false }
            while folder.path != "/" {
                guard allows(folder.path, 0o001) else { return false }
                folder = folder.deletingLastPathComponent()
            }
            return true
        }
    }

    private static func allows(_ path: String, _ right: mode_t) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & right == right
    }

    private static func canWrite(_ folder: String) -> Bool { access(folder, W_OK) == 0 }

    private static func libraries(of program: String) throws -> [String] {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ldd", program]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run(limitedTo: .testLimit)
        // "libsqlite3.so.0 => /usr/lib/libsqlite3.so.0 (0x00007f…)"
        let lines = String(decoding: try output.fileHandleForReading.readAll(), as: UTF8.self).split(separator: "\n")
        try process.waitForEnd()
        return lines.compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("/") && line.contains("=>") }.map(String.init)
        }
    }
}
