// SPDX-License-Identifier: Apache-2.0
// Writers that are killed at random moments, many in a second: a forked child each, so that no program is loaded again.

import CTestShims
import Foundation
import KeychainEngine
import KeychainVault

/// The parent never opens the vault, so that a child begins as a new process does.
struct CrashRuns {
    let location: VaultLocation
    let settings: VaultSettings

    /// Prints how many writers were killed and what was wrong afterwards, which should be nothing: what a fresh process finds,
    /// or a head that has not gone on by the changes that were acknowledged, and at most one more.
    func run(count: Int, seed: UInt64) {
        var generator = SplitMix(state: seed)
        var (killed, violations, changes) = (0, 0, 0)
        var sequence: UInt64 = 0
        for _ in 0..<count {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { return print("no pipe") }
            let child = fork(seed: generator.next(), tellingBy: ends[1])
            close(ends[1])
            // Not before it writes: the moments that matter come after its first changes.
            var byte: UInt8 = 0
            var acknowledged: UInt64 = 0
            for _ in 0...generator.next() % 8 where read(ends[0], &byte, 1) == 1 { acknowledged += UInt64(byte) }
            usleep(UInt32(generator.next() % 1500))
            kill(child, SIGKILL)
            var status: Int32 = 0
            waitpid(child, &status, 0)
            while read(ends[0], &byte, 1) == 1 { acknowledged += UInt64(byte) }
            close(ends[0])
            if status & 0x7F == SIGKILL { killed += 1 }
            changes += Int(acknowledged)
            let next = sequenceAfterALook()
            // One more for the look itself, which changes something too.
            let isRight = next.map { (1...2).contains($0 &- sequence &- acknowledged) } ?? false
            if !isRight {
                print("violation: sequence \(sequence), then \(next ?? 0) after \(acknowledged) changes")
                violations += 1
            }
            sequence = next ?? sequence
        }
        print("killed \(killed) changes \(changes) violations \(violations)")
    }

    /// Changes items until it is killed.
    private func fork(seed: UInt64, tellingBy descriptor: Int32) -> pid_t {
        let child = test_fork()
        guard child == 0 else { return child }
        signal(SIGPIPE, SIG_IGN)
        let items = VaultItems(engine: Engine(store: Vault.at(location, settings)))
        var generator = SplitMix(state: seed)
        while true {
            let account = "account-\(generator.next() % 12)"
            // Whether something was changed.
            var byte: UInt8 = 1
            do {
                switch generator.next() % 4 {
                case 0: try items.delete(account)
                case 1: try items.update(account, "\(generator.next())")
                default: try items.add(account, "\(generator.next())")
                }
            } catch let failure as KeychainError {
                if ![.duplicateItem, .itemNotFound].contains(failure.reason) { complain(failure.message) }
                byte = 0
            } catch {
                complain("unknown")
            }
            _ = write(descriptor, &byte, 1)
        }
    }

    /// What the head says after another fresh process has found nothing wrong, and has changed something too; else `nil`.
    private func sequenceAfterALook() -> UInt64? {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        let child = test_fork()
        guard child == 0 else {
            close(ends[1])
            var sequence: UInt64 = 0
            let count = read(ends[0], &sequence, MemoryLayout<UInt64>.size)
            close(ends[0])
            var status: Int32 = 0
            waitpid(child, &status, 0)
            return status == 0 && count == MemoryLayout<UInt64>.size ? sequence : nil
        }
        do {
            let vault = Vault.at(location, settings)
            let findings = try vault.headFindings(wholeVault: true)
            guard findings.isEmpty else { complain(findings.sentence) }
            try change(VaultItems(engine: Engine(store: vault)))
            guard var sequence = try vault.headSequence() else { complain("no head") }
            _ = write(ends[1], &sequence, MemoryLayout<UInt64>.size)
            _exit(0)
        } catch {
            complain("\(error)")
        }
    }

    /// Exactly one change.
    private func change(_ items: VaultItems) throws {
        do {
            try items.add("look", "0")
        } catch let failure as KeychainError where failure.reason == .duplicateItem {
            try items.update("look", "1")
        }
    }

    private func complain(_ message: String) -> Never {
        print("violation: \(message)")
        fflush(nil)
        _exit(1)
    }
}
