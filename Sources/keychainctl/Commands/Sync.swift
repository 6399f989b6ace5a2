// SPDX-License-Identifier: Apache-2.0
// keychainctl sync: the same items on several machines.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainSync
import KeychainSyncCore
import KeychainVault
import SecretMemory

extension Keychainctl {
    struct Sync: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sync",
            abstract: "Share items with your other machines, end to end encrypted.",
            discussion: """
                Items that are marked as synchronizable are shared with the other machines of a ring, \
                through a folder that Syncthing, Nextcloud, NFS or git synchronizes, or through an etcd. \
                Someone with only the folder or the etcd learns when and how much is changed, and nothing \
                else. Other items never leave the machine.

                EXAMPLES
                  laptop$  keychainctl sync init --folder ~/Sync/keychain
                  laptop$  keychainctl sync invite --name desktop
                  desktop$ keychainctl sync join --folder ~/Sync/keychain
                  laptop$  keychainctl sync now
                  laptop$  keychainctl set --synchronizable -s example.com -a alice
                """,
            subcommands: [
                Init.self, Invite.self, Approve.self, Join.self, Now.self, Watch.self, Status.self, Dismiss.self,
                Conflicts.self, History.self,
                Restore.self, Remove.self, Keep.self, Leave.self, RecoveryKey.self, Pause.self, Resume.self,
                Repair.self,
                InstallUnit.self,
            ])
    }
}

