// SPDX-License-Identifier: Apache-2.0
// Attributes of an item besides its name and its value.

public import Foundation
import KeychainEngine

/// Attributes of an item besides its name and its value. `nil` means none; in a change it means "keep the current
/// value".
///
/// ```swift
/// try store.save("s3cret", for: "alice", attributes: ItemAttributes(label: "Example account"))
/// ```
public struct ItemAttributes: Hashable, Sendable {
    /// A display name (`kSecAttrLabel`).
    public var label: String?
    /// A comment for the user (`kSecAttrComment`).
    public var comment: String?
    /// The kind of item, as text for the user (`kSecAttrDescription`).
    public var itemDescription: String?
    /// A number that programs agree on, commonly four characters (`kSecAttrType`).
    public var type: UInt32?
    /// A number that stands for the program that made the item, commonly four characters (`kSecAttrCreator`).
    public var creator: UInt32?
    /// Arbitrary data of the program (`kSecAttrGeneric`); only for generic passwords.
    public var generic: Data?
    /// Whether programs that list items should leave it out (`kSecAttrIsInvisible`).
    public var isInvisible: Bool?
    /// Whether the item records that there is no password, so that programs do not ask for one (`kSecAttrIsNegative`).
    public var isNegative: Bool?

    public init(
        label: String? = nil, comment: String? = nil, itemDescription: String? = nil, type: UInt32? = nil,
        creator: UInt32? = nil, generic: Data? = nil, isInvisible: Bool? = nil, isNegative: Bool? = nil
    ) {
        (self.label, self.comment, self.itemDescription) = (label, comment, itemDescription)
        (self.type, self.creator, self.generic) = (type, creator, generic)
        (self.isInvisible, self.isNegative) = (isInvisible, isNegative)
    }

    /// The attributes that are not `nil`.
    var given: Attributes {
        var given = Attributes()
        given[.label] = label.map { .string($0) }
        given[.comment] = comment.map { .string($0) }
        given[.itemDescription] = itemDescription.map { .string($0) }
        given[.type] = type.map { .number(Int64($0)) }
        given[.creator] = creator.map { .number(Int64($0)) }
        given[.generic] = generic.map { .data($0) }
        given[.isInvisible] = isInvisible.map { .bool($0) }
        given[.isNegative] = isNegative.map { .bool($0) }
        return given
    }
}
