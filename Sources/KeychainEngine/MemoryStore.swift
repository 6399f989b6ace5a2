// SPDX-License-Identifier: Apache-2.0
// A store in memory, with the same rules as the vault: for tests and previews.

import Foundation
public import SecretMemory
import Synchronization

/// An ``ItemStore`` that keeps items in memory, unencrypted, until it goes away. It can be locked, and knows one passphrase.
///
/// Does not protect against anything: it is for tests and previews.
///
/// ```swift
/// let engine = Engine(store: MemoryStore())
/// ```
public final class MemoryStore: ItemStore, UserVerifier {
    fileprivate struct Content {
        var items: [PrimaryKey: StoredItem] = [:]
        var lockState = LockState.unlocked
        var passphrase: Data?
        /// What each item was protected with that has an application password.
        var applicationKeys: [UUID: Data] = [:]
    }

    private let content: Mutex<Content>
    public let rateLimit = RateLimit()

    /// - Parameter passphrase: What proves the user, and lets items be stored that ask for it; `nil`: there is none.
    public init(passphrase: String? = nil) {
        content = Mutex(Content(passphrase: passphrase.map { Data($0.utf8) }))
    }

    /// How far the store is unlocked.
    public var lockState: LockState {
        get { content.withLock { $0.lockState } }
        set { content.withLock { $0.lockState = newValue } }
    }

    /// Sets another passphrase; taking it away takes the items with it that exist only while there is one.
    public func setPassphrase(_ passphrase: String?) {
        content.withLock { content in
            content.passphrase = passphrase.map { Data($0.utf8) }
            guard passphrase == nil else { return }
            content.items = content.items.filter {
                $0.value.item.accessControl.accessibility != .whenPasscodeSetThisDeviceOnly
            }
        }
    }

    // MARK: - Items

    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainFailure) -> SelectedItems {
        try authorization.satisfying(self) { (proofs) throws(KeychainFailure) in
            try content.withLock { (content) throws(KeychainFailure) in
                let found = Array(content.items.values.lazy.filter(selection.matches).prefix(max(0, limit ?? .max)))
                if let obstacle = try content.obstacle(found, proofs) { return obstacle.attempt() }
                return .done(SelectedItems(items: includingValues ? found : found.map(\.withoutValue)))
            }
        }
    }

    public func insert(_ item: Item, _ authorization: Authorization) throws(KeychainFailure) -> StoredItem {
        try authorization.satisfying(self) { (proofs) throws(KeychainFailure) in
            try content.withLock { (content) throws(KeychainFailure) in
                let missing = proofs.missing(item.accessControl.needs.intersection(.applicationPassword))
                try content.checkStorable(item)
                guard missing.isEmpty else { return .needsNew(missing) }
                let stored = StoredItem(id: UUID(), version: 1, item: item)
                try Self.place(stored, in: &content.items)
                content.protect(stored, proofs)
                return .done(stored)
            }
        }
    }

    public func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainFailure) -> Item
    ) throws(KeychainFailure) -> SelectedItems {
        try authorization.satisfying(self) { (proofs) throws(KeychainFailure) in
            try content.withLock { (content) throws(KeychainFailure) in
                let found = content.items.values.filter(selection.matches)
                if let obstacle = try content.obstacle(found, proofs) { return obstacle.attempt() }
                var changed = content
                for stored in found { changed.items[PrimaryKey(stored.item)] = nil }
                for stored in found {
                    let item = try change(stored)
                    try content.checkStorable(item)
                    let missing = proofs.missing(item.accessControl.needs.intersection(.applicationPassword))
                    guard missing.isEmpty else { return .needsNew(missing) }
                    let next = StoredItem(id: stored.id, version: stored.version + 1, item: item)
                    try Self.place(next, in: &changed.items)
                    changed.protect(next, proofs)
                }
                content = changed
                return .done(SelectedItems(items: found))
            }
        }
    }

    public func delete(_ selection: Selection) throws(KeychainFailure) -> Int {
        content.withLock { content in
            let found = content.items.filter { selection.matches($0.value) }
            for key in found.keys { content.items[key] = nil }
            return found.count
        }
    }

    // MARK: - The user

    public var userVerifier: (any UserVerifier)? { self }

    public func isPasscodeSet() -> Bool { content.withLock { $0.passphrase != nil } }

    /// The passphrase itself stands for the key that a vault would unwrap with it.
    public func userKey(provenBy secret: SecretBytes) throws(KeychainFailure) -> SecretBytes {
        guard let passphrase = content.withLock({ $0.passphrase }) else { throw .passcodeNotSet }
        guard secret.data == passphrase else {
            throw KeychainFailure(.authenticationFailed, "The passphrase is wrong.")
        }
        return secret
    }

    public func applicationKey(from password: SecretBytes) -> SecretBytes { password }

    private static func place(
        _ stored: StoredItem, in items: inout [PrimaryKey: StoredItem]
    ) throws(KeychainFailure) {
        let key = PrimaryKey(stored.item)
        guard items[key] == nil else {
            throw KeychainFailure(.duplicateItem, "An item with the same primary key exists. Update it instead.")
        }
        items[key] = stored
    }
}

