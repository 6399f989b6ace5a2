// SPDX-License-Identifier: Apache-2.0
// keychainctl sync: values that are not shown, and showing them again.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainSync
import KeychainVault

extension Keychainctl.Sync {
    struct Conflicts: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "conflicts",
            abstract: "List items that two machines have changed at the same time.",
            usage: "keychainctl sync conflicts [--json]",
            discussion: """
                The later value is shown, the other one is kept. The next change of the item replaces both.

                With --json: an array of objects with the keys id, state (shown or concurrent), machine, \
                time, class, service, server, account and group.

                EXAMPLES
                  keychainctl sync conflicts
                """)

        @OptionGroup var listing: VersionListing

        func run() throws { try listing.run(includingKept: false, none: "No item has concurrent values.") }
    }

    struct History: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "List values that lost against another machine's in the last 30 days.",
            usage: "keychainctl sync history [--json]",
            discussion: """
                This is about values that two machines have written. What commands on this machine have \
                replaced or deleted is something else: see keychainctl history --help.

                With --json: as 'sync conflicts' prints it. The state 'kept' is of values that were replaced; \
                the key until tells for how long they are kept.

                EXAMPLES
                  keychainctl sync history
                """)

        @OptionGroup var listing: VersionListing

        func run() throws { try listing.run(includingKept: true, none: "No other values are kept.") }
    }

    struct Restore: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Show a value again, on all machines.",
            usage: "keychainctl sync restore <id>",
            discussion: """
                The value that was shown is kept in turn, in the history of this machine. The other machines get the change with the next \
                exchange.

                EXAMPLES
                  keychainctl sync restore 3fa94c01
                """)

        @Argument(help: ArgumentHelp("The value, as 'sync history' names it.", valueName: "id")) var id: String
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let (vault, id) = (try UserKeychain.existingVault(), id.lowercased())
            let isSent = try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { () async throws(KeychainError) in try await RingMember.ofTool(vault).restore(id)
                }
            }
            Output.note(
                isSent
                    ? "Restored. To send it to the other machines: keychainctl sync now"
                    : "Restored on this machine alone, since it was removed from the ring.")
        }
    }
}

/// What `conflicts` and `history` have in common.
struct VersionListing: ParsableArguments {
    @Flag(help: "Print JSON, for programs.") var json = false
    @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
    @OptionGroup var stray: StrayWords

    func run(includingKept: Bool, none: String) throws {
        let vault = try UserKeychain.existingVault()
        let versions = try unlock.unlocking(vault) { () throws(KeychainError) in
            try Waiting.forResult { () async throws(KeychainError) in
                try await RingMember.ofTool(vault).versions(includingKept: includingKept)
            }
        }
        if json { return try Output.write(JSONOutput.line(versions.map(VersionJSON.init))) }
        if versions.isEmpty { return Output.note(none) }
        try Output.write(SyncWords.text(versions))
    }
}
