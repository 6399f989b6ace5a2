// SPDX-License-Identifier: Apache-2.0
// The child of a fork reads what its parent remembers.

import CTestShims
import Foundation
import KeychainEngine
import KeychainVault

extension VaultItems {
    /// Remembers an item and forks. The child says how it reads the item: at first, as soon as it remembers it itself, and after the
    /// parent has changed it.
    func forkAndReadAgain(_ vault: Vault) throws {
        let reads = RememberedRead(vault: vault, account: "remembered")
        try add(reads.account, "1")
        let (asks, answers) = (Pipe(), Pipe())
        waitUntilOtherThreadsSleep()
        // Last: the child begins before the next check of the files is due.
        try reads.remember()
        let child = test_fork()
        guard child != 0 else {
            alarm(600)
            do {
                say("child", try reads.read())
                try reads.remember()
                say("child", try reads.read())
                try asks.fileHandleForWriting.write(contentsOf: Data([1]))
                _ = try answers.fileHandleForReading.read(upToCount: 1)
                say("child", try reads.read())
            } catch {
                _exit(1)
            }
            _exit(0)
        }
        try asks.fileHandleForWriting.close()
        // Nothing comes if the child has ended.
        _ = try asks.fileHandleForReading.read(upToCount: 1)
        say("parent", try reads.read())
        try update(reads.account, "2")
        try answers.fileHandleForWriting.write(contentsOf: Data([1]))
        say("child", exitStatus(child))
        say("parent", try reads.read())
    }
}

/// Reads of one item as KeychainKit makes them.
private struct RememberedRead {
    let vault: Vault
    let account: String

    /// - Returns: The value, and how it was found.
    func read() throws -> String {
        let name = Array(account.utf8)
        if let again = name.withUnsafeBytes({ vault.repeated($0, waits: true) }) {
            return "repeats " + String(decoding: again.value ?? Data(), as: UTF8.self)
        }
        let found = try vault.remembering(name) { () throws(KeychainError) in
            var query = Query(.genericPassword, [.service: .string("exerciser"), .account: .string(account)])
            query.returns = .value
            return FoundOnce(
                try Engine(store: vault).requests.find(query, accessGroups: .unrestricted).first, isOnly: true)
        }
        return "searches " + String(decoding: found?.item.value ?? Data(), as: UTF8.self)
    }

    /// What is found later than the next check of the files is not remembered.
    func remember() throws {
        for _ in 1...100 where try read().hasPrefix("repeats") { return }
        throw KeychainError(.inputOutput, "The item is searched for each time.")
    }
}