extension MemoryStore.Content {
    /// What keeps items from being read or changed: more proofs, or proofs that do not fit.
    fileprivate func obstacle(_ items: [StoredItem], _ proofs: Proofs) throws(KeychainFailure) -> Obstacle? {
        var (missing, refused): (Proofs.Needs, Proofs.Needs) = ([], [])
        for stored in items {
            let accessControl = stored.item.accessControl
            guard accessControl.accessibility.isOpen(in: lockState) else { throw .locked }
            missing.formUnion(proofs.missing(accessControl.needs))
            guard let expected = applicationKeys[stored.id], let given = proofs.applicationKey else { continue }
            if given.data != expected { refused.insert(.applicationPassword) }
        }
        if !missing.isEmpty { return .needs(missing) }
        return refused.isEmpty ? nil : .refused(refused)
    }

    fileprivate mutating func protect(_ stored: StoredItem, _ proofs: Proofs) {
        let isProtected = stored.item.accessControl.needs.contains(.applicationPassword)
        applicationKeys[stored.id] = isProtected ? proofs.applicationKey?.data : nil
    }

    fileprivate func checkStorable(_ item: Item) throws(KeychainFailure) {
        let accessControl = item.accessControl
        guard accessControl.accessibility.isOpen(in: lockState) else { throw .locked }
        let needsPasscode =
            accessControl.accessibility == .whenPasscodeSetThisDeviceOnly || accessControl.needs.contains(.user)
        guard passphrase != nil || !needsPasscode else { throw .passcodeNotSet }
    }
}

private enum Obstacle {
    case needs(Proofs.Needs)
    case refused(Proofs.Needs)

    func attempt<Result>() -> Attempt<Result> {
        switch self {
        case .needs(let needs): .needs(needs)
        case .refused(let refused): .refused(refused)
        }
    }
}

extension SecretBytes {
    fileprivate var data: Data { withUnsafeBytes { Data($0) } }
}

extension KeychainFailure {
    /// What needs a passcode has no key while no passphrase is set.
    public static let passcodeNotSet = KeychainFailure(
        .unavailable,
        "No passphrase is set, so nothing can be stored that needs one. Set one (keychainctl protect add passphrase), or "
            + "use another accessibility class and no access control flags.")
}

/// The bytes that are unique for each item of a store.
struct PrimaryKey: Hashable {
    private let itemClass: ItemClass
    private let parts: [[UInt8]]

    init(_ item: Item) {
        let schema = item.itemClass.schema
        itemClass = item.itemClass
        parts = schema.primaryKey.map { item.keyBytes($0) }
    }
}

extension StoredItem {
    var withoutValue: StoredItem {
        var copy = self
        copy.item.value = nil
        return copy
    }
}
