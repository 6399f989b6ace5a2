// SPDX-License-Identifier: Apache-2.0
// A process that makes the calls it receives, and waits at every pause point until it is released.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainVault
import Synchronization

/// Reads `open OPENER ROOT`, `call WORD …`, `go`, and `free`, after which nothing waits any more; answers `at POINT` and
/// `done OUTCOME`.
final class Performer: Sendable {
    private let commands = Mutex<[[String]]>([])
    private let (arrived, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    private let pausing = Mutex(Pausing())

    private struct Pausing {
        var isOn = false
        /// How many threads wait to be released.
        var waiting = 0

        mutating func begins() -> Bool {
            if isOn { waiting += 1 }
            return isOn
        }
    }

    /// Silent calls give up after this.
    static let timeout = Duration.milliseconds(3)

    func run() {
        Thread.detachNewThread { self.read() }
        PausePoint.observe { point in
            guard self.pausing.withLock({ $0.begins() }) else { return }
            Self.say("at \(point.rawValue)")
            self.released.wait()
        }
        var vault: Vault?
        while true {
            arrived.wait()
            let words = commands.withLock { $0.removeFirst() }
            guard let verb = words.first else { continue }
            if verb == "open" { vault = nil }
            Self.say("done " + outcome { try self.perform(verb, Array(words.dropFirst()), &vault) })
        }
    }

    /// The end of the input is the end of the process.
    private func read() {
        while let line = readLine() {
            switch line {
            case "go": release(1)
            case "free":
                pausing.withLock { $0.isOn = false }
                release(.max)
            default:
                commands.withLock { $0.append(line.split(separator: "\t").map(String.init)) }
                arrived.signal()
            }
        }
        _exit(0)
    }

    /// - Parameter most: How many of the waiting threads to release.
    private func release(_ most: Int) {
        let count = pausing.withLock { pausing in
            let count = min(most, pausing.waiting)
            pausing.waiting -= count
            return count
        }
        for _ in 0..<count { released.signal() }
    }

    private func outcome(_ body: () throws -> String) -> String {
        do {
            return try body()
        } catch let error as KeychainError {
            return "\(error.reason.rawValue) \(error.message)"
        } catch {
            return "harness \(error)"
        }
    }

    private func perform(_ verb: String, _ words: [String], _ vault: inout Vault?) throws -> String {
        if verb == "open" {
            pausing.withLock { $0.isOn = false }
            vault = try Self.opened(words)
            return "ok"
        }
        guard let vault else { throw HarnessError("nothing is open") }
        pausing.withLock { $0.isOn = true }
        return try Self.call(words, vault)
    }

    private static func opened(_ words: [String]) throws -> Vault {
        if words.count == 2, words[0] == "kernel" {
            try Place(root: words[1]).lockForAll()
            return try Place(root: words[1]).sharing()
        }
        guard words.count == 2, let opener = Opener(rawValue: words[0]) else { throw HarnessError("open what?") }
        let vault = try Place(root: words[1]).another()
        guard try vault.status().exists else { return vault }
        if opener != .deviceKey { try vault.unlock(opener.secret) }
        _ = try Items.all(vault)
        return vault
    }

    private static func call(_ words: [String], _ vault: Vault) throws -> String {
        var store = SecretStore(service: "fault", store: vault)
        switch (words[0], words.count) {
        case ("save", 3): try store.save(Data(words[2].utf8), for: words[1])
        case ("remove", 2): return try store.remove(for: words[1]) ? "ok" : "itemNotFound"
        case ("add", 3): try vault.add(words[1], words[2])
        case ("update", 3): try vault.update(words[1], words[2])
        case ("timed-save", 3):
            store.timeout = Timeout(operation: timeout)
            try store.save(Data(words[2].utf8), for: words[1])
        case ("timed-remove", 2):
            store.timeout = Timeout(operation: timeout)
            return try store.remove(for: words[1]) ? "ok" : "itemNotFound"
        case ("read", 2): return try Items.all(vault)[words[1]].map { "value \($0)" } ?? "itemNotFound"
        case ("unlock", 1): try vault.unlock(Opener.recovery.secret)
        case ("lock", 1): try vault.lock()
        case ("restore", 1):
            guard try vault.restore(from: vault.backupFile).isAccepted else { throw HarnessError("not accepted") }
        case ("rotate", 1): try vault.rotate(authority: Opener.recovery.secret)
        case ("remove-key-file", 1):
            try vault.removeProtector(vault.slot(.keyFile), authority: Opener.recovery.secret)
        case ("remove-device-key", 1):
            try vault.removeProtector(vault.slot(.deviceKey), authority: Opener.recovery.secret)
        case ("change-recovery-key", 1):
            try vault.changeProtector(
                vault.slot(.recoveryKey), to: Opener.newRecovery.secret, authority: Opener.recovery.secret)
        default: throw HarnessError("a call that is not understood: \(words)")
        }
        return "ok"
    }

    /// In one piece: two threads may have something to say.
    private static func say(_ line: String) {
        let bytes = Array((line.replacing("\n", with: " ") + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