extension Keychainctl.Sync {
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Found a ring with this machine as its first member.",
            usage: """
                keychainctl sync init --folder <path> [<options>]
                keychainctl sync init --etcd <URL> [<options>]
                """,
            discussion: """
                With --access-group, only items of these access groups are shared, and no machine takes \
                others from the ring. The groups of a ring cannot be changed later.

                EXAMPLES
                  keychainctl sync init --folder ~/Sync/keychain
                  keychainctl sync init --folder /srv/keychain --access-group web
                  keychainctl sync init --etcd https://a:2379,https://b:2379 --etcd-ca ca.pem \\
                    --etcd-user laptop --etcd-password-fd 3 3<password
                """)

        @OptionGroup var place: SyncPlace
        @Option(help: ArgumentHelp("This machine's name for the others; default: its host name.", valueName: "name"))
        var name: String?
        @Option(
            name: .customLong("access-group"), parsing: .singleValue,
            help: ArgumentHelp(
                "Share only items of this access group. Can be repeated; default: all groups.", valueName: "group"),
            transform: AccessGroupName.checked)
        var groups: [String] = []
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain().vault
            let (name, place) = (try MachineName.checked(name), try place.checked())
            let groups = groups.isEmpty ? nil : Set(groups)
            let report = try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { () async throws(KeychainError) in
                    try await RingMember.ofTool(vault).found(name: name, at: place, sharing: groups)
                }
            }
            SyncWords.show(report)
            Output.note("This machine is '\(name)'. To admit another machine, run: keychainctl sync invite --name NAME")
        }
    }

    struct Invite: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "invite",
            abstract: "Make a code that admits another machine.",
            usage: "keychainctl sync invite --name <name> [--valid <time>] [<options>]",
            discussion: """
                The code is printed once. Any machine with the folder where it is entered in time becomes \
                a member and can read everything. This machine has to sync once more to admit it, with \
                'keychainctl sync now' or 'keychainctl sync watch'. With --confirm, a machine also waits \
                until you have compared its ID: see 'keychainctl sync approve --help'.

                With --reader, the machine only reads. The others take no change from it. What is changed \
                on it stays on it.

                EXAMPLES
                  keychainctl sync invite --name desktop
                  keychainctl sync invite --name desktop --confirm
                  keychainctl sync invite --name web --uses 20 --valid 30m --reader
                """)

        @Option(help: ArgumentHelp("The name of the new machine.", valueName: "name")) var name: String
        @Option(
            help: ArgumentHelp("How long the code is valid: 90s, 15m, 8h, 2d; default: 1h.", valueName: "time"),
            transform: IdleTimeout.init)
        var valid: IdleTimeout?
        @Option(help: ArgumentHelp("How many machines may use it.", valueName: "number")) var uses = 1
        @Flag(help: "Take no changes from the new machine: it only reads.") var reader = false
        @Flag(help: "Let no machine in before 'keychainctl sync approve'.") var confirm = false
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func validate() throws {
            guard (1...10_000).contains(uses) else { throw ValidationError("--uses takes a number from 1 to 10000.") }
        }

        func run() throws {
            let vault = try UserKeychain.existingVault()
            let (name, duration, uses) = (try MachineName.checked(name), valid?.duration ?? .seconds(3600), uses)
            let (role, confirm) = (reader ? Role.reader : .device, confirm)
            try unlock.unlocking(vault) { () throws(KeychainError) in
                // Nobody could use an invitation that stays and whose code was not shown.
                try Waiting.forResult(cancelledBy: EndingSignals(ofKeyboard: .end)) { () async throws(KeychainError) in
                    _ = try await RingMember.ofTool(vault).invite(
                        name: name, for: duration, uses: uses, role: role, needsApproval: confirm
                    ) { (code) throws(KeychainError) in
                        try Output.write(RingMember.text(of: code), ifClosed: .isError)
                        try Output.write(Data("\n".utf8), ifClosed: .isError)
                    }
                }
            }
        }
    }

    struct Join: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "join",
            abstract: "Join a ring with the code of an invitation.",
            usage: """
                keychainctl sync join (--folder <path> | --etcd <URL>) [<options>]
                keychainctl sync join --folder <path> --ring-key-fd <number>
                """,
            discussion: """
                This machine's synchronizable items are merged with those of the ring. The command waits \
                until the invitation has arrived, and the machine that made it has synced. With the recovery key of the ring, no \
                other machine is needed.

                EXAMPLES
                  keychainctl sync join --folder ~/Sync/keychain
                  keychainctl sync join --folder ~/Sync/keychain --ring-key-fd 3 3<key
                """)

        @OptionGroup var place: SyncPlace
        @Option(help: ArgumentHelp("Read the code from this open descriptor.", valueName: "number")) var codeFd: String?
        @Option(
            help: ArgumentHelp(
                "How long to wait for the invitation and the other machine: 90s, 15m; default: 10m.", valueName: "time"),
            transform: IdleTimeout.init)
        var wait: IdleTimeout?
        @Option(help: ArgumentHelp("Read the ring's recovery key from this open descriptor.", valueName: "number"))
        var ringKeyFd: String?
        @Option(
            help: ArgumentHelp(
                "With the recovery key: the name of this machine; default: its host name.", valueName: "name"))
        var name: String?
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func validate() throws {
            try Descriptors.check(["--code-fd": codeFd, "--ring-key-fd": ringKeyFd])
            guard ringKeyFd == nil || codeFd == nil && wait == nil else {
                throw ValidationError("With --ring-key-fd there is no code, and nothing to wait for.")
            }
            guard ringKeyFd != nil || name == nil else {
                throw ValidationError("The machine that invites gives the name. Use --name with --ring-key-fd.")
            }
        }

        func run() throws {
            let vault = try UserKeychain().vault
            let place = try place.checked()
            if let descriptor = ringKeyFd.flatMap(Descriptors.number) {
                return SyncWords.show(try joinAlone(vault, try SyncWords.recoveryKey(from: descriptor), place))
            }
            let code = try code()
            let wait = wait?.duration ?? .seconds(600)
            let report = try unlock.unlocking(vault) { () throws(KeychainError) in
                // A request that stays would be answered when this machine no longer waits for it.
                try Waiting.forResult(cancelledBy: EndingSignals(ofKeyboard: .end)) { () async throws(KeychainError) in
                    try await Self.joinOnceInvited(vault, code, place, until: .now + min(wait, .seconds(1 << 32)))
                }
            }
            SyncWords.show(report)
        }

        /// The folder may bring the invitation later than a person types its code.
        private static func joinOnceInvited(
            _ vault: Vault, _ code: SecretBytes, _ place: CarrierPlace, until end: ContinuousClock.Instant
        ) async throws(KeychainError) -> ExchangeReport {
            var told: Swift.Set<String> = []
            func tell(_ text: String) { if told.insert(text).inserted { Output.note(text) } }
            while true {
                do throws(KeychainError) {
                    return try await RingMember.ofTool(vault).join(
                        code, at: place, wait: end - .now,
                        asked: { id in
                            tell(
                                "This machine's ID: \(WaitingMachine.text(id)). Compare it if the other machine asks for approval."
                            )
                        }, gone: { tell(Self.isOver) })
                } catch {
                    // The same reason has other causes once this machine is in the ring.
                    guard error.reason == .itemNotFound, try !vault.isInRing, .now < end else { throw error }
                }
                if !told.contains(Self.isOver) { tell("No invitation with this code has arrived yet. Waiting for it.") }
                try await Waiting.forASecond()
            }
        }

        private static let isOver =
            "The invitation is over. If this machine was let in, its keys will arrive: waiting for them. Otherwise the code was used by "
            + "another machine, has expired or was withdrawn. To stop waiting, press ^C."

        private func joinAlone(_ vault: Vault, _ key: SecretBytes, _ place: CarrierPlace) throws -> ExchangeReport {
            let name = try MachineName.checked(name)
            return try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { () async throws(KeychainError) in
                    try await RingMember.ofTool(vault).join(recoveryKey: key, name: name, at: place)
                }
            }
        }

        private func code() throws(KeychainError) -> SecretBytes {
            let typed: SecretBytes
            if let descriptor = codeFd.flatMap(Descriptors.number) {
                typed = try SecretInput.read(descriptor)
            } else {
                typed = try SecretInput.ask("Code of the invitation: ")
            }
            guard let code = RingMember.code(from: typed) else {
                throw KeychainError(
                    .undecodableInput,
                    "The code is not valid or is mistyped. A code has 24 letters and digits.")
            }
            return code
        }
    }

    struct Now: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "now",
            abstract: "Exchange items with the other machines once.",
            usage: "keychainctl sync now",
            discussion: """
                EXAMPLES
                  keychainctl sync now
                """)

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            let report = try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { () async throws(KeychainError) in try await RingMember.ofTool(vault).exchange()
                }
            }
            SyncWords.show(report)
        }
    }

    struct Watch: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch",
            abstract: "Exchange items whenever something changes, until interrupted.",
            usage: "keychainctl sync watch",
            discussion: """
                EXAMPLES
                  keychainctl sync watch
                """)

        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            // What fails again and again is said once, until something else happens.
            let last = Guarded<String?>(nil)
            try Waiting.forResult { () async throws(KeychainError) -> Void in
                try await RingMember.ofTool(vault).watch { outcome in
                    let complaint: String?
                    switch outcome {
                    case .success(let report):
                        complaint = nil
                        SyncWords.show(report, evenIfNothing: false)
                    case .failure(let error): complaint = error.message
                    }
                    let isNew = last.withLock { last in
                        defer { last = complaint }
                        return last != complaint
                    }
                    if isNew, let complaint { Output.complain(complaint) }
                }
            }
        }
    }
}
