// SPDX-License-Identifier: Apache-2.0
// Finding a value again that was found before and has not changed since.

#if os(Linux)
    import Foundation
    import KeychainEngine

    extension Services {
        /// The result of a search. If it is one value that was found before, the store opens it again without a search.
        func found(_ query: Query) throws(KeychainError) -> Outcome {
            guard let repeating, query.findsOneValue else {
                return try engine.copyMatching(query, accessGroups: accessGroups)
            }
            if let again = withName(of: query, { repeating.repeated($0, waits: true) }) { return Outcome(again.value) }
            guard let name = withName(of: query, { [UInt8]($0) }) else {
                return try engine.copyMatching(query, accessGroups: accessGroups)
            }
            let found = try repeating.remembering(name) { () throws(KeychainError) in
                // A search for one item opens no other.
                FoundOnce(try engine.requests.find(query, accessGroups: accessGroups).first, isOnly: true)
            }
            guard let found else { throw .noMatch }
            return Outcome(found.item.value)
        }

        /// The name has everything that the result depends on.
        private func withName<Result>(of query: Query, _ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
            ReadName.with(
                .query,
                { name in
                    name.put(engine.dialect == .strict ? 1 : 0)
                    name.put(accessGroups)
                    query.write(to: &name)
                }, body)
        }
    }

    extension Outcome {
        /// Of a search for one value.
        fileprivate init(_ value: Data?) { self = value.map { .one(.value($0)) } ?? .nothing }
    }

    extension Query {
        /// Whether the result is one value, and depends on nothing but the class and the attributes: such requests can
        /// be repeated. Whether and how the user may be asked makes no difference for the items that are remembered.
        fileprivate var findsOneValue: Bool {
            returns == .value && limit ?? .one == .one && itemClass != nil && authenticationUI != .skip
                && context == nil && questions == nil && value == nil && accessControl == nil && protection == nil
                && persistentReference == nil && matchCriteria.isEmpty && !namesProtected && !usesItemList
                && !isForIdentities
        }

        fileprivate func write(to name: inout ReadName) {
            name.put(itemClass?.rawValue)
            name.put(synchronizableAny ? 1 : 0)
            for (attribute, value) in attributes { value.write(to: &name, attribute) }
        }
    }

    extension AttributeValue {
        /// As it was given: the same bytes in another type may be refused.
        fileprivate func write(to name: inout ReadName, _ attribute: Attribute) {
            func start(_ type: Int) { name.put(Int(attribute.code) << 8 | type) }
            switch self {
            case .string(let text):
                start(1)
                name.put(text)
            case .data(let bytes):
                start(2)
                bytes.withUnsafeBytes { name.put($0) }
            case .number(let number):
                start(3)
                name.put(Int(truncatingIfNeeded: number))
            case .date(let seconds):
                start(4)
                name.put(Int(truncatingIfNeeded: seconds.bitPattern))
            case .bool(let flag):
                start(5)
                name.put(flag ? 1 : 0)
            case .unsupported:
                start(6)
            }
        }
    }
#endif
