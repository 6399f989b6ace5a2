// SPDX-License-Identifier: Apache-2.0
// An item without its value.

public import Foundation
package import KeychainEngine

/// The name and the attributes of an item when it was found. It never contains the value.
///
/// ```swift
/// let unprotected = try store.items().filter { !$0.requiresAuthentication }.map(\.account)
/// ```
///
/// The names are printed in descriptions and logs: consider what you log.
public struct KeychainItem: Hashable, Sendable, Identifiable {
    /// Stays the same when the item is changed.
    public let id: UUID
    public let itemClass: ItemClass
    package let attributes: Attributes
    private let control: AccessControl

    package init(_ stored: StoredItem) {
        id = stored.id
        itemClass = stored.item.itemClass
        attributes = stored.item.attributes
        control = stored.item.accessControl
    }

    // MARK: - Name

    /// `nil` if it is not text, like all names here. Use ``displayText(of:)`` to display it.
    public var account: String? { text(.account) }
    /// For generic passwords.
    public var service: String? { text(.service) }
    /// For internet passwords, like the next five properties.
    public var server: String? { text(.server) }
    public var `protocol`: InternetProtocol? {
        // A protocol of four digits is stored as a number; zero means none.
        printed(.protocol).flatMap { $0 == "0" ? nil : InternetProtocol(rawValue: $0) }
    }
    /// Zero means none. Text that is not a canonical number, such as "080", counts as the number that it reads as.
    public var port: Int? { printed(.port).flatMap { Int($0) }.flatMap { $0 == 0 ? nil : $0 } }
    public var path: String? { notEmpty(.path) }
    public var securityDomain: String? { notEmpty(.securityDomain) }
    public var authenticationType: InternetAuthentication? {
        notEmpty(.authenticationType).map { InternetAuthentication(rawValue: $0) }
    }
    public var accessGroup: String { text(.accessGroup) ?? "" }
    public var synchronizable: Bool { number(.synchronizable) ?? 0 != 0 }

    // MARK: - The rest

    public var label: String? { text(.label) }
    public var comment: String? { text(.comment) }
    public var itemDescription: String? { text(.itemDescription) }
    public var type: UInt32? { number(.type).map { UInt32(truncatingIfNeeded: $0) } }
    public var creator: UInt32? { number(.creator).map { UInt32(truncatingIfNeeded: $0) } }
    public var generic: Data? { bytes(.generic) }
    public var isInvisible: Bool { number(.isInvisible) ?? 0 != 0 }
    public var isNegative: Bool { number(.isNegative) ?? 0 != 0 }
    /// `nil` for an item in a list that requires authentication: only its name is known. See ``requiresAuthentication``.
    public var created: Date? { date(.creationDate) }
    /// As ``created``.
    public var modified: Date? { date(.modificationDate) }
    public var accessibility: Accessibility { control.accessibility }
    /// `nil`: no authentication is required.
    public var accessControl: AccessControl.Flags? { control.flags }
    /// Whether the item requires authentication by the user or an application password. In a list, such an item has
    /// only its name, its class and its protection, unless the context already has the proof.
    public var requiresAuthentication: Bool { !control.needs.isEmpty }

    /// The persistent reference of `SecItem` calls (`kSecValuePersistentRef`).
    public var persistentReference: Data { reference.bytes }

    /// The attributes of ``ItemAttributes``, as the item has them.
    public var itemAttributes: ItemAttributes {
        ItemAttributes(
            label: label, comment: comment, itemDescription: itemDescription, type: type, creator: creator,
            generic: generic, isInvisible: number(.isInvisible).map { $0 != 0 },
            isNegative: number(.isNegative).map { $0 != 0 })
    }

    package var reference: PersistentReference { PersistentReference(itemClass: itemClass, id: id) }

    /// Changes with every change of the item.
    var digest: AttributeValue? { attributes[.digest] }

    // MARK: - Values

    private func text(_ attribute: Attribute) -> String? {
        switch attributes[attribute] {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        case .number, .date, .bool, .unsupported, nil: nil
        }
    }

    private func notEmpty(_ attribute: Attribute) -> String? {
        text(attribute).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The attribute as text; a number is given in digits.
    private func printed(_ attribute: Attribute) -> String? {
        number(attribute).map { String($0) } ?? text(attribute)
    }

    private func bytes(_ attribute: Attribute) -> Data? {
        switch attributes[attribute] {
        case .string(let text): Data(text.utf8)
        case .data(let bytes): bytes
        case .number, .date, .bool, .unsupported, nil: nil
        }
    }

    private func number(_ attribute: Attribute) -> Int64? {
        if case .number(let number) = attributes[attribute] { number } else { nil }
    }

    private func date(_ attribute: Attribute) -> Date? {
        guard case .date(let seconds) = attributes[attribute] else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }
}

extension KeychainItem {
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
