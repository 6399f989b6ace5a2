// SPDX-License-Identifier: Apache-2.0
// What another process does about changes: it waits for them, or breaks off while it makes one.

import CTestShims
import Foundation
import KeychainEngine
import KeychainVault

extension VaultItems {
    /// Observes until the input ends: a line when it has begun, one for each call, and at the end how often it was
    /// woken up and what it left.
    func observe(_ vault: Vault) {
        var observation: StoreObservation?
        do {
            // Opens the vault, so that this does not count later.
            _ = try vault.lockState
            observation = try vault.observe { say("changed") }
        } catch {
            say("failed \(error.reason.rawValue) \(error.message)")
            return
        }
        say("ready \(watchDescriptors)")
        let before = wakings
        _ = FileHandle.standardInput.readDataToEndOfFile()
        let woken = wakings - before
        withExtendedLifetime(observation) {}
        observation = nil
        // Closed on another thread.
        waitUntil { watchDescriptors == 0 }
        say("woke \(woken) left \(watchDescriptors)")
    }

    /// Observes, and tries to in the child of a fork as well, which has none of the threads that this takes.
    func observeAndFork(_ vault: Vault) throws {
        let observation = try vault.observe { say("changed") }
        waitUntilOtherThreadsSleep()
        let child = test_fork()
        guard child != 0 else {
            alarm(600)
            do { _ = try vault.observe {} } catch { say("child \(error.reason.rawValue)") }
            _exit(0)
        }
        waitpid(child, nil, 0)
        say("ready")
        _ = FileHandle.standardInput.readDataToEndOfFile()
        withExtendedLifetime(observation) {}
    }

    /// Adds an item, forks, and ends once the child has added one. The child adds another when it finds a file.
    func forkAndEnd(_ mark: String) throws {
        try add("parent", "v")
        guard test_fork() != 0 else {
            // A process that waits for the parent must not wait for the child.
            closePipesAndSockets()
            try? add("child-1", "v")
            _ = FileManager.default.createFile(atPath: mark + ".begun", contents: nil)
            waitUntil { access(mark + ".go", F_OK) == 0 }
            try? add("child-2", "v")
            _ = FileManager.default.createFile(atPath: mark + ".end", contents: nil)
            _exit(0)
        }
        waitUntil { access(mark + ".begun", F_OK) == 0 }
    }

    /// Foundation's `Process` takes the parent for running while its socket is open.
    private func closePipesAndSockets() {
        for descriptor: Int32 in 0..<1024 {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { continue }
            if [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) { close(descriptor) }
        }
    }

    /// Adds an item and waits, with the transaction open, for the input to end.
    func addAndWait(_ account: String) throws {
        var query = Query(.genericPassword, [.service: .string("exerciser"), .account: .string(account)])
        query.value = Data("value".utf8)
        try engine.transaction(as: query) { (requests) throws(KeychainError) in
            try requests.add(query, accessGroups: .unrestricted)
            say("inside")
            _ = FileHandle.standardInput.readDataToEndOfFile()
        }
    }

    /// How often its threads have gone to sleep of themselves.
    private var wakings: Int {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.reduce(0) { sum, thread in
            let status = FileManager.default.contents(atPath: "/proc/self/task/\(thread)/status") ?? Data()
            let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
                .first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line?.split { !$0.isNumber }.last.flatMap { Int($0) } ?? 0)
        }
    }

    private var watchDescriptors: Int {
        (0..<256).filter { number in
            var target = [CChar](repeating: 0, count: 64)
            let length = readlink("/proc/self/fd/\(number)", &target, target.count)
            return length > 0
                && String(decoding: target.prefix(length).map(UInt8.init), as: UTF8.self).contains("inotify")
        }.count
    }
}
