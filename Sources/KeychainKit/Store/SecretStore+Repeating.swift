// SPDX-License-Identifier: Apache-2.0
// Reading a value again that was read before and has not changed since: on the caller's thread, without waiting.

import Foundation
import KeychainEngine

extension SecretStore {
    /// The value that was read before; `nil` if the store has to be searched.
    ///
    /// - Parameters:
    ///   - eitherKind: Whether the read is one of an ``EitherKindStore``, for which an item of the other kind counts as well.
    ///   - waits: Whether the calling thread may block.
    func readAgain(_ account: String, eitherKind: Bool = false, waits: Bool) -> RepeatedValue? {
        guard let repeating, !Task.isCancelled else { return nil }
        return withName(of: account, eitherKind) { repeating.repeated($0, waits: waits) }
    }

    /// The store, if its reads can be repeated. Proofs of a context count only for items with constraints, which are not
    /// remembered, but a context may be unusable.
    private var repeating: (any RepeatingStore)? { context == nil ? backing.repeating : nil }

    /// The name has everything that the result of a read depends on.
    private func withName<Result>(
        of account: String, _ eitherKind: Bool, _ body: (UnsafeRawBufferPointer) -> Result?
    ) -> Result? {
        ReadName.with(
            .account,
            { name in
                name.put((synchronizable ? 1 : 0) + (eitherKind ? 2 : 0))
                name.put(accessGroup)
                name.put(backing.accessGroups)
                place.write(to: &name)
                name.put(account)
            }, body)
    }

    /// Searches, so that the next read of the account can be repeated.
    func findForReading(
        _ account: String, eitherKind: Bool = false, _ search: () throws(KeychainError) -> FoundOnce
    ) throws(KeychainError) -> StoredItem? {
        guard let repeating, let name = withName(of: account, eitherKind, { [UInt8]($0) }) else {
            return try search().item
        }
        return try repeating.remembering(name, search)
    }
}

extension Place {
    fileprivate func write(to name: inout ReadName) {
        switch self {
        case .service(let service):
            name.put(0)
            name.put(service)
        case .server:
            name.put(1)
            for (attribute, value) in attributes {
                guard let bytes = itemClass.schema[attribute].map({ value.lookupBytes(as: $0.kind) }) else { continue }
                name.put(Int(attribute.code))
                bytes.withUnsafeBytes { name.put($0) }
            }
        }
    }
}
