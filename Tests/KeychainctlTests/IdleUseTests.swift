// SPDX-License-Identifier: Apache-2.0
// Which verbs restart the idle timeout of an unlocked vault, and which do not.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite(
    "use of an unlocked vault",
    .enabled(if: KernelTime.isShown && Tool.hasKeyring, "the kernel shows no keys to this process"))
struct IdleUseTests {
    /// Unlocked for eight hours without use, of which all but fifty minutes are over: more than any verb takes, also where
    /// many tests run at once.
    private struct Almost {
        let vault: LockableTool
        private let key: KernelKeyring.Key

        /// - Parameter preparation: A script before the time passes.
        init(after preparation: String) throws {
            vault = try LockableTool()
            // Two values, so that a version is kept.
            for _ in 0..<2 { try vault.store() }
            try #require(try vault.withKey("unlock --timeout 8h").status == 0)
            try vault.tool.must(preparation)
            let environment = vault.tool.environment
            let opened = Vault(try .fromEnvironment(environment), try .fromEnvironment(environment))
            let found = try #require(try opened.openSession()?.keyState.find(.unlocked))
            guard case .kernel(let key) = found.token else { throw KeychainError(.unavailable, "not in the kernel") }
            self.key = key
            try KernelKeyring.setTimeout(.seconds(50 * 60), of: key)
        }

        var isStillAlmostOver: Bool {
            get throws {
                guard let isUnderAnHour = try KernelTime.isUnderAnHour(key) else {
                    throw KeychainError(.itemNotFound, "no key")
                }
                return isUnderAnHour
            }
        }
    }

    private static let ring = "mkdir ring && \"$CTL\" sync init --folder ring --name here"

    @Test(arguments: [
        ("", "status"), ("", "doctor"), ("", "doctor --repair"), ("", "protect list"), ("", "quarantine list"),
        ("", "history --settings"), ("\"$CTL\" history --keep 3", "history --settings --json"),
        ("\"$CTL\" history --off", "history --settings"), (ring, "sync status"), (ring, "sync conflicts"),
    ])
    func verb_thatOnlyLooks_doesNotRestartTheTimeout(preparation: String, verb: String) throws {
        let almost = try Almost(after: preparation)
        try almost.vault.tool.must("\"$CTL\" \(verb)")
        #expect(try almost.isStillAlmostOver)
    }

    @Test(arguments: ["get -s example.com -a alice", "list", "history --keep 3"])
    func verb_thatReadsItemsOrChanges_restartsTheTimeout(verb: String) throws {
        let almost = try Almost(after: "")
        try almost.vault.tool.must("\"$CTL\" \(verb)")
        #expect(try !almost.isStillAlmostOver)
    }
}
