// SPDX-License-Identifier: Apache-2.0
// The primitives of format 3 by name: what rows come to, and the head that says so.

import Foundation
import KeychainCrypto
import KeychainEngine

@testable import KeychainVault

extension FormatVector {
    static let primitivesOfFormat3: [String: @Sendable (VectorInput) throws -> JSON] = [
        "itemDigest": itemDigest, "lookupDigest": lookupDigest, "setSum": setSum, "head": head,
    ]

    private static func keys(_ input: VectorInput) throws -> HeadKeys {
        HeadKeys(indexKey: try input.secret("index"), vaultID: UUID(bytes: try input.bytes("vault")))
    }

    @Sendable private static func itemDigest(_ input: VectorInput) throws -> JSON {
        let trace = RowTrace(try SealedRow(input.member("row")))
        return .hex(try keys(input).rows.digest(trace.bytes).bytes)
    }

    @Sendable private static func lookupDigest(_ input: VectorInput) throws -> JSON {
        let trace = RowTrace(lookup: try input.bytes("digest"), of: try input.number("row"))
        return .hex(try keys(input).rows.digest(trace.bytes).bytes)
    }

    @Sendable private static func setSum(_ input: VectorInput) throws -> JSON {
        func numbers(_ name: String) throws -> [SetSum] {
            try (input.json[name]?.elements ?? []).map { element in
                guard let bytes = element.text.flatMap({ Data(hexadecimal: $0) }) else { throw BadVector(what: name) }
                return SetSum(bytes: bytes)
            }
        }
        return .hex(try numbers("without").reduce(numbers("of").reduce(.zero, +), -).bytes)
    }

    @Sendable private static func head(_ input: VectorInput) throws -> JSON {
        guard let head = Head(sealed: try input.bytes("sealed"), try keys(input)) else { throw MalformedBytes() }
        var fields: [String: JSON] = [
            "epoch": .number(head.epoch), "sequence": .number(head.sequence), "items": .number(head.items.count),
            "lookups": .number(head.lookups.count), "quarantined": .number(head.quarantined),
            "itemSum": .hex(head.items.sum.bytes), "lookupSum": .hex(head.lookups.sum.bytes),
            "keybag": .hex(head.keybag),
        ]
        if let ring = head.ring {
            (fields["outgoing"], fields["outgoingSum"]) = (.number(ring.outbox.count), .hex(ring.outbox.sum.bytes))
            (fields["ringRows"], fields["ringSum"]) = (.number(ring.others.count), .hex(ring.others.sum.bytes))
        }
        return .object(fields)
    }
}
