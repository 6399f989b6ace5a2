// SPDX-License-Identifier: Apache-2.0
// A small ordered map from attribute to value.

/// A map from attribute to value, kept in ascending order of attribute name.
///
/// Items have about a dozen attributes. A sorted array is faster to build than a hash table, and already in the order
/// in which the vault encodes it.
public struct Attributes: Equatable, Sendable, Sequence, ExpressibleByDictionaryLiteral {
    public typealias Element = (attribute: Attribute, value: AttributeValue)

    private var entries: [Element] = []

    public init() {}

    /// If an attribute is named twice, the last value is used.
    public init(dictionaryLiteral elements: (Attribute, AttributeValue)...) {
        entries.reserveCapacity(elements.count + 1)
        for (attribute, value) in elements { self[attribute] = value }
    }

    public var count: Int { entries.count }
    public var isEmpty: Bool { entries.isEmpty }

    public subscript(attribute: Attribute) -> AttributeValue? {
        get {
            let index = position(of: attribute)
            return holds(attribute, at: index) ? entries[index].value : nil
        }
        set {
            let index = position(of: attribute)
            switch (newValue, holds(attribute, at: index)) {
            case (let value?, true): entries[index].value = value
            case (let value?, false): entries.insert((attribute, value), at: index)
            case (nil, true): entries.remove(at: index)
            case (nil, false): break
            }
        }
    }

    /// Adds an attribute that comes after all present ones.
    ///
    /// - Returns: `false` if it does not come after them; then nothing is added. A decoder uses this to refuse a
    ///   non-canonical encoding.
    public mutating func appendInOrder(_ attribute: Attribute, _ value: AttributeValue) -> Bool {
        if let last = entries.last, last.attribute >= attribute { return false }
        entries.append((attribute, value))
        return true
    }

    public mutating func reserveCapacity(_ capacity: Int) { entries.reserveCapacity(capacity) }

    public func makeIterator() -> IndexingIterator<[Element]> { entries.makeIterator() }

    public static func == (lhs: Attributes, rhs: Attributes) -> Bool {
        lhs.entries.elementsEqual(rhs.entries) { $0.attribute == $1.attribute && $0.value == $1.value }
    }

    private func position(of attribute: Attribute) -> Int {
        entries.firstIndex { $0.attribute >= attribute } ?? entries.count
    }

    private func holds(_ attribute: Attribute, at index: Int) -> Bool {
        index < entries.count && entries[index].attribute == attribute
    }
}
