// SPDX-License-Identifier: Apache-2.0
// keychainctl sync: the state of this machine in its ring, and what was noticed.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainSync
import KeychainSyncCore
import KeychainVault

extension Keychainctl.Sync {
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the ring, its machines, and what is not exchanged yet.",
            usage: "keychainctl sync status [--json] [--max-age <time>]",
            discussion: """
                Also shows what exchanges have noticed, such as a folder that went back to an older state, \
                and why they fail. What you have to decide stays until 'keychainctl sync dismiss'. The \
                compare code is equal on two machines with the same items. 'sync devices' and 'sync \
                compare' are other names of this command.

                With --max-age, the exit code is 0 only if this machine had a complete exchange within that \
                time, none has failed since, and nothing waits to be sent. It also fails if the clock is \
                earlier than that exchange. 'keychainctl sync watch' exchanges once an hour if nothing \
                changes, so give more than that.

                With --json: an object with the keys ring, place, groups (null for all), machines (name, \
                role, thisMachine, lastSeen), member, items, staying (marked as synchronizable, but bound to this \
                machine or in an access group that is not shared), pending, unused (changes of removed machines that are not applied \
                here), conflicts, kept, recoveryKey, invitations, lastExchange, paused, \
                compare, notices (kind, message, since) and failure (reason, message, since; null for none). \
                Times are dates, or null for never.

                EXAMPLES
                  keychainctl sync status
                  keychainctl sync status --max-age 2h || notify-send "Keychain is not synced"
                """,
            aliases: ["devices", "compare"])

        @Flag(help: "Print JSON, for programs.") var json = false
        @Option(
            help: ArgumentHelp(
                "Fail if the last complete exchange is older, or one has failed since: 90s, 2h, 1d.", valueName: "time"),
            transform: IdleTimeout.init)
        var maxAge: IdleTimeout?
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            let status = try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { () async throws(KeychainError) in try await RingMember.ofTool(vault).status() }
            }
            try Output.write(json ? JSONOutput.line(RingJSON(status)) : SyncWords.text(status))
            if let maxAge { try check(status, maxAge.duration) }
        }

        private func check(_ status: RingStatus, _ most: Duration) throws(KeychainError) {
            if let failure = status.failure {
                throw KeychainError(
                    .unavailable, "Exchanges fail since \(SyncWords.date(failure.since)): \(failure.error.message)")
            }
            if let reason = reason(status, most) { throw KeychainError(.unavailable, reason) }
        }

        private func reason(_ status: RingStatus, _ most: Duration) -> String? {
            guard status.isMember else {
                return "This machine was removed from the ring. To end syncing, run: keychainctl sync leave"
            }
            guard !status.isPaused else { return "Syncing is paused. To go on, run: keychainctl sync resume" }
            let age = Duration.milliseconds(
                Int64(Date().timeIntervalSince1970 * 1000) - Int64(clamping: status.lastExchange))
            guard age >= .zero else {
                return
                    "The clock is earlier than the last complete exchange, at \(SyncWords.date(status.lastExchange)). Set the clock, "
                    + "then run: keychainctl sync now"
            }
            guard age <= most else {
                return "There was no complete exchange within \(most). To exchange now, run: keychainctl sync now"
            }
            guard status.pending == 0 else {
                return "Changes that were not sent yet: \(status.pending). To send them, run: keychainctl sync now"
            }
            return nil
        }
    }

    struct Dismiss: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "dismiss",
            abstract: "Forget what 'sync status' shows until you have decided what to do.",
            usage: "keychainctl sync dismiss",
            discussion: """
                Prints what is forgotten. What an exchange notices again comes back.

                EXAMPLES
                  keychainctl sync dismiss
                """)

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            let notices = try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { () async throws(KeychainError) in
                    try await RingMember.ofTool(vault).dismissNotices()
                }
            }
            for notice in notices { Output.note("Forgotten: \(notice.message.escapingControls())") }
            if notices.isEmpty { Output.note("There is nothing to forget.") }
        }
    }
}
