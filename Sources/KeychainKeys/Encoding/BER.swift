// SPDX-License-Identifier: Apache-2.0
// Converts BER with indefinite lengths, as NSS and older tools write PKCS#12 files, to DER.

import SecretMemory

enum BER {
    private static let nesting = 32
    private static let elements = 100_000

    /// - Returns: The same bytes if the outermost element has a definite length, because then they are considered DER.
    static func asDER(_ bytes: ArraySlice<UInt8>) throws(KeyFailure) -> ArraySlice<UInt8> {
        guard bytes.dropFirst().first == 0x80 else { return bytes }
        return try converted(bytes).encoded[...]
    }

    static func asDER(_ bytes: SecretSlice) throws(KeyFailure) -> SecretBytes {
        try converted(bytes).encodedSecret
    }

    private static func converted(_ bytes: some ByteSlice) throws(KeyFailure) -> DERNode {
        var (rest, count) = (bytes, 0)
        let node = try element(&rest, depth: 0, &count)
        guard rest.isEmpty else { throw .malformed("BER") }
        return node
    }

    private static func element<Bytes: ByteSlice>(
        _ rest: inout Bytes, depth: Int, _ count: inout Int
    ) throws(KeyFailure) -> DERNode {
        count += 1
        guard depth <= nesting, count <= elements else { throw .limitExceeded("BER") }
        guard let tag = rest.first, tag & 0x1F != 0x1F else { throw .malformed("BER") }
        var children: [DERNode] = []
        if rest.dropFirst().first == 0x80 {
            guard tag & 0x20 != 0 else { throw .malformed("BER") }
            rest = rest.dropFirst(2)
            while !rest.starts(with: [0, 0]) { children.append(try element(&rest, depth: depth + 1, &count)) }
            rest = rest.dropFirst(2)
        } else {
            var reader = DERReader(rest, "BER")
            let element = try reader.next()
            rest = reader.rest
            guard tag & 0x20 != 0 else { return .element(tag, [element.content.node]) }
            var inner = element.content
            while !inner.isEmpty { children.append(try self.element(&inner, depth: depth + 1, &count)) }
        }
        return joined(tag, children)
    }

    /// Joins an octet string that is split into pieces.
    private static func joined(_ tag: UInt8, _ children: [DERNode]) -> DERNode {
        guard tag == DERTag.octetString | 0x20 else { return .element(tag, children) }
        let pieces = children.flatMap { child -> [DERNode] in
            if case .element(DERTag.octetString, let content) = child { content } else { [] }
        }
        return .element(DERTag.octetString, pieces)
    }
}
