// SPDX-License-Identifier: Apache-2.0
// Finding the versions of an item, and bringing one back.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainKit
import KeychainVault

/// What is kept of one item.
struct ItemHistory {
    let name: KeptName
    /// The item, if there is one of the name now.
    let current: KeychainItem?
    /// The oldest first.
    let versions: [KeptVersion]
    /// Those under the former names of the current item.
    let former: [KeptVersion]

    var all: [KeptVersion] { former + versions }

    /// The last change. Dates do not tell, since the clock may have been put back: what the item itself went through under
    /// this name came after its arrival, and what others did before it. A move that was not kept cannot be undone.
    private var newest: KeptVersion? {
        let versions = versions.filter { !$0.isBareLink }
        return versions.last { $0.original == current?.id } ?? former.last { $0.isMove } ?? versions.last
    }

    /// - Parameter number: `nil` for the newest.
    /// - Throws: `itemNotFound`.
    func version(_ number: Int?) throws(KeychainError) -> KeptVersion {
        guard let number else {
            guard let newest else { throw .isNotKept }
            return newest
        }
        let version = versions.last { $0.number == number } ?? former.last { $0.number == number }
        guard let version, !version.isBareLink else { throw .isNotKept }
        return version
    }
}

extension UserKeychain {
    private var authorization: Authorization { Authorization(context) }

    private var kept: KeptVersions { KeptVersions(items: vault, authorization: authorization) }

    /// The histories of all items that the options select, also of deleted ones.
    ///
    /// What does not open hides no history of other items. It is an error if there is nothing else.
    func histories(_ options: ItemOptions) throws(KeychainError) -> [ItemHistory] {
        let (histories, failure) = try openHistories(options)
        if histories.isEmpty, let failure { throw failure }
        return histories
    }

    /// The same, and why there may be other items.
    private func openHistories(
        _ options: ItemOptions
    ) throws(KeychainError) -> ([ItemHistory], KeychainError?) {
        let kept = kept
        var named: [KeptName: [KeptVersion]] = [:]
        var arrivals: [UUID: [KeptVersion]] = [:]
        let all = try kept.all()
        let someAreHidden = all.contains { !$0.stored.item.accessControl.needs.isEmpty }
        for version in all {
            named[version.name, default: []].append(version)
            if let target = version.leadsTo { arrivals[target, default: []].append(version) }
        }
        var histories: [ItemHistory] = []
        let (current, failure) = try currentItems(options)
        for item in current {
            let name = KeptName(item)
            // Of a version that requires authentication, only the index knows where the item was moved.
            let former = try someAreHidden ? kept.versions(movedTo: item.id) : arrivals[item.id] ?? []
            let versions = named.removeValue(forKey: name) ?? []
            guard !former.isEmpty || !versions.isEmpty else { continue }
            histories.append(ItemHistory(name: name, current: item, versions: versions, former: former))
        }
        for (name, versions) in named {
            guard let item = name.listed, options.selects(item) else { continue }
            histories.append(ItemHistory(name: name, current: nil, versions: versions, former: []))
        }
        return (histories, failure)
    }

    /// The items that the options select, of all spellings of the server, and why there may be others.
    private func currentItems(_ options: ItemOptions) throws(KeychainError) -> ([KeychainItem], KeychainError?) {
        var (items, failure): ([KeychainItem], KeychainError?) = ([], nil)
        for filter in options.filters(label: nil) {
            let found = try foundItems(filter)
            items += found.items
            failure = failure ?? found.failure
        }
        return (items, failure)
    }

    /// The names of which versions are kept, for completion.
    func formerItems(service: String?, server: String?) throws(KeychainError) -> [KeychainItem] {
        try kept.all().compactMap(\.name.listed).filter { item in
            isSame(service, item.service) && isSame(server, item.server)
        }
    }

