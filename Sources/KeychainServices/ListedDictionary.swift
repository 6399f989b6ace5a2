// SPDX-License-Identifier: Apache-2.0
// The dictionaries of a list, each made when it is taken out of the list.

#if os(Linux)
    import Foundation
    import KeychainEngine
    import SecretMemory

    /// A dictionary in the array of a search for several items.
    ///
    /// Foundation on Linux converts each object that is taken out of an array, in whatever way, to a Swift value: an
    /// `NSDictionary` to `[AnyHashable: Any]`. This object makes that Swift dictionary itself, when it is first asked, and keeps
    /// it. To make an `NSDictionary` first would take most of the time of a search, also for items that nobody looks at.
    final class ListedDictionary: NSObject, _StructBridgeable, @unchecked Sendable {
        private enum Content {
            case found(Outcome.Record)
            case made([AnyHashable: Any])
        }

        /// Shared by the list: a lock for each item would take longer than all else.
        private let turn: Guarded<Int>
        private var content: Content

        /// - Parameter record: Without an object.
        init(_ record: Outcome.Record, _ turn: Guarded<Int>) {
            self.turn = turn
            content = .found(record)
        }

        /// The dictionary; the same objects each time.
        func _bridgeToAny() -> Any {
            turn.withLock { _ in
                switch content {
                case .made(let entries): return entries
                case .found(let record):
                    let entries = record.entries
                    content = .made(entries)
                    return entries
                }
            }
        }
    }

    extension Outcome.Record {
        /// What Foundation makes of the dictionary of the same entries.
        fileprivate var entries: [AnyHashable: Any] {
            let attributes = attributes
            var entries: [AnyHashable: Any] = Dictionary(minimumCapacity: attributes.count + 3)
            for (attribute, value) in attributes { entries[attribute.entryKey] = value.entry }
            func add(_ key: CFString, _ value: Any?) {
                if let value { entries[key as String] = value }
            }
            add(kSecClass, itemClass?.rawValue)
            add(kSecAttrAccessControl, accessControl.map { SecAccessControl($0) })
            add(kSecValueData, value)
            add(kSecValuePersistentRef, persistentReference?.bytes)
            return entries
        }
    }

    extension AttributeValue {
        /// Booleans are stored and returned as the numbers 0 and 1.
        fileprivate var entry: Any {
            switch self {
            case .string(let text): text
            case .data(let bytes): bytes
            case .number(let number): NSNumber(value: number)
            case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
            case .bool(let flag): NSNumber(value: flag ? 1 : 0)
            case .unsupported: NSNull()
            }
        }
    }

    extension Attribute {
        fileprivate var entryKey: AnyHashable { Self.entryKeys[self] ?? AnyHashable(name) }

        // Immutable texts.
        nonisolated(unsafe) private static let entryKeys: [Attribute: AnyHashable] = {
            let attributes = ItemClass.allCases.flatMap { $0.schema.rules.map(\.attribute) }
            return Dictionary(attributes.map { ($0, AnyHashable($0.name)) }) { first, _ in first }
        }()
    }
#endif
