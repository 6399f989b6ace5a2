// SPDX-License-Identifier: Apache-2.0
// A small ordered map from attribute to value.

package import Foundation

/// A map from attribute to value, kept in ascending order of attribute name.
///
/// Items have about a dozen attributes. A sorted array is faster to build than a hash table, and already in the order
/// in which the vault encodes it. What a store has opened stays encoded until it is changed.
public struct Attributes: Equatable, Sendable, Sequence, ExpressibleByDictionaryLiteral {
    public typealias Element = (attribute: Attribute, value: AttributeValue)

    private enum Storage {
        case entries([Element])
        case encoded(EncodedAttributes)
    }

    private var storage = Storage.entries([])

    public init() {}

    /// If an attribute is named twice, the last value is used.
    public init(dictionaryLiteral elements: (Attribute, AttributeValue)...) {
        reserveCapacity(elements.count + 1)
        for (attribute, value) in elements { self[attribute] = value }
    }

    /// The attributes of an item as a store has them, in the encoding of Docs/FORMAT.md, "Metadata".
    ///
    /// - Returns: `nil` if the bytes are not the one encoding of `count` attributes.
    package init?(encoded bytes: Data, count: Int) {
        guard let encoded = EncodedAttributes(bytes, count: count) else { return nil }
        storage = .encoded(encoded)
    }

    public var count: Int {
        switch storage {
        case .entries(let entries): entries.count
        case .encoded(let encoded): encoded.count
        }
    }

    public var isEmpty: Bool { count == 0 }

    public subscript(attribute: Attribute) -> AttributeValue? {
        get {
            switch storage {
            case .entries(let entries): entries.value(of: attribute)
            case .encoded(let encoded): encoded[attribute]
            }
        }
        set {
            change { entries in
                let index = entries.position(of: attribute)
                switch (newValue, entries.holds(attribute, at: index)) {
                case (let value?, true): entries[index].value = value
                case (let value?, false): entries.insert((attribute, value), at: index)
                case (nil, true): entries.remove(at: index)
                case (nil, false): break
                }
            }
        }
    }

    /// Adds an attribute that comes after all present ones.
    ///
    /// - Returns: `false` if it does not come after them; then nothing is added.
    public mutating func appendInOrder(_ attribute: Attribute, _ value: AttributeValue) -> Bool {
        change { entries in
            if let last = entries.last, last.attribute >= attribute { return false }
            entries.append((attribute, value))
            return true
        }
    }

    public mutating func reserveCapacity(_ capacity: Int) { change { $0.reserveCapacity(capacity) } }

    public func makeIterator() -> IndexingIterator<[Element]> { entries.makeIterator() }

    public static func == (lhs: Attributes, rhs: Attributes) -> Bool {
        if case .encoded(let left) = lhs.storage, case .encoded(let right) = rhs.storage, left.bytes == right.bytes {
            return true
        }
        return lhs.entries.elementsEqual(rhs.entries) { $0.attribute == $1.attribute && $0.value == $1.value }
    }

    /// Looks into the attributes, possibly several times.
    func look<Result>(_ body: (Look) -> Result) -> Result {
        switch storage {
        case .entries(let entries): body(Look(storage: .entries(entries)))
        case .encoded(let encoded): encoded.bytes.withUnsafeBytes { body(Look(storage: .encoded($0))) }
        }
    }

    /// Attributes for the length of one call, in which encoded values are compared where they lie.
    struct Look {
        fileprivate enum Storage {
            case entries([Element])
            case encoded(UnsafeRawBufferPointer)
        }

        fileprivate let storage: Storage

        /// Hands the lookup bytes of an attribute to `body`; `nil` without the attribute.
        func withLookupBytes<Result>(
            of attribute: Attribute, as kind: AttributeKind, _ body: (UnsafeRawBufferPointer?) -> Result
        ) -> Result {
            switch storage {
            case .entries(let entries):
                guard let value = entries.value(of: attribute) else { return body(nil) }
                return value.withLookupBytes(as: kind, body)
            case .encoded(let bytes):
                guard let entry = EncodedAttributes.entry(of: attribute, in: bytes) else { return body(nil) }
                return entry.withLookupBytes(as: kind, body)
            }
        }

        /// Hands the UTF-8 of an attribute to `body`; `nil` for an attribute that is not text, or not there.
        func withText<Result>(of attribute: Attribute, _ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
            switch storage {
            case .entries(let entries):
                guard case .string(var text) = entries.value(of: attribute) else { return body(nil) }
                return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
            case .encoded(let bytes): return body(EncodedAttributes.entry(of: attribute, in: bytes)?.text)
            }
        }
    }

    private var entries: [Element] {
        switch storage {
        case .entries(let entries): entries
        case .encoded(let encoded): encoded.decoded
        }
    }

    private mutating func change<Result>(_ body: (inout [Element]) -> Result) -> Result {
        var changed = entries
        // The array has one owner again, so that it is changed in place.
        storage = .entries([])
        defer { storage = .entries(changed) }
        return body(&changed)
    }
}

extension [Attributes.Element] {
    fileprivate func position(of attribute: Attribute) -> Int { firstIndex { $0.attribute >= attribute } ?? count }

    fileprivate func value(of attribute: Attribute) -> AttributeValue? {
        let index = position(of: attribute)
        return holds(attribute, at: index) ? self[index].value : nil
    }

    fileprivate func holds(_ attribute: Attribute, at index: Int) -> Bool {
        index < count && self[index].attribute == attribute
    }
}
