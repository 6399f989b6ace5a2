// SPDX-License-Identifier: Apache-2.0
// Reading a value again that was read before and has not changed since: on the caller's thread, without waiting.

import Foundation
import KeychainEngine

extension SecretStore {
    /// The value that was read before; `nil` if the store has to be searched.
    ///
    /// - Parameter waits: Whether the calling thread may block.
    func readAgain(_ account: String, waits: Bool) -> RepeatedValue? {
        guard let repeating, !Task.isCancelled else { return nil }
        return withName(of: account) { repeating.repeated($0, waits: waits) }
    }

    /// The store, if its reads can be repeated. Proofs of a context count only for items with constraints, which are not
    /// remembered, but a context may be unusable.
    private var repeating: (any RepeatingStore)? { context == nil ? backing.repeating : nil }

    /// The name has everything that the result of a read depends on.
    private func withName<Result>(of account: String, _ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        ReadName.with(
            .account,
            { name in
                name.put(synchronizable ? 1 : 0)
                name.put(accessGroup)
                name.put(backing.accessGroups)
                place.write(to: &name)
                name.put(account)
            }, body)
    }

    /// Searches, so that the next read of the account can be repeated.
    func findForReading(_ account: String, _ requests: StoreRequests) throws(KeychainError) -> StoredItem? {
        guard let repeating, let name = withName(of: account, { [UInt8]($0) }) else {
            return try requests.find(account, includingValue: true)
        }
        return try repeating.remembering(name) { () throws(KeychainError) in
            try requests.findOnce(account, includingValue: true)
        }
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
