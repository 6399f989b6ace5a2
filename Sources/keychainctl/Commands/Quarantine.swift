// SPDX-License-Identifier: Apache-2.0
// keychainctl quarantine: items that did not open and were quarantined.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Quarantine: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "quarantine",
            abstract: "List, restore or erase quarantined items.",
            discussion: """
                An item whose name cannot be read is moved to the quarantine, with all its bytes, when \
                another item needs its name or when it is deleted; with rotate also one whose value cannot \
                be read. You can restore it once it opens again, or erase it permanently.

                EXAMPLES
                  keychainctl quarantine list
                  keychainctl quarantine restore --all
                  keychainctl quarantine purge 17
                """,
            subcommands: [List.self, Restore.self, Purge.self], defaultSubcommand: List.self)

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "list",
                abstract: "List quarantined items and their states.",
                usage: "keychainctl quarantine list [<options>]",
                discussion: """
                    States: opens (can be restored), place-taken (opens, but another item has its \
                    name), locked, other-device (bound to another device key), unknown-key (the vault \
                    does not have its key) and damaged. Names are shown only for items that open.

                    With --json: an array of objects with the keys id, quarantinedAt, accessibility, \
                    generation, size, state, class, service, server, account and accessGroup; the last \
                    five are null for items that do not open.

                    EXAMPLES
                      keychainctl quarantine list
                      keychainctl quarantine list --json | jq '.[] | select(.state == "opens").id'
                    """)

            @Flag(help: "Print JSON, for programs.")
            var json = false

            @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
            @OptionGroup var stray: StrayWords

            func run() throws {
                let vault = try UserKeychain().vault
                let items =
                    unlock.given == nil
                    ? try vault.quarantinedItems()
                    : try unlock.unlocking(vault) { () throws(KeychainError) in try vault.quarantinedItems() }
                try Output.write(
                    json ? JSONOutput.line(items.map(QuarantinedJSON.init)) : QuarantineListing(items: items).text)
            }
        }

        struct Restore: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "restore",
                abstract: "Restore quarantined items that open now.",
                usage: "keychainctl quarantine restore (<id> ... | --all) [<options>]",
                discussion: """
                    An item is not restored if another item has its name: delete or rename that item \
                    first. The exit code is 0 only if every requested item was restored.

                    EXAMPLES
                      keychainctl quarantine restore 17
                      keychainctl quarantine restore --all
                    """)

            @OptionGroup var chosen: ChosenItems
            @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

            func run() throws {
                let vault = try UserKeychain.existingVault()
                let found = try unlock.unlocking(vault) { () throws(KeychainError) in
                    try vault.restoreQuarantined(chosen.numbers)
                }
                for item in found { Output.note("\(item.id): " + (item.isRestored ? "restored" : item.state.text)) }
                guard let left = found.first(where: { !$0.isRestored }) else { return }
                let count = found.filter { !$0.isRestored }.count
                throw KeychainError(left.state.reason, "\(count) of \(found.count) items could not be restored.")
            }
        }

        struct Purge: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "purge",
                abstract: "Erase quarantined items permanently.",
                usage: "keychainctl quarantine purge (<id> ... | --all) [--yes]",
                discussion: """
                    Their bytes are overwritten. On a terminal you are asked first; without a terminal, \
                    --yes is required.

                    EXAMPLES
                      keychainctl quarantine purge 17
                      keychainctl quarantine purge --all --yes
                    """)

            @OptionGroup var chosen: ChosenItems
            @OptionGroup var confirmation: Confirmation

            func run() throws {
                let vault = try UserKeychain.existingVault()
                let what = chosen.numbers.map { "\($0.count) of the quarantined items" } ?? "All quarantined items"
                try confirmation.ask(what + " will be erased permanently.")
                do throws(KeychainError) {
                    Output.note("Erased: \(try vault.purgeQuarantined(chosen.numbers))")
                } catch {
                    throw try vault.cause(of: error)
                }
                RemovedDataNotice.tell(vault)
            }
        }
    }
}

