// SPDX-License-Identifier: Apache-2.0
// Writes DER in one pass, without intermediate copies, so that it can also write private keys.

import SecretMemory

/// The content to write: public bytes, secret bytes, or an element around other nodes.
enum DERNode {
    case bytes([UInt8])
    case secret(SecretSlice)
    indirect case element(UInt8, [DERNode])

    static func secret(_ secret: SecretBytes) -> DERNode { .secret(SecretSlice(secret)) }
    static func sequence(_ nodes: DERNode...) -> DERNode { .element(DERTag.sequence, nodes) }
    static func set(_ nodes: DERNode...) -> DERNode { .element(DERTag.set, nodes) }
    static func octets(_ nodes: DERNode...) -> DERNode { .element(DERTag.octetString, nodes) }
    static func context(_ number: UInt8, _ nodes: DERNode...) -> DERNode { .element(DERTag.context(number), nodes) }
    static func bits(_ bytes: [UInt8]) -> DERNode { .element(DERTag.bitString, [.bytes([0] + bytes)]) }
    static var null: DERNode { .element(DERTag.null, []) }

    /// A number that is not negative.
    static func integer(_ value: Int) -> DERNode {
        precondition(value >= 0, "only numbers from zero are written")
        return unsigned(withUnsafeBytes(of: value.bigEndian) { Array($0.drop { $0 == 0 }) })
    }

    /// A number that is not negative, without leading zero bytes.
    static func unsigned(_ bytes: [UInt8]) -> DERNode {
        let needsZero = bytes.first.map { $0 & 0x80 != 0 } ?? true
        return .element(DERTag.integer, [.bytes((needsZero ? [0] : []) + bytes)])
    }

    /// A secret number that is not negative.
    static func unsigned(_ secret: SecretSlice) -> DERNode {
        let bytes = secret.drop { $0 == 0 }
        let needsZero = bytes.first.map { $0 & 0x80 != 0 } ?? true
        return .element(DERTag.integer, [.bytes(needsZero ? [0] : []), .secret(bytes)])
    }

    /// The encoding of public content.
    var encoded: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            var rest = UnsafeMutableRawBufferPointer(buffer)[...]
            write(into: &rest)
            count = length
        }
    }

    /// The encoding of secret content.
    var encodedSecret: SecretBytes {
        SecretBytes(count: length) { buffer in
            var rest = buffer[...]
            write(into: &rest)
        }
    }

    private var length: Int {
        switch self {
        case .bytes(let bytes): return bytes.count
        case .secret(let secret): return secret.count
        case .element(let tag, let nodes):
            let length = Self.length(of: nodes)
            return Self.header(tag, length).count + length
        }
    }

    private static func length(of nodes: [DERNode]) -> Int { nodes.reduce(0) { $0 + $1.length } }

    private func write(into rest: inout Slice<UnsafeMutableRawBufferPointer>) {
        switch self {
        case .bytes(let bytes): bytes.withUnsafeBytes { Self.append($0, to: &rest) }
        case .secret(let secret): secret.withUnsafeBytes { Self.append($0, to: &rest) }
        case .element(let tag, let nodes):
            Self.header(tag, Self.length(of: nodes)).withUnsafeBytes { Self.append($0, to: &rest) }
            for node in nodes { node.write(into: &rest) }
        }
    }

    private static func append(_ bytes: UnsafeRawBufferPointer, to rest: inout Slice<UnsafeMutableRawBufferPointer>) {
        UnsafeMutableRawBufferPointer(rebasing: rest).copyMemory(from: bytes)
        rest = rest.dropFirst(bytes.count)
    }

    /// Identifier, and the length in its shortest form.
    static func header(_ tag: UInt8, _ length: Int) -> [UInt8] {
        guard length >= 0x80 else { return [tag, UInt8(length)] }
        let bytes = withUnsafeBytes(of: length.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(bytes.count)] + bytes
    }
}
