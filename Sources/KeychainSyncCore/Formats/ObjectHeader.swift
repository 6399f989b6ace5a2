// SPDX-License-Identifier: Apache-2.0
// The clear header of every object on a carrier, and the messages that are signed.

import KeychainCrypto

/// The kinds of objects, by their first four bytes.
package enum ObjectKind: String, Sendable, CaseIterable {
    case segment = "KSEG"
    case snapshot = "KSNM"
    case snapshotPart = "KSNP"
    case head = "KHED"
    case entry = "KRNG"
    case wrap = "KWRP"
    case invitation = "KINV"
    case request = "KJRQ"

    /// In clear, so that a reader can distinguish a newer format from damage: kind ‖ format ‖ suite ‖ ring.
    func header(of ring: RingID, capacity: Int = 128) -> ByteWriter {
        var writer = ByteWriter(capacity: capacity)
        writer.append(rawValue)
        writer.append(Self.format)
        writer.append(Self.suite)
        ring.write(to: &writer)
        return writer
    }

    /// - Returns: The ring that the object names.
    func readHeader(_ reader: inout ByteReader) throws(Refusal) -> RingID {
        guard try reader.slice(4).elementsEqual(rawValue.utf8) else { throw .malformed }
        let (format, suite) = (try reader.byte(), try reader.byte())
        guard format != 0, suite != 0 else { throw .malformed }
        guard format == Self.format, suite == Self.suite else { throw .newerFormat }
        return try reader.bytes32()
    }

    func readHeader(_ reader: inout ByteReader, of ring: RingID) throws(Refusal) {
        guard try readHeader(&reader) == ring else { throw .wrongRing }
    }

    static let format: UInt8 = 1
    /// Ed25519, X-Wing, AES-256-GCM, HKDF-SHA-256, HMAC-SHA-256. 2 is reserved for signatures with ML-DSA.
    static let suite: UInt8 = 1
}

/// The message of a signature. It begins with the purpose, so that a signature is not valid for another purpose.
enum SignedMessage {
    static func bytes(_ purpose: String, _ content: [UInt8]) -> [UInt8] {
        Array("swift-keychain/1 \(purpose)\0".utf8) + content
    }
}
