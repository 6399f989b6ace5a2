// SPDX-License-Identifier: Apache-2.0
// What an item of a file must be before it is stored, since the file may be written by anyone.

import Foundation
import KeychainEngine
import KeychainKit
import SecretMemory

extension Item {
    /// Attributes that no item has in its list: the class of protection is a part of its own.
    private static let notStored: [Attribute] = [.accessible, .tombstone, .multiUser]

    /// The item with the attributes that every stored item has.
    ///
    /// - Throws: `corrupt` for an item that no vault can hold.
    func readyToStore() throws(KeychainError) -> Item {
        var item = self
        let schema = itemClass.schema
        for (attribute, value) in attributes {
            guard !Self.notStored.contains(attribute), schema[attribute]?.kind.holds(value) ?? true else {
                throw Self.refused("its attribute '\(attribute)' is not one that an item of its class has.")
            }
        }
        for rule in schema.primaryKey where item.attributes[rule.attribute] == nil {
            item.attributes[rule.attribute] = rule.defaultValue
        }
        item.attributes[.tombstone] = nil
        item.attributes[.multiUser] = nil
        try item.checkGroup()
        try item.checkProtection()
        try item.checkDates()
        if item.attributes[.digest] == nil { item.attributes[.digest] = .data(Self.newDigest()) }
        return item
    }

    private func checkGroup() throws(KeychainError) {
        guard case .string(let group) = attributes[.accessGroup] else {
            throw Self.refused("it has no access group.")
        }
        guard group != AccessGroups.internalGroup, group != AccessGroups.tokenGroup else {
            throw Self.refused("its access group belongs to the keychain itself.")
        }
        for attribute in [Attribute.tokenID, .sharingGroup] {
            guard attributes[attribute] ?? .string("") == .string("") else {
                throw Self.refused("it is an item of a token or of a sharing group.")
            }
        }
    }

    private func checkProtection() throws(KeychainError) {
        guard [.number(0), .number(1)].contains(attributes[.synchronizable] ?? .number(0)) else {
            throw Self.refused("it is neither synchronizable nor not.")
        }
        guard let flags = accessControl.flags else { return }
        guard attributes[.synchronizable] ?? .number(0) == .number(0) else {
            throw Self.refused("it is synchronizable and has access control, which excludes each other.")
        }
        guard flags.isDisjoint(with: [.biometryAny, .biometryCurrentSet, .companion]) else {
            throw Self.refused("it needs biometry or a companion device, which there is none of here.")
        }
    }

    private func checkDates() throws(KeychainError) {
        for attribute in [Attribute.creationDate, .modificationDate] where attributes[attribute] == nil {
            throw Self.refused("it has no date of creation or modification.")
        }
    }

    private static func newDigest() -> Data {
        var digest = Data(count: 20)
        digest.withUnsafeMutableBytes(fillWithRandomBytes)
        return digest
    }

    private static func refused(_ why: String) -> KeychainError {
        KeychainError(.corrupt, why + " Nothing was changed.")
    }

    /// Whether both are the same for everybody who uses them. The digest only marks a write.
    func isSame(as other: Item) -> Bool {
        var (own, others) = (attributes, other.attributes)
        own[.digest] = nil
        others[.digest] = nil
        return itemClass == other.itemClass && accessControl == other.accessControl && value == other.value
            && own.isIdentical(to: others)
    }
}

extension Attributes {
    /// Compares text byte by byte: `==` would not tell a composed "é" from a decomposed one.
    fileprivate func isIdentical(to other: Attributes) -> Bool {
        elementsEqual(other) { own, other in
            guard own.attribute == other.attribute else { return false }
            if case (.string(let first), .string(let second)) = (own.value, other.value) {
                return first.utf8.elementsEqual(second.utf8)
            }
            return own.value == other.value
        }
    }
}

extension AttributeKind {
    /// Whether an item can have this value as it is.
    fileprivate func holds(_ value: AttributeValue) -> Bool {
        switch (self, value) {
        case (.blob, .string), (.blob, .data), (.blob, .number), (.data, .data), (.string, .string): true
        case (.number, .number): true
        // Text that is not the usual spelling of a number stays text.
        case (.number, .string(let text)): Int32(text).map { String($0) != text } ?? true
        case (.date, .date(let seconds)): seconds.isFinite
        case (.digest, .data(let bytes)): bytes.count == 20
        case (.uuid, .data(let bytes)): [0, 16].contains(bytes.count)
        default: false
        }
    }
}
