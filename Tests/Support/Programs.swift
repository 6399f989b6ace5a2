// SPDX-License-Identifier: Apache-2.0
// Where the programs are that tests run.

import Foundation

/// The paths of programs.
package enum Programs {
    /// The path of a program that the build put beside the tests: SwiftPM puts executables and the test bundle into one folder.
    package static func built(_ name: String) -> String {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(name).path
    }

    /// The path of an installed program; `nil` if there is none.
    package static func installed(_ name: String) -> String? {
        let folders = ["/usr/bin", "/bin", "/usr/local/bin", "/sbin", "/usr/sbin"]
        return folders.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The path of `strace`; `nil` if it is not installed, or if it may not trace. It then starts nothing and exits with 1, which
    /// looks like a program that fails at each of its calls.
    package static let strace: String? = {
        guard let path = installed("strace") else { return nil }
        let probe = Process()
        probe.executableURL = URL(fileURLWithPath: path)
        probe.arguments = ["-f", "-o", "/dev/null", "true"]
        do {
            try probe.run(limitedTo: .testLimit)
            try probe.waitForEnd()
        } catch {
            print("strace cannot be tried: \(error)")
            return nil
        }
        return probe.terminationStatus == 0 ? path : nil
    }()

    /// Copies a program, in another process. If this one had the copy open for writing, so might a process that another thread starts
    /// at that moment, and the kernel starts no program that is open for writing.
    package static func copy(_ program: String, to path: String) throws {
        let copying = Process()
        copying.executableURL = URL(fileURLWithPath: "/bin/cp")
        copying.arguments = ["--", program, path]
        try copying.run(limitedTo: .testLimit)
        try copying.waitForEnd()
        guard copying.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
