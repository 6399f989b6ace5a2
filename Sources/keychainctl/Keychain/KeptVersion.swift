// SPDX-License-Identifier: Apache-2.0
// A version of an item that the vault keeps, and its form as an item of the keychain's own group.

import Foundation
import KeychainEngine
import KeychainKit

/// The state of an item before a change. See "Kept versions" in Docs/FORMAT.md.
struct KeptVersion {
    /// What the change did, besides changing parts of the item, which are then named.
    enum Deed {
        static let deleted = "deleted"
        static let moved = "moved"
        /// There was no item before: the version has only a name.
        static let added = "added"
        /// Besides `moved`: while the history was off. The version has only a name, and leads from it to the item.
        static let unkept = "unkept"

        static let (addition, bareLink) = ([added], [moved, unkept])
    }

    /// Counts the changes of one name.
    let number: Int
    let date: Date
    /// The command that made the change.
    let command: String
    /// The identity of the item, which it had until it was deleted or moved.
    let original: UUID
    /// A word of ``Deed``, or the changed parts.
    let deeds: [String]
    /// The bytes of its value, which are known without reading it.
    let size: Int
    let name: KeptName
    /// The version itself. Without a proof of the user, one of an item that requires it has only its name.
    let stored: StoredItem

    var isAbsence: Bool { deeds == Deed.addition }
    /// Whether it only leads to another name. It cannot be undone.
    var isBareLink: Bool { deeds == Deed.bareLink }
    /// Whether it has only a name, and no value to protect.
    var isEmpty: Bool { isAbsence || isBareLink }
    /// Whether there was no item of the name after the change.
    var leavesNothing: Bool { deeds == [Deed.deleted] || isMove }

    var isMove: Bool { deeds == [Deed.moved] }

    /// The identity of the item under its new name, if the change was a move; `nil` without a proof for one that requires the user.
    var movedTo: UUID? { isMove ? leadsTo : nil }

    /// The same, also if the item was moved later and the move itself was not kept.
    var leadsTo: UUID? { identity(.generic) }

    /// Whether it leads to another name. One that requires the user may lead to one as well.
    var isLink: Bool { leadsTo != nil || isMove }
    /// The same, or of one that requires the user, which may not show it.
    var mayLead: Bool { isLink || !stored.item.accessControl.needs.isEmpty }

    /// If the change was an undo, the identity of the item that it has brought back.
    var broughtBack: UUID? { identity(Self.origin) }

    private func identity(_ attribute: Attribute) -> UUID? {
        guard case .data(let bytes) = stored.item.attributes[attribute], bytes.count == 16 else { return nil }
        return UUID(bytes: bytes)
    }

    /// The item as it was, with its value if that was read; `nil` if the version is damaged.
    var item: Item? {
        guard case .data(let line) = stored.item.attributes[Self.line], var item = ItemLine.item(start: line) else {
            return nil
        }
        item.value = stored.item.value
        return item
    }
}

// MARK: - As an item

extension KeptVersion {
    /// The attribute with everything of the item but its value.
    private static let line = Attribute(code: 0x6B65_7074)  // kept
    private static let origin = Attribute(code: 0x6F72_6967)  // orig

    /// - Returns: `nil` for an item that is no version.
    init?(_ stored: StoredItem) {
        guard case .string(let service) = stored.item.attributes[.service], let name = KeptName(service: service),
            case .string(let text) = stored.item.attributes[.account]
        else { return nil }
        let words = text.split(separator: " ").map(String.init)
        guard (5...6).contains(words.count), let number = Int(words[0]), let milliseconds = Int64(words[1]),
            let original = UUID(uuidString: words[3]), let size = words.count > 5 ? UInt32(words[5]) : 0
        else { return nil }
        self.init(
            number: number, date: Date(timeIntervalSince1970: Double(milliseconds) / 1000), command: words[2],
            original: original, deeds: words[4].split(separator: ",").map(String.init), size: Int(size),
            name: name, stored: stored)
    }

    /// The number, time, command and size are in the account: this part of an item is known without a proof of the user.
    ///
    /// - Parameter protection: That of the version, at least that of the item.
    static func item(
        of old: StoredItem, _ number: Int, _ date: Date, _ command: String, _ deeds: [String], movedTo: UUID?,
        broughtBack: UUID?, _ protection: AccessControl
    ) -> Item {
        let milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded())
        let isEmpty = [Deed.addition, Deed.bareLink].contains(deeds)
        let size = isEmpty ? 0 : old.item.value?.count ?? 0
        var attributes = InternalItem.attributes(
            service: KeptName(old.item).service,
            account: "\(number) \(milliseconds) \(command) \(old.id) \(deeds.joined(separator: ",")) \(size)", at: date)
        attributes[.label] = .string(dayLabel(day(of: date)))
        if let movedTo { attributes[.generic] = .data(movedTo.data) }
        if let broughtBack { attributes[origin] = .data(broughtBack.data) }
        if !isEmpty { attributes[line] = .data(ItemLine.start(of: old.item)) }
        return Item(
            itemClass: .genericPassword, attributes: attributes, accessControl: protection,
            value: isEmpty ? nil : old.item.value)
    }

    /// Versions of one day have one label, so that those that are too old are found by an index.
    static func dayLabel(_ day: Int) -> String { "swift-keychain.history.day:\(day)" }

    /// 1 January 2026: nothing was kept before.
    static let firstDay = 20_454

    /// Counted from 1970, in UTC.
    static func day(of date: Date) -> Int { Int((date.timeIntervalSince1970 / 86400).rounded(.down)) }
}

/// What the tool itself stores in the keychain's own group.
enum InternalItem {
    static func attributes(service: String, account: String, at date: Date) -> Attributes {
        var attributes = Attributes()
        attributes[.service] = .string(service)
        attributes[.account] = .string(account)
        attributes[.accessGroup] = .string(AccessGroups.internalGroup)
        attributes[.synchronizable] = .number(0)
        let date = AttributeValue.date(date.timeIntervalSinceReferenceDate)
        (attributes[.creationDate], attributes[.modificationDate]) = (date, date)
        return attributes
    }

    static func selection(_ conditions: Attributes) -> Selection {
        var conditions = conditions
        conditions[.synchronizable] = .number(0)
        var selection = Selection(
            itemClass: .genericPassword, conditions: conditions, groups: [AccessGroups.internalGroup])
        selection.namesConstrained = true
        return selection
    }

    static func selection(_ id: UUID) -> Selection {
        Selection(
            itemClass: nil, id: PersistentReference(itemClass: .genericPassword, id: id),
            groups: [AccessGroups.internalGroup])
    }
}

extension UUID {
    var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    fileprivate init(bytes: Data) {
        var raw: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &raw) { _ = bytes.copyBytes(to: $0) }
        self.init(uuid: raw)
    }
}
