// SPDX-License-Identifier: Apache-2.0
// What another process does with a key of the user's keyring.

import CTestShims
import Foundation
import SecretMemory

/// A verb on the key of a name.
struct KeyringVerb {
    let name: String

    /// A process that starts out possessing nothing finds most traps.
    init(_ name: String) {
        self.name = name
        _ = test_join_new_session_keyring()
    }

    func read() { say(outcome { try KernelKeyring.find(name).flatMap(KernelKeyring.read).map(text) ?? "none" }) }

    func store(_ secret: String) {
        say(outcome { "\(try KernelKeyring.store(bytes(secret), as: name, timeout: .seconds(900)).serial)" })
    }

    /// The kernel kills it when it sets the timeout.
    func storeKilled(_ secret: String) {
        guard test_kill_at_key_timeout() == 0 else { exit(69) }
        store(secret)
    }

    /// Removes the keys of several names. A line for each.
    static func remove(_ names: [String]) {
        for name in names {
            let verb = KeyringVerb(name)
            say(
                verb.outcome {
                    guard let key = try KernelKeyring.find(name) else { return "none" }
                    try KernelKeyring.remove(key)
                    return "removed"
                })
        }
    }

    /// Says whether the key is alive, once at first and once for each line of input.
    func hold() {
        guard let key = try? KernelKeyring.find(name) else { return say("none") }
        repeat { say(KernelKeyring.isAlive(key) ? "alive" : "gone") } while readLine() != nil
        say(outcome { try KernelKeyring.read(key).map(text) ?? "none" })
    }

    /// Reads here, then in a forked child, which has lost the parent's process keyring.
    func fork() {
        guard let key = try? KernelKeyring.find(name) else { return say("none") }
        say(outcome { try KernelKeyring.read(key).map(text) ?? "none" })
        let child = test_fork()
        say(
            child == 0 ? "child" : "parent", KernelKeyring.isAlive(key),
            outcome { try KernelKeyring.read(key).map(text) ?? "none" })
        if child == 0 { _exit(0) }
        var status: Int32 = 0
        waitpid(child, &status, 0)
    }

    /// Reads in a thread that began before the first read here, and so has no process keyring.
    func thread() {
        let (begin, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let reader = self
        Thread.detachNewThread {
            begin.wait()
            reader.read()
            end.signal()
        }
        read()
        begin.signal()
        end.wait()
    }

    /// Stores and removes as fast as it can, while others do the same; what it stored is alive or was removed.
    func race(_ rounds: Int) {
        for round in 0..<rounds {
            let result = outcome {
                let key = try KernelKeyring.store(bytes("round \(round)"), as: name, timeout: .seconds(60))
                if let read = try KernelKeyring.read(key), !text(read).hasPrefix("round ") { return "torn" }
                try KernelKeyring.remove(key)
                return KernelKeyring.isAlive(key) ? "alive after removal" : "fine"
            }
            // A key that was removed a moment ago may still count for the quota of a user other than root.
            if result != "fine" && result != "failure \(EDQUOT)" { say(result) }
        }
        say("done")
    }

    /// What each call says when the kernel refuses.
    func refused() {
        let key = KernelKeyring.Key(serial: 1)
        say(outcome { "\(try KernelKeyring.store(bytes("secret"), as: name, timeout: nil))" })
        say(outcome { "\(String(describing: try KernelKeyring.find(name)))" })
        say(outcome { "\(String(describing: try KernelKeyring.read(key)))" })
        say(outcome { "\(try KernelKeyring.setTimeout(.seconds(1), of: key))" })
        say(outcome { "\(try KernelKeyring.remove(key))" })
        say(KernelKeyring.isAlive(key))
    }

    private func outcome(_ body: () throws -> String) -> String {
        do {
            return try body()
        } catch let failure as KernelKeyring.Failure {
            return "failure \(failure.code)"
        } catch {
            return "\(error)"
        }
    }

    private func bytes(_ text: String) -> SecretBytes { Array(text.utf8).withUnsafeBytes { SecretBytes(copying: $0) } }

    private func text(_ secret: SecretBytes) -> String {
        secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
