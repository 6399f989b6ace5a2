// SPDX-License-Identifier: Apache-2.0
// Padding, so that sizes on the carrier only reveal an order of magnitude.

import KeychainCrypto

/// Pads before sealing: length (4 bytes) ‖ content ‖ zeros, so that the whole object has the size of a bucket.
enum ObjectPadding {
    /// 1 KiB, 2 KiB, then steps of about √2. The last is 1 MiB.
    static func bucket(_ length: Int) -> Int {
        if length <= 1024 { return 1024 }
        var power = 1024
        while power * 2 < length { power *= 2 }
        return power > 1024 && length <= power * 181 / 128 ? power * 181 / 128 : power * 2
    }

    /// - Parameter around: The bytes of the object besides the content: clear text, and the overhead of sealing.
    static func pad(_ content: [UInt8], around: Int) -> [UInt8] {
        let length = 4 + content.count
        let room = bucket(around + length) - around
        var padded = ByteWriter(capacity: room)
        padded.append(bigEndian: UInt32(content.count))
        padded.append(content)
        padded.append([UInt8](repeating: 0, count: room - length))
        return padded.bytes
    }

    /// Accepts only the output of ``pad(_:around:)``.
    static func unpad(_ padded: [UInt8], around: Int) throws(Refusal) -> [UInt8] {
        var reader = ByteReader(padded)
        let length = Int(try reader.number(UInt32.self))
        guard length <= reader.rest, bucket(around + 4 + length) == around + padded.count else { throw .malformed }
        let content = try reader.bytes(length)
        guard padded[(4 + length)...].allSatisfy({ $0 == 0 }) else { throw .malformed }
        return content
    }
}