    /// The history of the one item that the options select.
    ///
    /// - Throws: `itemNotFound`, or `duplicateItem` if there are several.
    func history(_ options: ItemOptions) throws(KeychainError) -> ItemHistory {
        let (histories, failure) = try openHistories(options)
        let found = options.preferred(histories, \.name.listed)
        // An item that does not open is not absent: nothing may take its place.
        if found.first?.current == nil, let failure { throw failure }
        guard let history = found.first else {
            throw KeychainError(
                .itemNotFound, "Nothing is kept of an item of this name. To see what is: keychainctl history")
        }
        guard found.count == 1 else {
            throw KeychainError(
                .duplicateItem,
                "\(found.count) items match, but exactly one must. To see which: keychainctl history, with the same "
                    + "options. Then add --account, --access-group, --protocol, --port, --path, --security-domain or "
                    + "--no-synchronizable.")
        }
        return history
    }

    /// - Throws: `itemNotFound`; `typeMismatch` if the version has no value.
    func value(ofVersion number: Int, _ options: ItemOptions) throws(KeychainError) -> Data {
        let version = try history(options).version(number)
        guard !version.isAbsence, let value = try kept.complete(version).stored.item.value else {
            throw KeychainError(.typeMismatch, "Version \(number) has no value.")
        }
        return value
    }

    /// Removes what is kept of the items that the options select.
    ///
    /// - Returns: How many versions.
    func clearHistory(_ options: ItemOptions) throws(KeychainError) -> Int {
        let histories = try histories(options)
        guard !histories.isEmpty else { return 0 }
        return try vault.transaction(authorization) { (items) throws(KeychainError) in
            let kept = KeptVersions(items: items, authorization: authorization)
            var count = 0
            for history in histories { count += try kept.removeAll(of: history.name, history.current?.id) }
            return count
        }
    }

    /// - Returns: How many versions were removed, and how many do not open, and are in the quarantine now.
    func clearHistory() throws(KeychainError) -> (removed: Int, quarantined: Int) {
        guard try !vault.protectors.isEmpty else { return (0, 0) }
        return try vault.transaction(authorization) { (items) throws(KeychainError) in
            try KeptVersions(items: items, authorization: authorization).removeAll()
        }
    }

    // MARK: - Settings

    func historySettings() throws(KeychainError) -> HistorySettings { try HistorySettings.read(vault) }

    /// How many versions are kept of all items. Like looking at the settings, it is no use of an unlocked vault.
    func keptCount() throws(KeychainError) -> Int {
        try KeptVersions(items: vault, authorization: authorization.looking).all().count
    }

    /// - Returns: How many versions are kept now.
    func changeHistory(_ change: (inout HistorySettings) -> Void) throws(KeychainError) -> Int {
        try vault.transaction(authorization) { (items) throws(KeychainError) in
            var settings = try HistorySettings.readOrStandard(items)
            change(&settings)
            return try KeptVersions(items: items, authorization: authorization).apply(&settings, at: Date())
        }
    }
}

extension KeptName {
    /// For the user; `nil` if the name is damaged.
    var listed: KeychainItem? { item.map { KeychainItem(StoredItem(id: UUID(), version: 0, item: $0)) } }
}

extension ItemOptions {
    /// Whether the item of a kept version is one that a search with these options would find.
    fileprivate func selects(_ item: KeychainItem) -> Bool {
        let texts = [
            (service, item.service), (account, item.account), (path, item.path),
            (securityDomain, item.securityDomain),
        ]
        for (wanted, own) in texts where !isSame(wanted, own) { return false }
        if let accessGroup, !isSame(accessGroup, item.accessGroup) { return false }
        if let synchronizable, synchronizable != item.synchronizable { return false }
        guard selectsServer(item.server, item.port) else { return false }
        if let protocolCode, protocolCode.code != item.protocol?.rawValue { return false }
        return true
    }
}

private func isSame(_ wanted: String?, _ own: String?) -> Bool {
    guard let wanted else { return true }
    return (own ?? "").utf8.elementsEqual(wanted.utf8)
}
