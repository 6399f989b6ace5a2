// SPDX-License-Identifier: Apache-2.0
// Builds canonical bytes: fixed-length fields, numbers most significant byte first.

public import Foundation

/// Bytes being put together. An array grows several times faster than `Data`, which sealing and digesting feel.
public struct ByteWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// The bytes as `Data`, for what is stored.
    public var data: Data { Data(bytes) }

    public mutating func append(_ byte: UInt8) { bytes.append(byte) }

    @inlinable
    public mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
        withUnsafeBytes(of: number.bigEndian) { append($0) }
    }

    public mutating func append(_ data: Data) { data.withUnsafeBytes { bytes.append(contentsOf: $0) } }

    public mutating func append(_ array: [UInt8]) { bytes.append(contentsOf: array) }

    public mutating func append(_ buffer: UnsafeRawBufferPointer) { bytes.append(contentsOf: buffer) }

    public mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    public mutating func append(_ uuid: UUID) {
        withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
    }

    /// Overwrites what was written, for a secret.
    public mutating func wipe() { bytes.wipe() }

    /// Replaces one byte; `index` is one that has been written.
    mutating func replace(at index: Int, with byte: UInt8) { bytes[index] = byte }
}
