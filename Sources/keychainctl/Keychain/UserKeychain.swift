// SPDX-License-Identifier: Apache-2.0
// The user's keychain, with the operations that the commands need.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainKit
import KeychainSync
import KeychainVault
import SecretMemory

/// It is unrestricted, whatever entitlements the environment names: the items of every program belong to the user.
struct UserKeychain {
    let vault: Vault
    /// The vault; for a command that changes items, one that keeps what is replaced and deleted.
    let store: any ItemStore
    let catalog: KeychainCatalog
    /// The user requested the item, so a prompt for a proof is allowed.
    let context = AuthenticationContext { () throws(KeychainError) in
        guard let authenticator = try Authenticators.forExplicitRequest() else { throw .noWayToAsk }
        return authenticator
    }

    /// - Parameter command: The command that is going to change items.
    init(for command: ChangingCommand? = nil) throws(KeychainError) {
        let environment = ProcessEnvironment.current
        var settings = try VaultSettings.fromEnvironment(environment)
        settings.useTPM(environment)
        try HardwareTokens.use(environment)
        vault = Vault.at(try .fromEnvironment(environment), settings)
        try SudoCaller.check(vault.location)
        if let command { store = KeepingStore(vault, command) } else { store = vault }
        var catalog = KeychainCatalog(store: store, accessGroups: .unrestricted)
        catalog.context = context
        self.catalog = catalog
    }

    /// The vault, for commands that do not create one.
    ///
    /// - Throws: `unavailable` if there is none yet.
    static func existingVault() throws(KeychainError) -> Vault {
        let vault = try UserKeychain().vault
        guard try !vault.protectors.isEmpty else {
            throw KeychainError(
                .unavailable, "There is no vault in '\(vault.location.folder)' yet. To create one: keychainctl init")
        }
        return vault
    }

    /// Adds the item, or changes the existing one in place: at every moment either the old or the new value is stored.
    ///
    /// - Parameter limit: How long to wait until all machines agree on it; `nil`: not at all.
    func set(
        _ options: ItemOptions, _ attributes: ItemAttributes, _ protection: Protection, value: Data,
        confirmed limit: Duration? = nil
    ) throws(KeychainError) {
        var store = try location(of: options, in: store(confirmed: limit))
        (store.accessibility, store.accessControl) = (protection.accessibility, protection.constraints)
        store.context = context
        try store.save(value, for: options.account ?? "", attributes: attributes)
    }

    /// Where the item of this name is, or where a new one goes.
    func location(of options: ItemOptions, in items: any ItemStore) throws(KeychainError) -> SecretStore {
        let stores = options.stores(in: items, accessGroups: .unrestricted)
        for store in stores.dropLast() {
            if try store.contains(for: options.account ?? "") { return store }
        }
        return stores[stores.count - 1]
    }

    /// The items of all classes. It is not an error if there are none.
    func foundItems(_ filter: ItemFilter) throws(KeychainError) -> FoundItems {
        try catalog.foundItems(ItemClass.allCases, matching: filter)
    }

    /// The first of the filters that finds anything, and what it finds. That may be damaged items alone, since one of
    /// them may be the requested item.
    func firstFound(_ filters: [ItemFilter]) throws(KeychainError) -> (filter: ItemFilter, found: FoundItems) {
        var first = (filter: filters[0], found: try foundItems(filters[0]))
        for filter in filters.dropFirst() where first.found.items.isEmpty && first.found.failure == nil {
            first = (filter, try foundItems(filter))
        }
        return first
    }

    /// The items of all classes that match, without those that cannot be opened.
    func items(_ filter: ItemFilter) throws(KeychainError) -> [KeychainItem] {
        try catalog.items(matching: filter)
    }

    /// The items that match the first of the filters which finds any.
    func items(_ filters: [ItemFilter]) throws(KeychainError) -> [KeychainItem] {
        let found = try firstFound(filters).found
        if let failure = found.failure { throw failure }
        return found.items
    }

    /// The item that the options select.
    ///
    /// - Throws: `itemNotFound`, or `duplicateItem` if there are several.
    func onlyItem(_ options: ItemOptions, label: String?) throws(KeychainError) -> KeychainItem {
        let found = options.preferred(try items(options.filters(label: label))) { $0 }
        guard let item = found.first else { throw .noItem }
        guard found.count == 1 else {
            throw KeychainError(
                .duplicateItem,
                "\(found.count) items match, but exactly one must. To see which: keychainctl list, with the same options. "
                    + "Then add --account, --access-group, --protocol, --port, --path, --security-domain, --label or "
                    + "--no-synchronizable.")
        }
        return item
    }

    /// - Throws: `typeMismatch` if the item has no value, which is not the same as an empty one.
    func value(of item: KeychainItem) throws(KeychainError) -> Data {
        guard let value = try catalog.value(of: item) else { throw .noItem }
        item.warnIfExpired()
        return value
    }

    /// Runs a read, and warns if the vault differs from its last known state: the read items may be old, and missing
    /// items may have been removed. Does not check a busy vault, because this would wait as long again.
    func reading<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            let result = try body()
            warnOfDifferences()
            return result
        } catch {
            if error.reason != .busy && error.reason != .timedOut { warnOfDifferences() }
            throw error
        }
    }

    private func warnOfDifferences() {
        do throws(KeychainError) {
            let findings = try vault.headFindings()
            guard !findings.isEmpty else { return }
            Output.complain(
                "Warning: the vault '\(vault.location.folder)' differs from its last known state: \(findings.sentence). "
                    + "See: keychainctl accept --help")
        } catch {
            // The read itself reports the same error.
        }
    }

    func delete(_ item: KeychainItem, confirmed limit: Duration? = nil) throws(KeychainError) {
        var catalog = KeychainCatalog(store: store(confirmed: limit), accessGroups: .unrestricted)
        catalog.context = context
        guard try catalog.remove(item) else { throw .noItem }
    }

    /// The store of the command, or one whose changes all machines of the ring agree on. That one keeps no versions: they are not shared.
    private func store(confirmed limit: Duration?) -> any ItemStore {
        guard let limit else { return store }
        return KeychainSync(RingMember.ofTool(vault)).confirming(within: limit)
    }

    /// Removes what `list` shows for the same filters. A single filter is not searched before: its items may be locked.
    func deleteAll(_ filters: [ItemFilter]) throws(KeychainError) {
        let filter = filters.count == 1 ? filters[0] : try firstFound(filters).filter
        guard try catalog.removeAll(matching: filter) > 0 else { throw .noItem }
    }
}

extension KeychainError {
    /// What the user of a command can do, who has no authentication context to give.
    fileprivate static let noWayToAsk = KeychainError(
        .interactionNotAllowed,
        "The item requires authentication, and there is no way to ask for it here. Run the command on a terminal. Without "
            + "one, set KEYCHAIN_AUTHENTICATOR=pinentry, or KEYCHAIN_AUTHENTICATOR=askpass and KEYCHAIN_ASKPASS to the full "
            + "path of a program.")
    fileprivate static let noItem = KeychainError(.itemNotFound, "No item matches.")
}
