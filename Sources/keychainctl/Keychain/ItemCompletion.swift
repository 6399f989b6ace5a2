// SPDX-License-Identifier: Apache-2.0
// Names from the vault for shell completion. The user is not asked, and only names are printed.

import ArgumentParser
import KeychainAuthenticators
import KeychainKit

/// A locked or damaged vault has no names, so the shell completes nothing.
enum ItemCompletion {
    static func services(_ words: [String]) -> [String] { names(words, [.all]) { $0.service } }

    static func servers(_ words: [String]) -> [String] { names(words, [.all]) { $0.server } }

    /// - Parameter words: The command so far. If it contains a service or server, only its accounts are returned.
    static func accounts(_ words: [String]) -> [String] {
        if let service = value(of: ["-s", "--service"], in: words) {
            return names(words, [ItemFilter(service: service)]) { $0.account }
        }
        return names(words, value(of: ["--server"], in: words).flatMap(filters) ?? [.all]) { $0.account }
    }

    /// One for each server that may be meant; `nil` for an address, which may not be complete yet.
    private static func filters(server: String) -> [ItemFilter]? {
        if ServerAddress.isOne(server) { return nil }
        return (try? ItemOptions.parse(["--server=" + server]))?.filters(label: nil)
    }

    static func tags(_ words: [String]) -> [String] { names(words, [.all]) { $0.tag } }

    private static func value(of options: [String], in words: [String]) -> String? {
        for (option, word) in zip(words, words.dropFirst()) where options.contains(option) { return word }
        return words.compactMap { word in
            options.first { word.hasPrefix($0 + "=") }.map { String(word.dropFirst($0.count + 1)) }
        }.first
    }

    private static func names(
        _ words: [String], _ filters: [ItemFilter], _ name: (ListedItem) -> String?
    ) -> [String] {
        do throws(KeychainError) {
            let keychain = try UserKeychain()
            var items: [KeychainItem] = []
            for filter in filters { items += try keychain.foundItems(filter).items }
            if words.dropFirst().first.map(["history", "undo"].contains) ?? false {
                for filter in filters {
                    items += try keychain.formerItems(service: filter.service, server: filter.server)
                }
            }
            let found = items.compactMap { name(ListedItem(item: $0)) }
            // The shell interprets each line as a name, and would pass control characters on.
            let shown = Swift.Set(found).filter { name in !name.unicodeScalars.contains { $0.isInvisible } }.sorted()
            // Bash expands the names, commands in them too, and what it puts into the command line is expanded again.
            return CompletionShell.requesting == .bash ? shown.map(\.quotedForBash.quotedForBash) : shown
        } catch {
            return []
        }
    }
}

extension String {
    /// The text as a word of bash that stands for it: each character that may have a meaning has a backslash before it.
    fileprivate var quotedForBash: String {
        var result = UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.isASCII, !scalar.properties.isAlphabetic, !Self.plain.contains(scalar) { result.append("\\") }
            result.append(scalar)
        }
        return String(result)
    }

    private static let plain = "0123456789_@%+=:,./-".unicodeScalars
}
