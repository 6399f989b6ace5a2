// SPDX-License-Identifier: Apache-2.0
// keychainctl sync: the members of the ring.

import ArgumentParser
import KeychainAuthenticators
import KeychainKit
import KeychainSync
import KeychainSyncCore
import KeychainVault

extension Keychainctl.Sync {
    struct Approve: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "approve",
            abstract: "Let machines in that were invited with --confirm.",
            usage: "keychainctl sync approve [<ID> ...] [--yes]",
            discussion: """
                Shows the machines that wait. Compare each ID with the one that 'sync join' shows on that \
                machine: if it differs, somebody else has the code. Without an ID, all of them are meant.

                EXAMPLES
                  keychainctl sync approve
                """)

        @Argument(help: ArgumentHelp("The IDs of machines, as 'sync join' shows them.", valueName: "ID"))
        var ids: [String] = []
        @OptionGroup var confirmation: Confirmation
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func run() throws {
            let vault = try UserKeychain.existingVault()
            try unlock.unlocking(vault) { () throws(KeychainError) in
                let waiting = try Waiting.forResult { () async throws(KeychainError) in
                    try await RingMember.ofTool(vault).exchange().waiting
                }
                let chosen = try chosen(of: waiting)
                try confirmation.ask(Self.question(chosen))
                let report = try Waiting.forResult { () async throws(KeychainError) in
                    try await RingMember.ofTool(vault).approve(chosen.map(\.id))
                }
                SyncWords.show(report)
                // Another process of this machine may have let them in.
                let members = try Waiting.forResult { () async throws(KeychainError) in
                    try await RingMember.ofTool(vault).status().members
                }
                guard chosen.allSatisfy({ machine in members.contains { $0.id == machine.id } }) else {
                    throw .notAllAdmitted
                }
            }
        }

        private static func question(_ chosen: [WaitingMachine]) -> String {
            let groups = Dictionary(grouping: chosen) { $0.role == .reader }
            return [(false, "read and change"), (true, "read")].compactMap { onlyReads, what in
                guard let machines = groups[onlyReads] else { return nil }
                let list = machines.map { "\($0.name.escapingControls()) (\(WaitingMachine.text($0.id)))" }
                return "These machines will \(what) all shared items: \(list.joined(separator: ", "))."
            }.joined(separator: " ")
        }

        private func chosen(of waiting: [WaitingMachine]) throws(KeychainError) -> [WaitingMachine] {
            guard !waiting.isEmpty else {
                throw KeychainError(
                    .itemNotFound,
                    "No machine waits for approval. The code may not have been entered, or the request has not arrived yet."
                )
            }
            guard !ids.isEmpty else { return waiting }
            return try ids.map { (text) throws(KeychainError) in
                guard let machine = waiting.first(where: { $0.id == WaitingMachine.id(text) }) else {
                    throw KeychainError(
                        .itemNotFound,
                        "No machine with the ID '\(text)' waits for approval. To list those that do: keychainctl sync approve"
                    )
                }
                return machine
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a machine from the ring, and make new keys.",
            usage: "keychainctl sync remove <name> ... [--without-fetching] [--yes]",
            discussion: """
                The removed machine keeps the items that it has, but cannot read anything that is \
                written from now on. Change the secrets that it knew.

                This machine first fetches what the others have sent. If that fails, or changes of the machine \
                are missing, nobody is removed. With --without-fetching the machine is removed all the same, \
                and what it has sent and this machine has not fetched is lost.

                The open invitations of this machine are withdrawn: the removed one may know their codes. A \
                recovery key that it made or knows lets it in again: remove that too, and make another one.

                EXAMPLES
                  keychainctl sync remove old-laptop
                """)

        @Argument(help: ArgumentHelp("Names or IDs of machines, as 'sync status' shows them.", valueName: "name"))
        var names: [String]
        @Flag(help: "Remove it even if not everything that it has sent can be fetched first.")
        var withoutFetching = false
        @OptionGroup var confirmation: Confirmation
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func run() throws {
            let vault = try UserKeychain.existingVault()
            try confirmation.ask("These machines will be removed from the ring: \(names.joined(separator: ", ")).")
            let (names, withoutFetching) = (names, withoutFetching)
            let (report, invitations, keys) = try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { () async throws(KeychainError) in
                    let (member, status) = (RingMember.ofTool(vault), try await RingMember.ofTool(vault).status())
                    let others = status.members.filter { !$0.isThisMachine }
                    let chosen = try Keychainctl.Sync.chosen(names, among: others)
                    let report = try await member.remove(chosen, isWithoutFetching: withoutFetching)
                    let keys = others.filter { $0.role == .recovery && !chosen.contains($0.id) }
                    return (report, status.openInvitations, keys)
                }
            }
            SyncWords.show(report)
            for key in keys {
                Output.note(
                    "The recovery key \(key.shortID) still opens the ring. If the removed machine made it, or knows it, run: keychainctl "
                        + "sync remove \(key.shortID), and then: keychainctl sync recovery-key")
            }
            if invitations > 0 {
                Output.note("Open invitations withdrawn: \(invitations). To make another one: keychainctl sync invite")
            }
        }
    }

    struct Keep: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "keep",
            abstract: "Let a machine stay in the ring that another one has removed.",
            usage: "keychainctl sync keep <name> ... [--yes]",
            discussion: """
                If a machine removes another one, and is removed itself by one that does not know of that, \
                the other one is still in the ring. Either of them may be stolen. Each machine that sees this \
                sends nothing until one is removed with 'sync remove', or you say on that machine that it stays.

                EXAMPLES
                  keychainctl sync keep laptop
                """)

        @Argument(help: ArgumentHelp("Names or IDs of machines, as 'sync status' shows them.", valueName: "name"))
        var names: [String]
        @OptionGroup var confirmation: Confirmation
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func run() throws {
            let vault = try UserKeychain.existingVault()
            try confirmation.ask(
                "These machines will stay in the ring, and read everything that is shared: \(names.joined(separator: ", "))."
            )
            let names = names
            let report = try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { () async throws(KeychainError) in
                    let member = RingMember.ofTool(vault)
                    return try await member.keep(
                        try Keychainctl.Sync.chosen(
                            names, among: try await member.status().members, missing: "No machine of the ring"))
                }
            }
            SyncWords.show(report)
        }
    }

    struct Leave: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "leave",
            abstract: "End syncing on this machine. All items remain.",
            usage: "keychainctl sync leave [--without-sending] [--yes]",
            discussion: """
                Sends what was changed here first, and ends nothing if that fails. The other \
                machines still count this one as a member, until one of them removes it. The open \
                invitations of this machine are withdrawn.

                EXAMPLES
                  keychainctl sync leave
                """)

        @Flag(help: "Give up changes that cannot be sent. What was deleted here comes back with 'sync join'.")
        var withoutSending = false
        @OptionGroup var confirmation: Confirmation
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            try confirmation.ask("This machine will stop syncing. Its items remain.")
            let remaining = try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { [withoutSending] () async throws(KeychainError) in
                    try await RingMember.ofTool(vault).leave(withoutSending: withoutSending)
                }
            }
            if let remaining {
                let count = remaining.count.map(String.init) ?? "not known"
                Output.note(
                    "Invitations of this machine that could not be removed from the folder or the etcd: \(count). "
                        + "\(remaining.cause.message) Their codes let nobody in. \(remaining.advice)")
            }
        }
    }

    struct Pause: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause", abstract: "Stop syncing on this machine until 'sync resume'.",
            usage: "keychainctl sync pause",
            discussion: """
                EXAMPLES
                  keychainctl sync pause
                """)

        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            try Waiting.forResult { () async throws(KeychainError) in try await RingMember.ofTool(vault).pause() }
        }
    }

    struct Resume: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "Continue syncing after 'sync pause'.", usage: "keychainctl sync resume",
            discussion: """
                EXAMPLES
                  keychainctl sync resume
                """)

        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            try Waiting.forResult { () async throws(KeychainError) in try await RingMember.ofTool(vault).pause(false) }
        }
    }
}

extension KeychainError {
    fileprivate static let notAllAdmitted = KeychainError(
        .itemNotFound,
        "Not all of these machines were admitted: their invitation has expired or is used up. Make another one: keychainctl sync invite"
    )
}

extension Keychainctl.Sync {
    /// The machines that a person names.
    fileprivate static func chosen(
        _ names: [String], among members: [RingStatus.Member], missing: String = "No other machine"
    ) throws(KeychainError) -> [MemberID] {
        try names.map { (name) throws(KeychainError) in
            let found = members.filter { $0.name == name || $0.shortID == name || $0.id.hex == name }
            guard let one = found.first else {
                throw KeychainError(
                    .itemNotFound,
                    "\(missing) is named '\(name)'. To list the machines, run: keychainctl sync status")
            }
            guard found.count == 1 else {
                throw KeychainError(
                    .duplicateItem,
                    "\(found.count) machines are named '\(name)'. Give an ID instead. To list IDs, run: keychainctl sync status"
                )
            }
            return one.id
        }
    }
}
