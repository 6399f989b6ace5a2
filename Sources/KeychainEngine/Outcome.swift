// SPDX-License-Identifier: Apache-2.0
// What comes back: the shapes that Apple's result parameter takes.

public import Foundation

/// The result of a request, in the shape that the request asked for.
public enum Outcome: Equatable, Sendable {
    /// Success, and nothing to return: none was asked for, or the item has no value.
    case nothing
    case one(Result)
    case many([Result])

    public enum Result: Equatable, Sendable {
        case value(Data)
        case persistentReference(PersistentReference)
        case record(Record)
    }

    /// Several parts of one item, for a result dictionary.
    public struct Record: Equatable, Sendable {
        /// Told only when an object reference was asked for, as on Apple's platforms.
        public var itemClass: ItemClass?
        public var attributes: Attributes
        public var accessControl: AccessControl?
        public var value: Data?
        public var persistentReference: PersistentReference?
    }
}

/// Shapes stored items into an ``Outcome``: one table for adding, one for searching.
struct OutcomeShape {
    let returns: Query.Returns

    /// Adding returns an empty value where searching returns nothing, and fewer attributes.
    func added(_ stored: StoredItem, givenAccessControl: AccessControl?) -> Outcome {
        switch returns {
        case [], .reference: return .nothing
        case .value: return .one(.value(stored.item.value ?? Data()))
        case .persistentReference: return .one(.persistentReference(stored.reference))
        case [.value, .persistentReference]: return .one(.record(record(of: stored, attributes: Attributes())))
        default:
            var record = record(of: stored, attributes: stored.item.visibleAttributes)
            record.accessControl = givenAccessControl
            return .one(.record(record))
        }
    }

    func found(_ items: [StoredItem], limit: Query.Limit) -> Outcome {
        let results = items.compactMap(result)
        guard limit == .one else { return .many(results) }
        return results.first.map { .one($0) } ?? .nothing
    }

    /// `nil`: nothing to show for this item.
    private func result(_ stored: StoredItem) -> Outcome.Result? {
        switch returns {
        case [], .reference: return nil
        case .value: return stored.item.value.map { .value($0) }
        case .persistentReference: return .persistentReference(stored.reference)
        default:
            var attributes = stored.item.visibleAttributes
            attributes[.tombstone] = stored.item[.tombstone]
            attributes[.multiUser] = stored.item[.multiUser]
            var record = record(of: stored, attributes: attributes)
            record.accessControl = stored.item.accessControl
            return .record(record)
        }
    }

    private func record(of stored: StoredItem, attributes: Attributes) -> Outcome.Record {
        Outcome.Record(
            itemClass: returns.contains(.reference) ? stored.item.itemClass : nil,
            attributes: attributes,
            value: returns.contains(.value) ? stored.item.value : nil,
            persistentReference: returns.contains(.persistentReference) ? stored.reference : nil)
    }
}

extension StoredItem {
    public var reference: PersistentReference { PersistentReference(itemClass: item.itemClass, id: id) }
}

extension Item {
    /// The attributes that results show: what was set or defaulted, and the accessibility class.
    fileprivate var visibleAttributes: Attributes {
        var visible = attributes
        visible[.accessible] = self[.accessible]
        visible[.syncUUID] = nil
        return visible
    }
}
