// SPDX-License-Identifier: Apache-2.0
// The items that the checks store: complete, as the engine passes them to a store.

import Foundation
import KeychainEngine

extension Trial {
    /// A generic password with everything that the engine would set, or an item of another class without names.
    ///
    /// - Parameter group: One of the two groups of the store.
    func item(
        _ account: String = "alice", _ itemClass: ItemClass = .genericPassword, service: String = "example.com",
        group: Int = 0, value: Data? = .sample, _ accessibility: Accessibility = .whenUnlocked
    ) -> Item {
        var attributes = Attributes()
        for rule in itemClass.schema.rules { attributes[rule.attribute] = rule.defaultValue }
        attributes[.accessGroup] = .string(subject.groups[group])
        if itemClass == .genericPassword {
            attributes[.service] = .string(service)
            attributes[.account] = .string(account)
        }
        let item = Item(
            itemClass: itemClass, attributes: attributes, accessControl: AccessControl(accessibility), value: value)
        return item.stamped
    }
}

extension Item {
    /// With dates and a new digest, as the engine sets them for each write.
    fileprivate var stamped: Item {
        var copy = self
        copy.attributes[.creationDate] = attributes[.creationDate] ?? .date(700_000_000)
        copy.attributes[.modificationDate] = .date(Date().timeIntervalSinceReferenceDate)
        var generator = SystemRandomNumberGenerator()
        copy.attributes[.digest] = .data(Data((0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) }))
        return copy
    }

    func with(_ attribute: Attribute, _ value: AttributeValue?) -> Item {
        var copy = self
        copy.attributes[attribute] = value
        return copy
    }

    func changed(_ body: (inout Item) -> Void) -> Item {
        var copy = self
        body(&copy)
        return copy.stamped
    }

    var account: String {
        if case .string(let text) = attributes[.account] { text } else { "" }
    }

    /// The attributes without those that a store may set itself.
    var content: Attributes {
        var content = attributes
        for attribute: Attribute in [.creationDate, .modificationDate, .digest] { content[attribute] = nil }
        return content
    }
}

extension Data {
    static let sample = Data("correct horse".utf8)
    static let other = Data("battery staple".utf8)
}

extension Selection {
    /// All generic passwords.
    static var all: Selection { Selection(itemClass: .genericPassword) }

    static func all(of itemClass: ItemClass) -> Selection { Selection(itemClass: itemClass) }

    static func account(_ name: String) -> Selection {
        Selection(itemClass: .genericPassword, conditions: [.account: .string(name)])
    }

    static func with(_ attribute: Attribute, _ value: AttributeValue) -> Selection {
        Selection(itemClass: .genericPassword, conditions: [attribute: value])
    }

    /// The complete primary key of a generic password, so that even a locked store can identify the item.
    static func exactly(_ item: Item) -> Selection {
        var selection = Selection(itemClass: item.itemClass, groups: [item.accessGroup])
        for attribute: Attribute in [.service, .account, .synchronizable] {
            selection.conditions[attribute] = item.attributes[attribute]
        }
        return selection
    }

    static func reference(_ stored: StoredItem) -> Selection {
        Selection(itemClass: nil, id: stored.reference)
    }
}
