// SPDX-License-Identifier: Apache-2.0
// What a verb on a vault is given.

import Foundation
import KeychainEngine
import KeychainVault

/// The words behind a verb on a vault: FOLDER DEVICE-KEY [ARGUMENT …].
struct VaultVerb {
    let vault: Vault
    let items: VaultItems
    let arguments: [String]

    init(_ words: [String]) throws {
        guard words.count >= 2 else { exit(64) }
        let location = try VaultLocation(folder: words[0], deviceKeyFile: words[1])
        vault = Vault.at(location, try exerciserSettings(ProcessInfo.processInfo.environment))
        items = VaultItems(engine: Engine(store: vault))
        arguments = Array(words.dropFirst(2))
    }

    var protection: Protection { Protection(vault: vault, items: items) }

    subscript(index: Int) -> String { arguments[index] }

    func number(_ index: Int) -> Int { Int(arguments[index]) ?? 0 }

    /// Does what prints for itself.
    func run(_ body: (VaultVerb) throws -> Void) rethrows { try body(self) }

    /// Prints "done" afterwards, or why not.
    func acknowledge(_ body: (VaultVerb) throws -> Void) { report { try body(self) } }
}
