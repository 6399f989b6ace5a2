// SPDX-License-Identifier: Apache-2.0
// The system's persistent references, and the identities that stand for them here.

import Foundation
import KeychainEngine

/// How a stored identity leads back to the system's item.
enum SystemReference {
    /// It is the second half of the reference.
    case bytes(Data)
    /// It was derived from a reference of another form, which only looking through the class finds again.
    case derived

    init(_ reference: PersistentReference, id: UUID) {
        self = id.isDerived ? .derived : .bytes(reference.bytes)
    }
}

extension UUID {
    /// The identity of the item with this persistent reference: its own in the form of 20 bytes, else one that is
    /// always the same for the same reference.
    init(reference: Data) {
        if reference.count == 20 {
            self = Self.of(reference.suffix(16))
        } else {
            self = .derived(from: reference)
        }
    }

    /// Whether this was derived: random identities have the version 4.
    var isDerived: Bool { uuid.6 >> 4 == 8 }

    /// Version 8 of RFC 9562, which is for everybody's own use. It has to tell references apart, and not to withstand
    /// somebody who makes references that collide: only the system makes them.
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
