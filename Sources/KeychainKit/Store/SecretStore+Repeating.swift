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
        return withUnsafeTemporaryAllocation(byteCount: Self.longestRead, alignment: 8) { memory in
            var name = ReadName(memory)
            write(account, to: &name)
            return name.bytes.flatMap { repeating.repeated($0, waits: waits) }
        }
    }

    /// The store, if its reads can be repeated. Proofs of a context count only for items with constraints, which are not
    /// remembered, but a context may be unusable.
    private var repeating: (any RepeatingStore)? {
        context == nil && !options.synchronizableAny ? backing.repeating : nil
    }

    /// Longer ones are not remembered.
    private static let longestRead = 256

    /// What the result of a read depends on. Every part has a length, so that no two reads have the same bytes.
    private func write(_ account: String, to name: inout ReadName) {
        name.put(synchronizable ? 1 : 0)
        name.put(accessGroup)
        name.put(backing.accessGroups.names?.count ?? -1)
        for group in backing.accessGroups.names ?? [] { name.put(group) }
        name.put(backing.accessGroups.defaultGroup)
        place.write(to: &name)
        name.put(account)
    }

    /// Searches, so that the next read of the account can be repeated.
    func findForReading(_ account: String, _ requests: StoreRequests) throws(KeychainError) -> StoredItem? {
        guard let repeating, let name = nameOfRead(account) else {
            return try requests.find(account, includingValue: true)
        }
        return try repeating.remembering(name) { () throws(KeychainError) in
            try requests.findOnce(account, includingValue: true)
        }
    }

    private func nameOfRead(_ account: String) -> [UInt8]? {
        withUnsafeTemporaryAllocation(byteCount: Self.longestRead, alignment: 8) { memory in
            var name = ReadName(memory)
            write(account, to: &name)
            return name.bytes.map { [UInt8]($0) }
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
                name.put(bytes.count)
                bytes.withUnsafeBytes { name.put($0) }
            }
        }
    }
}

/// Writes the name of a read into memory of a fixed size.
private struct ReadName {
    private let memory: UnsafeMutableRawBufferPointer
    private var count = 0
    private var fits = true

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    /// `nil` if the name is too long.
    var bytes: UnsafeRawBufferPointer? { fits ? UnsafeRawBufferPointer(rebasing: memory[..<count]) : nil }

    mutating func put(_ number: Int) { withUnsafeBytes(of: number) { put($0) } }

    /// Its bytes, since Swift takes composed and decomposed characters for equal.
    mutating func put(_ text: String?) {
        guard var text else { return put(-1) }
        text.withUTF8 { utf8 in
            put(utf8.count)
            put(UnsafeRawBufferPointer(utf8))
        }
    }

    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        guard fits, bytes.count <= memory.count - count else { return fits = false }
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
    }
}
