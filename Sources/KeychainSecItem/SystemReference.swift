// SPDX-License-Identifier: Apache-2.0
// Maps the system's persistent references to identities.

import Foundation
import KeychainEngine

/// How an identity is mapped back to the system's item.
enum SystemReference {
    /// The identity is the second half of the reference.
    case bytes(Data)
    /// The identity was derived from a reference of another form. Only a search through the class finds the item.
    case derived

    init(_ reference: PersistentReference, id: UUID) {
        self = id.isDerived ? .derived : .bytes(reference.bytes)
    }
}

extension UUID {
    /// The identity for a persistent reference: taken from a reference of 20 bytes, otherwise derived. The same
    /// reference always gives the same identity.
    init(reference: Data) {
        if reference.count == 20 {
            self = Self.of(reference.suffix(16))
        } else {
            self = .derived(from: reference)
        }
    }

    /// Whether this identity was derived. Random identities have version 4.
    var isDerived: Bool { uuid.6 >> 4 == 8 }

    /// Version 8 of RFC 9562, which is for custom use. It only has to distinguish references. It need not resist
    /// crafted collisions: only the system creates references.
    private static func derived(from reference: Data) -> UUID {
        var bytes = hash(reference, seed: 0xCBF2_9CE4_8422_2325) + hash(reference, seed: 0x9AE1_6A3B_2F90_404F)
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return of(Data(bytes))
    }

    /// FNV-1a.
    private static func hash(_ bytes: Data, seed: UInt64) -> [UInt8] {
        let hash = bytes.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return (0..<8).map { UInt8(truncatingIfNeeded: hash >> (56 - 8 * UInt64($0))) }
    }

    private static func of(_ bytes: Data) -> UUID {
        var raw: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &raw) { _ = bytes.copyBytes(to: $0) }
        return UUID(uuid: raw)
    }
}
