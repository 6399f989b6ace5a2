// SPDX-License-Identifier: Apache-2.0
// The exerciser at work on a vault full of known secrets.

import Foundation
import KeychainTestSupport

@testable import KeychainVault

/// An exerciser that has ended its operation: first with the vault open, then closed. It lives until its input ends.
final class NeedleChild {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private let errorFile: String
    private var printed = Data()

    var pid: pid_t { process.processIdentifier }

    init(_ vault: NeedleVault, _ entry: NeedleCase) throws {
        errorFile = vault.test.root + "/errors"
        try Data().write(to: URL(fileURLWithPath: errorFile))
        process.executableURL = URL(fileURLWithPath: Exerciser.path)
        let state = entry.preparations.contains(.closed) ? "closed" : "open"
        process.arguments = vault.test.exerciserArguments(["needles", entry.operation, entry.outcome.rawValue, state])
        process.environment = ProcessInfo.processInfo.environment.merging(Self.environment(vault, entry)) { $1 }
        (process.standardInput, process.standardOutput) = (input, output)
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errorFile))
        try process.run(limitedTo: .testLimit)
        output.fileHandleForWriting.closeFile()
    }

    /// Nobody shares the kernel's keys, and every temporary file lies in the vault's test folder. Symbols are resolved at the
    /// start, as in the tool: else the dynamic linker puts on the stack what registers hold of keys.
    private static func environment(_ vault: NeedleVault, _ entry: NeedleCase) -> [String: String] {
        var variables = [
            "KEYCHAIN_UNLOCK_CACHE": "process", "LD_BIND_NOW": "1",
            "TMPDIR": vault.test.root, "SQLITE_TMPDIR": vault.test.root,
            "EXERCISER_WRITER_TIMEOUT": entry.outcome == .timedOut && entry.says == "busy" ? "0.2" : "600",
        ]
        if !entry.preparations.isDisjoint(with: [.credential, .wrongCredential]) {
            variables["CREDENTIALS_DIRECTORY"] = vault.credentialsFolder
        }
        return variables
    }

    /// Reads its output up to a line; `false` if it ends before, or takes too long.
    func waits(for line: String) -> Bool {
        let deadline = ContinuousClock.now + .testLimit
        while !lines.contains(line) {
            guard ContinuousClock.now < deadline, let more = read(), !more.isEmpty else { return false }
            printed += more
        }
        return true
    }

    /// What there is to be read, waited for; `nil` if there is nothing for too long.
    private func read() -> Data? {
        let handle = output.fileHandleForReading
        var waiting = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 600_000) > 0 ? handle.availableData : nil
    }

    var lines: [String] { String(decoding: printed, as: UTF8.self).split(separator: "\n").map(String.init) }

    /// Has it close everything.
    func close() throws { try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

    /// Its threads may have SIGTERM blocked.
    func end() {
        kill(pid, SIGKILL)
        process.waitUntilExit()
    }

    /// What it printed, and what it said on its error output.
    var messages: Data { printed + (FileManager.default.contents(atPath: errorFile) ?? Data()) }

    /// Files that it has open and that are gone from their folders.
    func unlinkedFiles() throws -> [String: Data] {
        let folder = "/proc/\(pid)/fd/"
        var found: [String: Data] = [:]
        for number in try FileManager.default.contentsOfDirectory(atPath: folder) {
            guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: folder + number),
                path.hasSuffix(" (deleted)"), !path.hasPrefix("/memfd")
            else { continue }
            found[path] = FileManager.default.contents(atPath: folder + number)
        }
        return found
    }
}
