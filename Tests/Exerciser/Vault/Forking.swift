// SPDX-License-Identifier: Apache-2.0
// Children of forks that use the vault with several threads, or while a thread of the parent was opening it.

import CTestShims
import Foundation
import KeychainEngine
import KeychainVault

extension VaultItems {
    /// Adds an item and forks; the child reads it on four threads, each of which also adds one.
    func forkAndUseThreads() throws {
        try add("parent", "v")
        _ = try engine.requests.find(Self.query("parent"), accessGroups: .unrestricted)
        waitUntilOtherThreadsSleep()
        let child = test_fork()
        guard child != 0 else {
            alarm(600)
            _exit(usesThreads() ? 0 : 1)
        }
        say("child", exitStatus(child))
    }

    private func usesThreads() -> Bool {
        let group = DispatchGroup()
        let failures = FailureCount()
        for thread in 0..<4 {
            group.enter()
            Thread.detachNewThread {
                do {
                    for _ in 0..<200 {
                        _ = try engine.requests.find(Self.query("parent"), accessGroups: .unrestricted)
                    }
                    try add("child-\(thread)", "v")
                } catch {
                    failures.note()
                }
                group.leave()
            }
        }
        group.wait()
        return failures.count == 0
    }

    /// Forks while another thread is opening the vault. The child says what it gets.
    func forkWhileOpening(_ vault: Vault) throws {
        let (opened, forked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        PausePoint.observe { point in
            guard point == .sessionOpened else { return }
            opened.signal()
            forked.wait()
        }
        let opener = Thread { _ = try? vault.lockState }
        opener.start()
        opened.wait()
        waitUntilOtherThreadsSleep()
        let child = test_fork()
        guard child != 0 else {
            alarm(600)
            do { _ = try vault.lockState } catch { say("child \(error.reason.rawValue)") }
            _exit(0)
        }
        say("child", exitStatus(child))
        PausePoint.observe(nil)
        forked.signal()
    }

    /// Forks while a thread is about to take the writer lock and another one waits for it. The child adds an item.
    func forkWhileWriting(_ vault: Vault) throws {
        let (leads, forked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        PausePoint.observe { point in
            guard point == .lockFileOpened else { return }
            leads.signal()
            forked.wait()
        }
        let (group, failures) = (DispatchGroup(), FailureCount())
        for number in 1...2 {
            group.enter()
            Thread.detachNewThread {
                do { try add("parent-\(number)", "v") } catch { failures.note() }
                group.leave()
            }
            if number == 1 { leads.wait() }
        }
        while vault.writes.waitingCount == 0 { usleep(1000) }
        waitUntilOtherThreadsSleep()
        let child = test_fork()
        guard child != 0 else {
            alarm(600)
            PausePoint.observe(nil)
            do { try add("child", "v") } catch { _exit(1) }
            _exit(0)
        }
        say("child", exitStatus(child))
        PausePoint.observe(nil)
        for _ in 1...2 { forked.signal() }
        group.wait()
        if failures.count > 0 { throw KeychainError(.inputOutput, "An addition of the parent failed.") }
    }

    /// Forks while a thread has the writer lock, whose descriptor the child inherits. Says what another writer then gets, as long as
    /// the child lives.
    func forkWhileLocked(_ vault: Vault) throws {
        let (committed, forked, added) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        PausePoint.observe { point in
            guard point == .committed else { return }
            committed.signal()
            forked.wait()
        }
        Thread.detachNewThread {
            try? add("parent", "v")
            added.signal()
        }
        committed.wait()
        waitUntilOtherThreadsSleep()
        let child = test_fork()
        guard child != 0 else {
            alarm(600)
            while true { pause() }
        }
        PausePoint.observe(nil)
        forked.signal()
        added.wait()
        say("written")
        _ = readLine()
        var settings = VaultSettings()
        settings.writerTimeout = .milliseconds(200)
        do {
            var query = Self.query("other")
            query.value = Data("v".utf8)
            _ = try Engine(store: Vault(vault.location, settings)).add(query, accessGroups: .unrestricted)
            say("added")
        } catch {
            say(error.reason.rawValue)
        }
        kill(child, SIGKILL)
        _ = exitStatus(child)
    }

    /// Forks within a transaction, and the child goes on with it. Says how the child ended: with 3 if it was refused.
    ///
    /// - Parameter isAdding: Whether the child adds an item before it ends the transaction.
    func forkInATransaction(_ vault: Vault, adding isAdding: Bool) throws {
        let parent = getpid()
        waitUntilOtherThreadsSleep()
        do throws(KeychainError) {
            let child = try Engine(store: vault).transaction(as: Self.query("parent")) {
                (requests) throws(KeychainError) in
                _ = try requests.add(Self.query("parent", "v"), accessGroups: .unrestricted)
                let child = test_fork()
                if child == 0 { alarm(600) }
                if child == 0, isAdding { _ = try requests.add(Self.query("child", "v"), accessGroups: .unrestricted) }
                return child
            }
            guard getpid() == parent else { _exit(0) }
            say("child", exitStatus(child))
        } catch {
            guard getpid() == parent else { _exit(error.reason == .unavailable ? 3 : 1) }
            throw error
        }
    }

    private static func query(_ account: String, _ value: String) -> Query {
        var query = query(account)
        query.value = Data(value.utf8)
        return query
    }

    private static func query(_ account: String) -> Query {
        Query(.genericPassword, [.service: .string("exerciser"), .account: .string(account)])
    }

    /// 128 and the signal, if one has ended it.
    func exitStatus(_ child: pid_t) -> Int32 {
        var status: Int32 = 0
        waitpid(child, &status, 0)
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}

/// A thread that is inside the Swift runtime at a fork leaves the runtime's locks to the child for ever. A child for which that was
/// not enough is ended by SIGALRM.
func waitUntilOtherThreadsSleep() {
    var calm = 0
    waitUntil {
        calm = otherThreadsSleep ? calm + 1 : 0
        return calm == 5
    }
}

private var otherThreadsSleep: Bool {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return threads.allSatisfy { thread in
        let status = FileManager.default.contents(atPath: "/proc/self/task/\(thread)/stat") ?? Data()
        // The name before it may contain anything.
        let state = String(decoding: status, as: UTF8.self).split(separator: ")").last?.split(separator: " ").first
        return own.hasSuffix("/" + thread) || state == nil || state == "S"
    }
}

/// Counts without a lock of Swift's, which the child of a fork cannot use.
private final class FailureCount: @unchecked Sendable {
    private let lock = NSLock()
    private(set) var count = 0

    func note() {
        lock.lock()
        count += 1
        lock.unlock()
    }
}
