// SPDX-License-Identifier: Apache-2.0
// Padding, so that sizes on disk reveal only the order of magnitude.

import Foundation
import KeychainCrypto

/// Pads before sealing: length (4 bytes) ‖ content ‖ zeros up to a bucket.
enum Padding {
    /// Metadata comes in steps of 128 bytes.
    static func metadataBucket(_ length: Int) -> Int { roundedUp(length, to: 128) }

    /// Values come in steps of 64 bytes up to 1 KiB, then in steps of about √2, which costs a fifth on average.
    static func valueBucket(_ length: Int) -> Int {
        if length <= 1024 { return roundedUp(length, to: 64) }
        var power = 1024
        while power * 2 < length { power *= 2 }
        return length <= power * 181 / 128 ? power * 181 / 128 : power * 2
    }

    static func pad(_ content: ByteWriter, bucket: (Int) -> Int) -> [UInt8] {
        let length = 4 + content.bytes.count
        var padded = ByteWriter(capacity: bucket(length))
        padded.append(bigEndian: UInt32(content.bytes.count))
        padded.append(content.bytes)
        padded.append([UInt8](repeating: 0, count: bucket(length) - length))
        return padded.bytes
    }

    /// Accepts only the output of ``pad(_:bucket:)``: zeros after the content, up to its bucket.
    ///
    /// - Returns: The content, without a copy.
    static func unpad(_ padded: Data, bucket: (Int) -> Int) throws(MalformedBytes) -> Data {
        let length = padded.withUnsafeBytes { contentLength($0, bucket: bucket) }
        guard let length else { throw MalformedBytes() }
        let start = padded.startIndex + 4
        return padded[start..<start + length]
    }

    private static func contentLength(_ padded: UnsafeRawBufferPointer, bucket: (Int) -> Int) -> Int? {
        guard padded.count >= 4 else { return nil }
        let length = Int(UInt32(bigEndian: padded.loadUnaligned(as: UInt32.self)))
        let isWhole = length <= padded.count - 4 && padded.count == bucket(4 + length)
        guard isWhole, areZero(UnsafeRawBufferPointer(rebasing: padded[(4 + length)...])) else { return nil }
        return length
    }

    /// Each byte is like the next one, and the first is zero. A loop over a value of some megabytes takes seconds without
    /// optimization.
    private static func areZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, let first = bytes.first else { return true }
        return first == 0 && memcmp(start, start + 1, bytes.count - 1) == 0
    }

    private static func roundedUp(_ length: Int, to step: Int) -> Int { (length + step - 1) / step * step }
}
