// SPDX-License-Identifier: Apache-2.0
// keychainctl history: what is kept of earlier states of items.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit

extension Keychainctl {
    struct History: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "List earlier versions of items, and deleted items.",
            usage: """
                keychainctl history [--service <name> | --server <host>] [<options>]
                keychainctl history --clear (--service <name> | --all) [<options>]
                keychainctl history [--keep <number>] [--days <days>] [--size <number>]
                keychainctl history (--on | --off | --settings)
                """,
            discussion: """
                When a command of this tool replaces or deletes an item, the vault keeps the item as it \
                was, with its value and the same protection. Each line is one change: its number, its \
                time, the command, and what it changed. The number names the state before the change: \
                `get --history` prints its value, and `undo` brings it back. Without options, all items \
                are listed, the latest change first. Values are never shown.

                Of each item, 10 versions of at most 64 MiB together are kept for 30 days; the latest is kept \
                whatever its size is. --keep, --size and --days change that for all \
                programs that use this vault, --off keeps nothing from now on, and --settings shows what \
                is set. Versions beyond the bounds are removed with the next change. The longest pause \
                between two changes in these days is not counted, since it may have been a step of the \
                clock. --clear removes what is kept of an item at once, also under names that it had before; --clear --all removes \
                everything that is kept. What is damaged, or opens only on another device, goes to the \
                quarantine.

                Changes by other programs are not kept. `sync history` is something else: it lists \
                values that lost against another machine's.

                With --json: an array of objects with the keys version, time, command, changes, class, \
                service, server, account, accessGroup, protocol, port and path. With --settings: an object \
                with the keys on, versions, days and size (in MiB).

                EXAMPLES
                  keychainctl history
                  keychainctl history -s example.com -a alice
                  keychainctl get -s example.com -a alice --history 3
                  keychainctl history --clear -s example.com -a alice
                  keychainctl history --keep 5 --days 7
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Settings") var settings: HistoryOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Flag(help: "Remove what is kept of the item.")
        var clear = false

        @Flag(help: "With --clear: of all items.")
        var all = false

        @Flag(help: "Print JSON, for programs.")
        var json = false

        @Flag(help: "Print whole names on a terminal too.")
        var wide = false

        func validate() throws {
            if all, !clear { throw ValidationError("--all can only be used with --clear.") }
            if clear, all == (item.service != nil || item.server != nil) {
                throw ValidationError("With --clear, give either --service or --server, or --all.")
            }
            if clear, settings.areGiven || settings.settings {
                throw ValidationError("--clear cannot be used with settings.")
            }
            if settings.areGiven, settings.settings {
                throw ValidationError("--settings shows what is set, and changes nothing. Give it alone.")
            }
            let isChange = clear || settings.areGiven
            if isChange || settings.settings, wide || (json && isChange) {
                throw ValidationError("--wide is for lists, and --json for lists and --settings.")
            }
            guard settings.areGiven || settings.settings else { return }
            if item.service != nil || item.server != nil || item.account != nil {
                throw ValidationError("The settings are those of the vault, not of an item.")
            }
        }

        func run() throws {
            let keychain = try UserKeychain()
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                if settings.areGiven { return try settings.apply(to: keychain) }
                if settings.settings { return try show(keychain.historySettings(), keychain) }
                try clear ? remove(keychain) : list(keychain)
            }
            if clear { RemovedDataNotice.tell(keychain.vault) }
        }

        private func show(_ settings: HistorySettings, _ keychain: UserKeychain) throws(KeychainError) {
            let size = settings.size ?? HistorySettings.standardSize
            let line = SettingsLine(on: settings.isOn, versions: settings.versions, days: settings.days, size: size)
            if json { return try Output.write(JSONOutput.line(line)) }
            guard !settings.isOn else {
                return try Output.write(
                    "Of each item, \(settings.versions) version(s) of at most \(size) MiB together are kept for "
                        + "\(settings.days) day(s).\n")
            }
            let count = try keychain.keptCount()
            let rest = "Nothing more is kept (--off). \(count) version(s) still are.\n"
            try Output.write(count == 0 ? "Nothing is kept (--off).\n" : rest)
        }

        private func remove(_ keychain: UserKeychain) throws(KeychainError) {
            guard !all else {
                let (removed, quarantined) = try keychain.clearHistory()
                let rest = " \(quarantined) that do not open are in the quarantine: keychainctl quarantine purge"
                return Output.note("Removed \(removed) version(s)." + (quarantined > 0 ? rest : ""))
            }
            let count = try keychain.clearHistory(item)
            guard count > 0 else { throw KeychainError(.itemNotFound, "Nothing is kept of an item of this name.") }
            Output.note("Removed \(count) version(s).")
        }

        private func list(_ keychain: UserKeychain) throws(KeychainError) {
            let found = try keychain.reading { () throws(KeychainError) in try keychain.histories(item) }
            var seen: Swift.Set<UUID> = []
            // A version of an item that was moved belongs to both names.
            let versions = found.flatMap(\.all).filter { seen.insert($0.stored.id).inserted }.inOrder.reversed()
            let listing = versions.compactMap { version in
                version.name.listed.map { VersionLine(version: version, item: ListedItem(item: $0)) }
            }
            if json { return try Output.write(JSONOutput.line(listing)) }
            guard !listing.isEmpty else { return }
            let table = TextTable(
                header: ["VERSION", "TIME", "COMMAND", "CHANGED", "SERVICE/SERVER", "ACCOUNT", "GROUP"],
                rows: listing.map(\.cells), cut: ["SERVICE/SERVER", "ACCOUNT", "GROUP"])
            try Output.write(table.text(within: wide ? nil : Output.columns))
        }
    }
}

/// The settings of the vault's history.
struct HistoryOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Keep so many versions of an item, 1 to 1000.", valueName: "number"))
    var keep: Int?

    @Option(
        help: ArgumentHelp("Keep versions for so many days, 1 to 3650: 30 or 30d.", valueName: "days"),
        transform: DayCount.init)
    var days: DayCount?

    @Option(
        help: ArgumentHelp(
            "Let the versions of an item take so many mebibytes, 1 to 65536. The latest is kept in any case.",
            valueName: "number"))
    var size: Int?

    @Flag(help: "Keep versions, which is the default.")
    var on = false

    @Flag(help: "Keep no versions from now on.")
    var off = false

    @Flag(help: "Show what is set.")
    var settings = false

    var areGiven: Bool { keep != nil || days != nil || size != nil || on || off }

    func validate() throws {
        guard keep.map({ (1...HistorySettings.mostVersions).contains($0) }) ?? true else {
            throw ValidationError("--keep takes a number from 1 to 1000. To keep nothing: --off")
        }
        guard size.map({ (1...HistorySettings.largestSize).contains($0) }) ?? true else {
            throw ValidationError("--size takes a number of mebibytes from 1 to 65536. To keep nothing: --off")
        }
        guard !on || !off else { throw ValidationError("Give either --on or --off.") }
    }

    func apply(to keychain: UserKeychain) throws(KeychainError) {
        let remaining = try keychain.changeHistory { settings in
            if let keep { settings.versions = keep }
            if let days { settings.days = days.days }
            if let size { settings.size = size }
            if on || off { settings.isOn = on }
        }
        guard off, remaining > 0 else { return }
        Output.note("\(remaining) version(s) are still kept. To remove them: keychainctl history --clear --all")
    }
}

/// `history --settings --json`.
private struct SettingsLine: Encodable {
    let on: Bool
    let versions: Int
    let days: Int
    let size: Int
}

/// A version in the table and in `history --json`.
private struct VersionLine: Encodable {
    let version: KeptVersion
    let item: ListedItem

    private enum Key: String, CodingKey {
        case version, time, command, changes, `class`, service, server, account, accessGroup, `protocol`, port, path
    }

    /// The name as `list` shows it.
    var cells: [String] {
        let name = item.cells
        return [
            String(version.number), version.date.timestamp(withFraction: false), version.command.escapingControls(),
            version.deeds.joined(separator: ", ").escapingControls(), name[1], name[2], name[4],
        ]
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(version.number, forKey: .version)
        try object.encode(version.date.timestamp(withFraction: true), forKey: .time)
        try object.encode(version.command, forKey: .command)
        try object.encode(version.deeds, forKey: .changes)
        try object.encode(item.itemClass.name, forKey: .class)
        try object.encode(item.service, forKey: .service)
        try object.encode(item.server, forKey: .server)
        try object.encode(item.account, forKey: .account)
        try object.encode(item.accessGroup, forKey: .accessGroup)
        try object.encode(item.protocolName, forKey: .protocol)
        try object.encode(item.port, forKey: .port)
        try object.encode(item.path, forKey: .path)
    }
}
