// SPDX-License-Identifier: Apache-2.0
// keychainctl sync: what helps when machines or files are lost.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainSync
import KeychainVault
import SecretMemory

extension Keychainctl.Sync {
    struct RecoveryKey: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "recovery-key",
            abstract: "Make a key on paper that lets a machine in when all others are lost.",
            usage: "keychainctl sync recovery-key",
            discussion: """
                The key is printed once. Anyone with it and the folder can read all shared items. To make an \
                earlier one useless, remove 'recovery key' by its ID: keychainctl sync remove ID

                If the command is interrupted or fails, repeat it. A key that has not reached the folder or \
                the etcd is replaced by the new one.

                EXAMPLES
                  keychainctl sync recovery-key
                """)

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            let member = RingMember.ofTool(vault)
            try unlock.unlocking(vault) { () throws(KeychainError) in
                _ = try Waiting.forResult { () async throws(KeychainError) in
                    try await member.addRecoveryKey { (text) throws(KeychainError) in
                        try Output.write(text)
                        try Output.write("\n")
                        Output.note(
                            "This is the ring's recovery key. It is shown only once. Write it down. It works once this command has succeeded."
                        )
                    }
                }
                do throws(KeychainError) {
                    _ = try Waiting.forResult { () async throws(KeychainError) in try await member.exchange() }
                } catch {
                    throw KeychainError(
                        error.reason,
                        "The key is made, and works once this machine has synced. \(error.message) Then run: keychainctl sync now. "
                            + "If you make another key before that, this one is useless."
                    )
                }
            }
        }
    }

    struct Repair: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "repair",
            abstract: "Send again what the other machines lack, under a new identity of this machine.",
            usage: "keychainctl sync repair",
            discussion: """
                For a machine that was copied or restored from a disk image, whose folder lost files, or \
                whose clock was more than a day ahead and is right now. Nothing is lost by it. It also \
                reads what machines need to join, and writes again what is damaged.

                EXAMPLES
                  keychainctl sync repair
                """)

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            let report = try unlock.unlocking(vault) { () throws(KeychainError) in
                try Waiting.forResult { () async throws(KeychainError) in try await RingMember.ofTool(vault).repair() }
            }
            SyncWords.show(report)
        }
    }
}
