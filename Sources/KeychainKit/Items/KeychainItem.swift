// SPDX-License-Identifier: Apache-2.0
// What is known of an item without its value.

public import Foundation
package import KeychainEngine

/// An item as it was found: its name and attributes, never its value.
///
/// ```swift
/// let oldest = try store.items().min { $0.modified < $1.modified }?.account
/// ```
///
/// Names are no secrets to whoever prints them: mind what you log.
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

    /// `nil` where it is not text; so are all names. For people there is ``displayText(of:)``.
    public var account: String? { text(.account) }
    /// Of a generic password.
    public var service: String? { text(.service) }
    /// Of an internet password, as are the next five.
    public var server: String? { text(.server) }
    public var `protocol`: InternetProtocol? {
        // Four digits are kept as a number; zero stands for none.
        printed(.protocol).flatMap { $0 == "0" ? nil : InternetProtocol(rawValue: $0) }
    }
    /// Zero stands for none; text that is no number in print, such as "080", counts as the number that it reads as.
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
    public var created: Date { date(.creationDate) }
    public var modified: Date { date(.modificationDate) }
    public var accessibility: Accessibility { control.accessibility }
    /// `nil`: nothing is asked of the user.
    public var accessControl: AccessControl.Flags? { control.flags }
    /// Whether the user or a password is asked for before the item opens. In a list such an item has nothing but its name, its class
    /// and its protection, unless the context has proven what it asks for.
    public var requiresAuthentication: Bool { !control.needs.isEmpty }

    /// The name that `SecItem` calls know the item by (`kSecValuePersistentRef`).
    public var persistentReference: Data { reference.bytes }

    /// Everything that ``ItemAttributes`` holds, as the item has it.
    public var itemAttributes: ItemAttributes {
        ItemAttributes(
            label: label, comment: comment, itemDescription: itemDescription, type: type, creator: creator,
            generic: generic, isInvisible: number(.isInvisible).map { $0 != 0 },
            isNegative: number(.isNegative).map { $0 != 0 })
    }

    package var reference: PersistentReference { PersistentReference(itemClass: itemClass, id: id) }

    /// New with every change of the item.
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

    /// Text, or a number in digits.
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

    private func date(_ attribute: Attribute) -> Date {
        guard case .date(let seconds) = attributes[attribute] else { return .distantPast }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }
}

extension KeychainItem {
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
