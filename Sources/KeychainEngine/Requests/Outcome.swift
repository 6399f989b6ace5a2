// SPDX-License-Identifier: Apache-2.0
// Results, in the forms of Apple's result parameter.

public import Foundation

/// The result of a request, in the requested form.
public enum Outcome: Equatable, Sendable {
    /// Success without a result: none was requested, or the item has no value.
    case nothing
    case one(Result)
    case many([Result])

    public enum Result: Equatable, Sendable {
        case value(Data)
        case persistentReference(PersistentReference)
        /// A key or a certificate as an object. The caller makes it from the item; there is no result if that is not possible.
        case object(StoredItem)
        /// The same of an identity.
        indirect case identity(StoredIdentity)
        case record(Record)
    }

    /// Several parts of one item, for a result dictionary.
    public struct Record: Equatable, Sendable {
        /// Set only if an object reference was requested, as on Apple platforms.
        public var itemClass: ItemClass?
        public var attributes: Attributes {
            get { content.attributes }
            set { content = .attributes(newValue) }
        }
        public var accessControl: AccessControl?
        public var value: Data?
        public var persistentReference: PersistentReference?
        /// The item of which an object was requested, if its class has objects.
        public var object: StoredItem? {
            get { keptObject.value }
            set { keptObject = Kept(newValue) }
        }
        /// The identity of which an object was requested. Then there is no `itemClass`.
        public var identity: StoredIdentity? {
            get { keptIdentity.value }
            set { keptIdentity = Kept(newValue) }
        }

        private var content: RecordContent
        private var keptObject: Kept<StoredItem>
        private var keptIdentity: Kept<StoredIdentity>

        init(
            itemClass: ItemClass?, _ content: RecordContent, accessControl: AccessControl? = nil, value: Data?,
            persistentReference: PersistentReference?, object: StoredItem? = nil, identity: StoredIdentity? = nil
        ) {
            (self.itemClass, self.content, self.accessControl) = (itemClass, content, accessControl)
            (self.value, self.persistentReference) = (value, persistentReference)
            (keptObject, keptIdentity) = (Kept(object), Kept(identity))
        }
    }
}

/// The attributes of a record. Those of a list are made when they are asked for, since not all are.
enum RecordContent: Equatable, Sendable {
    case attributes(Attributes)
    /// Those that a search finds in the item, of which the value is left out.
    case found(in: Item)

    init(foundIn item: Item) {
        var item = item
        item.value = nil
        self = .found(in: item)
    }

    var attributes: Attributes {
        switch self {
        case .attributes(let attributes): attributes
        case .found(let item): item.foundAttributes
        }
    }

    static func == (lhs: RecordContent, rhs: RecordContent) -> Bool { lhs.attributes == rhs.attributes }
}

/// What few records have, outside of them: within, each record of a list would take the space of three items more.
private indirect enum Kept<Value: Equatable & Sendable>: Equatable, Sendable {
    case nothing
    case kept(Value)

    init(_ value: Value?) { self = value.map { .kept($0) } ?? .nothing }

    var value: Value? { if case .kept(let value) = self { value } else { nil } }
}

/// Converts stored items to an ``Outcome``, with one table for adding and one for searching.
struct OutcomeShape {
    let returns: Query.Returns

    /// When adding, an empty value is returned where searching returns none, and there are fewer attributes.
    func added(_ stored: StoredItem, givenAccessControl: AccessControl?) -> Outcome {
        switch returns {
        case []: return .nothing
        case .reference: return stored.item.isObject ? .one(.object(stored)) : .nothing
        case .value where stored.item.isOnToken: return .nothing
        case .value: return .one(.value(stored.item.value ?? Data()))
        case .persistentReference: return .one(.persistentReference(stored.reference))
        case [.value, .persistentReference]: return .one(.record(record(of: stored, .attributes(Attributes()))))
        default:
            var record = record(of: stored, .attributes(stored.item.visibleAttributes))
            record.accessControl = givenAccessControl
            return .one(.record(record))
        }
    }