/// The selected quarantined items.
struct ChosenItems: ParsableArguments {
    @Argument(help: ArgumentHelp("The ids of items, as `quarantine list` shows them.", valueName: "id"))
    var ids: [QuarantineNumber] = []

    @Flag(help: "All of them.")
    var all = false

    func validate() throws {
        guard ids.isEmpty == all else { throw ValidationError("Give either the ids of items or --all.") }
    }

    /// `nil`: all.
    var numbers: [Int64]? { all ? nil : Array(Swift.Set(ids.map(\.number))) }
}

/// The number of a quarantined item.
struct QuarantineNumber: ExpressibleByArgument {
    let number: Int64

    init?(argument: String) {
        guard let number = Int64(argument) else { return nil }
        self.number = number
    }
}

// MARK: - Output

private struct QuarantineListing {
    let items: [QuarantinedItem]

    var text: String {
        guard !items.isEmpty else { return "" }
        return TextTable(
            header: ["ID", "SINCE", "ACCESSIBILITY", "KEY", "BYTES", "STATE", "NAME", "ACCOUNT"],
            rows: items.map(Self.cells), cut: ["NAME", "ACCOUNT"]
        ).text(within: Output.columns)
    }

    private static func cells(_ item: QuarantinedItem) -> [String] {
        let (listed, since) = (item.listed, item.quarantinedAt.timestamp(withFraction: false))
        let names = [listed?.service ?? listed?.server, listed?.account].map { name in
            name.flatMap { $0.isEmpty ? nil : $0.escapingControls() } ?? "-"
        }
        return [
            String(item.id), since, item.accessibility?.name ?? "unknown", String(item.generation), String(item.size),
            item.state.word,
        ] + names
    }
}

private struct QuarantinedJSON: Encodable {
    let item: QuarantinedItem

    private enum Key: String, CodingKey {
        case id, quarantinedAt, accessibility, generation, size, state, `class`, service, server, account, accessGroup
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(item.id, forKey: .id)
        try object.encode(item.quarantinedAt.timestamp(withFraction: true), forKey: .quarantinedAt)
        try object.encode(item.accessibility?.name, forKey: .accessibility)
        try object.encode(item.generation, forKey: .generation)
        try object.encode(item.size, forKey: .size)
        try object.encode(item.state.word, forKey: .state)
        try object.encode(item.listed?.itemClass.name, forKey: .class)
        try object.encode(item.listed?.service, forKey: .service)
        try object.encode(item.listed?.server, forKey: .server)
        try object.encode(item.listed?.account, forKey: .account)
        try object.encode(item.listed?.accessGroup, forKey: .accessGroup)
    }
}

extension QuarantinedItem {
    fileprivate var listed: ListedItem? { item.map { ListedItem(item: KeychainItem($0)) } }

    /// For the result of `restoreQuarantined`.
    fileprivate var isRestored: Bool { state == .opens }
}

extension QuarantinedItem.State {
    /// The word in tables and in JSON; it never changes.
    fileprivate var word: String {
        switch self {
        case .opens: "opens"
        case .placeTaken: "place-taken"
        case .locked: "locked"
        case .ofAnotherDevice: "other-device"
        case .unknownKey: "unknown-key"
        case .damaged: "damaged"
        }
    }

    fileprivate var text: String {
        switch self {
        case .opens: "it opens"
        case .placeTaken: "it opens, but another item has its name: delete or rename that item first"
        case .locked: "it is locked. To unlock it: keychainctl unlock"
        case .ofAnotherDevice: "it is bound to another device key: restore that key"
        case .unknownKey: "the vault does not have its key; a backup of the vault may have it"
        case .damaged: "it is damaged"
        }
    }

    fileprivate var reason: KeychainError.Reason {
        switch self {
        case .placeTaken: .duplicateItem
        case .locked: .locked
        case .ofAnotherDevice: .ofAnotherDevice
        case .unknownKey: .unavailable
        case .opens, .damaged: .corrupt
        }
    }
}
