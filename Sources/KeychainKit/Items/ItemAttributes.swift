// SPDX-License-Identifier: Apache-2.0
// What can be written on an item for people and programs, beside its name and its value.

public import Foundation
import KeychainEngine

/// What an item carries besides its name and its value. `nil`: nothing; in a change: leave it as it is.
///
/// ```swift
/// try store.save("s3cret", for: "alice", ItemAttributes(label: "Example account"))
/// ```
public struct ItemAttributes: Hashable, Sendable {
    /// A name for people (`kSecAttrLabel`).
    public var label: String?
    /// For people (`kSecAttrComment`).
    public var comment: String?
    /// What kind of item it is, for people (`kSecAttrDescription`).
    public var itemDescription: String?
    /// A number that programs agree on, commonly four characters (`kSecAttrType`).
    public var type: UInt32?
    /// A number that stands for the program that made the item, commonly four characters (`kSecAttrCreator`).
    public var creator: UInt32?
    /// Bytes of the program's own (`kSecAttrGeneric`); for services only.
    public var generic: Data?
    /// Whether programs that list items should leave it out (`kSecAttrIsInvisible`).
    public var isInvisible: Bool?
    /// Whether it says that there is no password, so that none is asked for (`kSecAttrIsNegative`).
    public var isNegative: Bool?

    public init(
        label: String? = nil, comment: String? = nil, itemDescription: String? = nil, type: UInt32? = nil,
        creator: UInt32? = nil, generic: Data? = nil, isInvisible: Bool? = nil, isNegative: Bool? = nil
    ) {
        (self.label, self.comment, self.itemDescription) = (label, comment, itemDescription)
        (self.type, self.creator, self.generic) = (type, creator, generic)
        (self.isInvisible, self.isNegative) = (isInvisible, isNegative)
    }

    /// Only what is given.
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
