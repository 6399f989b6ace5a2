// SPDX-License-Identifier: Apache-2.0
// Whether git asks a helper of the global configuration, and what keeps it from doing so.

import Foundation
import KeychainKit

extension GitConfiguration {
    /// An entry of a helper that git sees in the current folder.
    private struct Entry {
        /// As git names it: system, global, local, worktree or command.
        let scope: String
        /// As git names it, such as file:.git/config.
        let origin: String
        let helper: String
    }

    enum Use {
        case asked
        /// The advice says what drops the helper, and how to repair that.
        case dropped(advice: String)
        /// git cannot say.
        case unknown
    }

    /// What git does with a helper of the global configuration in the current folder. An empty entry drops those before it.
    static func use(of helper: String) throws(KeychainError) -> Use {
        let entries = try entries()
        guard let own = entries.lastIndex(where: { $0.helper == helper }) else { return .unknown }
        guard let empty = entries[own...].last(where: \.helper.isEmpty) else { return .asked }
        return .dropped(advice: advice(own: entries[own], empty: empty))
    }

    /// None if git fails.
    private static func entries() throws(KeychainError) -> [Entry] {
        let words = ["config", "--null", "--show-scope", "--show-origin", "--get-all", key]
        let run = try ProgramOutput("git", words, limit: mostOutput)
        guard run.code == 0 else { return [] }
        let fields = run.bytes.split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        return stride(from: 0, to: fields.count - 2, by: 3).map { start in
            Entry(scope: fields[start], origin: fields[start + 1], helper: fields[start + 2])
        }
    }

    private static func advice(own: Entry, empty: Entry) -> String {
        let place = "an empty credential.helper in '\(empty.origin)'"
        switch empty.scope {
        case "local", "worktree":
            return "The repository's own configuration resets it with \(place). To remove that entry: "
                + "git config --\(empty.scope) --unset-all credential.helper '^$'"
        case own.scope where empty.origin == own.origin:
            return "In the same file, \(place) comes after it. To put the keychain after that entry: "
                + "keychainctl helper remove git, and then keychainctl helper install git"
        default: return "It is reset by \(place), which comes after it. Remove that entry to use the keychain here."
        }
    }
}
