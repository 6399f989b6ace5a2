// SPDX-License-Identifier: Apache-2.0
// The compression of ZIP archives, by the system's zlib.

import CKeychainZlib
import Foundation

enum Inflation {
    /// - Parameter count: How many bytes there must be, which bounds the memory: a small input can become a thousand times as
    ///   large.
    /// - Returns: `nil` if these bytes do not stand for exactly so many others.
    static func inflated(_ bytes: UnsafeRawBufferPointer, count: Int) -> Data? {
        // One byte more, so that there is a buffer for nothing too.
        var result = Data(count: count + 1)
        let isWhole = result.withUnsafeMutableBytes { inflate(bytes, into: $0, count: count) }
        guard isWhole else {
            result.wipe()
            return nil
        }
        result.removeLast()
        return result
    }

    private static func inflate(
        _ bytes: UnsafeRawBufferPointer, into result: UnsafeMutableRawBufferPointer, count: Int
    ) -> Bool {
        var stream = z_stream()
        // Without the header of zlib's own format.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(&stream, -MAX_WBITS, ZLIB_VERSION, size) == Z_OK else { return false }
        defer { inflateEnd(&stream) }
        // zlib does not write its input.
        stream.next_in = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: Bytef.self).baseAddress)
        stream.avail_in = UInt32(bytes.count)
        stream.next_out = result.assumingMemoryBound(to: Bytef.self).baseAddress
        stream.avail_out = UInt32(result.count)
        return CKeychainZlib.inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0
            && Int(stream.avail_out) == result.count - count
    }

    /// CRC-32.
    static func checksum(_ data: Data) -> UInt32 {
        data.withUnsafeBytes { bytes in
            UInt32(crc32(0, bytes.assumingMemoryBound(to: Bytef.self).baseAddress, UInt32(bytes.count)))
        }
    }
}
