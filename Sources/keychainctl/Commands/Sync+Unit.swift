// SPDX-License-Identifier: Apache-2.0
// keychainctl sync: running without a person.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainSync
import KeychainVault

extension Keychainctl.Sync {
    struct InstallUnit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install-unit",
            abstract: "Write systemd user units that exchange items.",
            usage: "keychainctl sync install-unit [--timer] [--print]",
            discussion: """
                Without options: a service that runs 'sync watch'. It exchanges changes at once.

                With --timer, no program stays in memory: a timer runs 'sync now' every five minutes, and a \
                path unit runs it when files of other machines come into the folder of the ring. For a ring \
                in etcd there is only the timer. Changes that are made here go out with the timer. Run the \
                command again after new machines have joined.

                Earlier units of the same names are replaced, and masked ones refused. Nothing is started. On a server, 'loginctl \
                enable-linger' lets the units run while nobody is logged in.

                EXAMPLES
                  keychainctl sync install-unit
                  systemctl --user enable --now swift-keychain-sync.service

                  keychainctl sync install-unit --timer
                  systemctl --user enable --now swift-keychain-sync-now.timer \\
                    swift-keychain-sync-now.path
                """)

        @Flag(help: "Write a timer and a path unit that run 'sync now' instead.") var timer = false
        @Flag(help: "Print the units instead of writing them.") var print = false
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let units = try units()
            if print { return try Output.write(units.text) }
            let folder = try units.write()
            let names = units.toEnable.joined(separator: " ")
            Output.note(
                "Written to \(folder): \(units.map(\.name).joined(separator: ", ")). To start: systemctl --user daemon-reload; systemctl --user enable --now \(names)"
            )
        }

        private func units() throws -> [SyncUnit] {
            let start = try UnitStart.ofThisProgram()
            guard timer else { return SyncUnit.watch(start) }
            let folders = try folders()
            if folders.isEmpty {
                Output.note(
                    "The ring is in no folder, so there is no path unit. Changes of other machines come with the timer."
                )
            }
            return try SyncUnit.timed(start, folders: folders)
        }

        private func folders() throws -> [String] {
            let vault = try UserKeychain.existingVault()
            return try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { () async throws(KeychainError) in
                    try await RingMember.ofTool(vault).foldersToWatch()
                }
            }
        }
    }
}
