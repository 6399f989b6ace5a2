// SPDX-License-Identifier: Apache-2.0
// What the exerciser does about changes: it waits for them, or breaks off while it makes one.

import CTestShims
import Foundation
import KeychainEngine
import KeychainVault

extension Exerciser {
    /// Observes until the input ends: a line when it has begun, one for each call, and at the end what it took and left.
    func observe(_ vault: Vault) {
        var observation: StoreObservation?
        do {
            // Opens the vault, so that this does not count later.
            _ = try vault.lockState
            observation = try vault.observe { tell("changed") }
        } catch {
            tell("failed \(error.reason.rawValue) \(error.message)")
            return
        }
        tell("ready \(watchDescriptors)")
        let before = processorTime
        _ = FileHandle.standardInput.readDataToEndOfFile()
        let taken = processorTime - before
        withExtendedLifetime(observation) {}
        observation = nil
        // Closed on another thread.
        for _ in 0..<5000 where watchDescriptors > 0 { usleep(1000) }
        tell("took \(taken) left \(watchDescriptors)")
    }

    /// Observes, and tries to in the child of a fork as well, which has none of the threads that this takes.
    func observeAndFork(_ vault: Vault) throws {
        let observation = try vault.observe { tell("changed") }
        let child = test_fork()
        guard child != 0 else {
            do { _ = try vault.observe {} } catch { tell("child \(error.reason.rawValue)") }
            _exit(0)
        }
        waitpid(child, nil, 0)
        tell("ready")
        _ = FileHandle.standardInput.readDataToEndOfFile()
        withExtendedLifetime(observation) {}
    }

    /// Adds an item and waits, with the transaction open, for the input to end.
    func addAndWait(_ account: String) throws {
        var query = Query(.genericPassword, [.service: .string("exerciser"), .account: .string(account)])
        query.value = Data("value".utf8)
        try engine.transaction(as: query) { (requests) throws(KeychainError) in
            try requests.add(query, caller: .unrestricted)
            tell("inside")
            _ = FileHandle.standardInput.readDataToEndOfFile()
        }
    }

    private func tell(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// In microseconds, of all threads.
    private var processorTime: Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
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
