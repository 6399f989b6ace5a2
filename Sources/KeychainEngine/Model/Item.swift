// SPDX-License-Identifier: Apache-2.0
// An item as it is passed between the engine and a store.

public import Foundation

/// One secret with its attributes, every value already converted to its attribute's kind.
public struct Item: Equatable, Sendable {
    public var itemClass: ItemClass
    /// All stored attributes except the accessibility class, which is in `accessControl`.
    public var attributes: Attributes
    public var accessControl: AccessControl
    /// The secret. `nil` if the item has none (which is different from an empty one), or if it was not requested.
    public var value: Data?

    public init(itemClass: ItemClass, attributes: Attributes, accessControl: AccessControl, value: Data?) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessControl = accessControl
        self.value = value
    }

    /// The value of an attribute, including attributes that are the same for every item of a single user's keychain.
    public subscript(attribute: Attribute) -> AttributeValue? {
        switch attribute {
        case .accessible: .string(accessControl.accessibility.rawValue)
        case .tombstone: .number(0)
        case .multiUser: .data(Data())
        default: attributes[attribute]
        }
    }

    /// The access group; empty if a store has lost it.
    public var accessGroup: String {
        if case .string(let group) = attributes[.accessGroup] { group } else { "" }
    }

    /// The bytes of one part of the primary key. Absent and empty are equal, as in Apple's tables.
    public func keyBytes(_ rule: Schema.Rule) -> [UInt8] {
        self[rule.attribute]?.lookupBytes(as: rule.kind) ?? []
    }
}

/// An item in a store, with the identity that the store assigned.
public struct StoredItem: Equatable, Sendable {
    /// Random; created when the item is inserted and kept by every update. Persistent references refer to it.
    public let id: UUID
    /// Changes with every update. In the vault and in memory it is 1 after insertion and increases by one.
    public let version: UInt64
    public var item: Item
    /// What the store has found, if it can open that again (``RepeatingStore``). It is not compared.
    package var found: (any AnyObject & Sendable)?

    public init(id: UUID, version: UInt64, item: Item) {
        self.id = id
        self.version = version
        self.item = item
    }

    public static func == (left: StoredItem, right: StoredItem) -> Bool {
        left.id == right.id && left.version == right.version && left.item == right.item
    }
}

/// A reference to an item that stays valid over updates: four characters of class and sixteen bytes of identity.
public struct PersistentReference: Hashable, Sendable {
    /// The class of the item; for an identity that of its certificate.
    public let itemClass: ItemClass
    /// `nil` for the 12-byte form, which refers to a row of another system's keychain and so matches nothing here.
    public let id: UUID?
    /// Whether it refers to the identities with this certificate. Stores never get such a reference.
    public let isOfIdentity: Bool

    public init(itemClass: ItemClass, id: UUID) {
        self.init(itemClass, id, isOfIdentity: false)
    }

    /// A reference to the identities with a certificate.
    public init(identityWithCertificate id: UUID) {
        self.init(.certificate, id, isOfIdentity: true)
    }

    private init(_ itemClass: ItemClass, _ id: UUID?, isOfIdentity: Bool) {
        (self.itemClass, self.id, self.isOfIdentity) = (itemClass, id, isOfIdentity)
    }

    /// The reference to the item alone: to the certificate of an identity.
    var ofItem: PersistentReference { PersistentReference(itemClass, id, isOfIdentity: false) }

    /// Reads the 20-byte form, or the older 12-byte form of other systems.
    ///
    /// - Throws: `noSuchClass` for AppleShare, `unsupported` for token items, otherwise `invalidParameter`.
    public init(_ bytes: Data) throws(KeychainError) {
        let className = String(decoding: bytes.prefix(4), as: UTF8.self)
        if className == "tkpr" { throw KeychainError(.unsupported, "References to token items are not supported.") }
        guard [12, 20].contains(bytes.count) else {
            throw KeychainError(.invalidParameter, "A persistent reference has 20 bytes.")
        }
        isOfIdentity = className == Self.identityName
        itemClass = isOfIdentity ? .certificate : try Self.itemClass(named: className)
        id = bytes.count == 20 ? Self.uuid(bytes.dropFirst(4)) : nil
    }

    /// The 20 bytes that `kSecReturnPersistentRef` returns; for a 12-byte reference only its class.
    public var bytes: Data {
        Data((isOfIdentity ? Self.identityName : itemClass.rawValue).utf8)
            + (id.map { withUnsafeBytes(of: $0.uuid) { Data($0) } } ?? Data())
    }

    private static let identityName = "idnt"

    private static func itemClass(named name: String) throws(KeychainError) -> ItemClass {
        if let known = ItemClass(rawValue: name) { return known }
        switch name {
        case "apls": throw KeychainError(.noSuchClass, "AppleShare passwords are not a class of this keychain.")
        default: throw KeychainError(.invalidParameter, "These bytes are not a persistent reference.")
        }
    }

    private static func uuid(_ bytes: Data) -> UUID {
        var raw: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &raw) { _ = bytes.copyBytes(to: $0) }
        return UUID(uuid: raw)
    }
}
