// SPDX-License-Identifier: Apache-2.0
// What of an unlocked vault is still in a process's memory after it was locked.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite(.enabled(if: ProcessMemory.isAvailable, "\(ProcessMemory.requirement)"), .serialized)
struct LockedMemoryTests {
    /// The memory of a process that has unlocked, read a value and locked.
    ///
    /// Under `strace`, which refuses it the kind of memory that cannot be looked into: what is to be seen is that keys are
    /// wiped, wherever they were.
    private static func memory(_ test: TestVault, _ strace: String) throws -> ProcessMemory {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: strace)
        process.arguments =
            [
                "-f", "-qq", "-o", "/dev/null", "-e", "trace=memfd_secret", "-e", "inject=memfd_secret:error=ENOSYS",
                Exerciser.path,
            ] + test.exerciserArguments(["hold", "ak"])
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run(limitedTo: .testLimit)
        defer {
            input.fileHandleForWriting.closeFile()
            process.waitUntilExit()
        }
        let ready = String(decoding: try output.fileHandleForReading.readSome(), as: UTF8.self)
        try #require(ready == "ready 5\n", "\(ready)")
        return try ProcessMemory(of: child(of: process.processIdentifier))
    }

    private static func child(of process: pid_t) throws -> pid_t {
        let path = "/proc/\(process)/task/\(process)/children"
        let children = try String(contentsOfFile: path, encoding: .utf8).split(separator: " ")
        return try #require(children.first.flatMap { pid_t($0) })
    }

    /// Every key that unlocking opens, found here by unlocking as well.
    private static func keys(_ test: TestVault) throws -> [(name: String, bytes: [UInt8])] {
        let vault = test.another()
        let authority = try vault.authority(.old)
        let keybag = try vault.session().keybag
        var keys = [("root key", authority.rootKey.bytes), ("user key", try #require(authority.userKey).bytes)]
        let classKeys = try ClassKeys(keybag, authority)
        for entry in keybag.classKeys where Keybag.state(opening: entry.keyClass) > .beforeFirstUnlock {
            let (number, key) = (entry.keyClass, try #require(try authority.wrappingKeys.unwrap(entry)))
            keys.append(("class key \(number)", key.bytes))
            guard case .open(let pair) = classKeys.availability(number, entry.generation) else { continue }
            keys += [("metadata key \(number)", pair.metadata.bytes), ("value key \(number)", pair.value.bytes)]
        }
        return keys
    }

    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func keysAndPassphrase_afterLocking_areGone() throws {
        let test = try TestVault.locked()
        let memory = try Self.memory(test, try #require(Programs.strace))
        let keys = try Self.keys(test)
        #expect(keys.count == 17)
        for key in keys { #expect(memory.findings(of: key.bytes) == [], "\(key.name)") }
        // The exerciser's own code spells it out.
        let passphrase = memory.findings(of: Array("the old passphrase".utf8))
        #expect(passphrase.filter { !$0.contains("/\(Exerciser.name) ") } == [])
    }
}