    func found(_ items: [StoredItem], limit: Query.Limit) -> Outcome {
        outcome(items.compactMap { result($0) }, limit)
    }

    private func outcome(_ results: [Outcome.Result], _ limit: Query.Limit) -> Outcome {
        guard limit == .one else { return .many(results) }
        return results.first.map { .one($0) } ?? .nothing
    }

    /// `nil`: no result for this item.
    private func result(_ stored: StoredItem) -> Outcome.Result? {
        switch returns {
        case []: return nil
        case .reference: return stored.item.isObject ? .object(stored) : nil
        case .value: return stored.item.value.map { .value($0) }
        case .persistentReference: return .persistentReference(stored.reference)
        default:
            var record = record(of: stored, RecordContent(foundIn: stored.item))
            record.accessControl = stored.item.accessControl
            return .record(record)
        }
    }

    private func record(of stored: StoredItem, _ content: RecordContent) -> Outcome.Record {
        Outcome.Record(
            itemClass: returns.contains(.reference) ? stored.item.itemClass : nil, content,
            value: returns.contains(.value) ? stored.item.value : nil,
            persistentReference: returns.contains(.persistentReference) ? stored.reference : nil,
            object: returns.contains(.reference) && stored.item.isObject ? stored : nil)
    }
}

// MARK: - Identities

extension OutcomeShape {
    /// Apple returns only the persistent reference of an added identity.
    func added(_ identity: StoredIdentity, givenAccessControl: AccessControl?) -> Outcome {
        guard var result = result(identity, \.visibleAttributes) else { return .nothing }
        if case .record(var record) = result {
            record.accessControl = givenAccessControl
            result = .record(record)
        }
        return .one(result)
    }

    func found(_ identities: [StoredIdentity], limit: Query.Limit) -> Outcome {
        outcome(identities.compactMap { result($0, \.foundAttributes) }, limit)
    }

    private func result(_ identity: StoredIdentity, _ attributes: KeyPath<Item, Attributes>) -> Outcome.Result? {
        switch returns {
        case []: nil
        case .reference: .identity(identity)
        case .value: identity.key.item.value.map { .value($0) }
        case .persistentReference: .persistentReference(identity.reference)
        default: .record(record(of: identity, attributes))
        }
    }

    /// The attributes of the key, replaced by those of the certificate; the bytes are those of the key.
    private func record(of identity: StoredIdentity, _ attributes: KeyPath<Item, Attributes>) -> Outcome.Record {
        var joined = identity.key.item[keyPath: attributes]
        for (attribute, value) in identity.certificate.item[keyPath: attributes] { joined[attribute] = value }
        return Outcome.Record(
            itemClass: nil, .attributes(joined), accessControl: identity.certificate.item.accessControl,
            value: returns.contains(.value) ? identity.key.item.value : nil,
            persistentReference: returns.contains(.persistentReference) ? identity.reference : nil,
            identity: returns.contains(.reference) ? identity : nil)
    }
}

extension StoredItem {
    public var reference: PersistentReference { PersistentReference(itemClass: item.itemClass, id: id) }
}

extension ItemClass {
    /// Whether items of this class are returned as objects.
    var hasObjects: Bool { self == .key || self == .certificate }
}

extension Item {
    fileprivate var isObject: Bool { itemClass.hasObjects }

    /// The attributes in the result of a search.
    fileprivate var foundAttributes: Attributes {
        var found = visibleAttributes
        found[.tombstone] = self[.tombstone]
        found[.multiUser] = self[.multiUser]
        return found
    }

    /// The attributes in results: those that were set or defaulted, and the accessibility class.
    fileprivate var visibleAttributes: Attributes {
        var visible = attributes
        visible[.accessible] = self[.accessible]
        visible[.syncUUID] = nil
        return visible
    }
}
