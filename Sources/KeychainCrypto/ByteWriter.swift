// SPDX-License-Identifier: Apache-2.0
// Builds canonical bytes: fixed-length fields, numbers most significant byte first.

public import Foundation

/// Builds bytes. An array grows several times faster than `Data`, which matters for sealing and digesting.
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

    /// Replaces fields that have been written, from `index` on.
    mutating func replace(at index: Int, _ body: (inout FieldWriter) -> Void) {
        bytes.withUnsafeMutableBytes { bytes in
            var writer = FieldWriter(UnsafeMutableRawBufferPointer(rebasing: bytes[index...]))
            body(&writer)
        }
    }
}

/// Writes fields one after another into memory that has room for all of them. It is several times faster than a
/// ``ByteWriter``, for what each write of the vault needs.
///
/// Inlined in other modules too: a call for each field of a few bytes would cost more than the field.
@frozen
public struct FieldWriter {
    @usableFromInline let memory: UnsafeMutableRawBufferPointer
    @usableFromInline var count = 0

    @usableFromInline
    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    /// The bytes that `body` writes.
    ///
    /// - Parameter capacity: At least as many bytes as `body` writes.
    @inlinable
    public static func bytes(capacity: Int, _ body: (inout FieldWriter) -> Void) -> [UInt8] {
        // For zero bytes Swift would write into the empty array that all threads share.
        [UInt8](unsafeUninitializedCapacity: max(capacity, 1)) { buffer, count in
            var writer = FieldWriter(UnsafeMutableRawBufferPointer(buffer))
            body(&writer)
            count = writer.count
        }
    }

    /// What was written so far; valid as long as the writer.
    @inlinable
    public var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    @inlinable
    public mutating func put(_ byte: UInt8) { put(raw: byte) }

    @inlinable
    public mutating func put(bigEndian number: UInt64) { put(raw: number.bigEndian) }

    @inlinable
    public mutating func put(bigEndian number: UInt32) { put(raw: number.bigEndian) }

    @inlinable
    public mutating func put(_ uuid: UUID) { put(raw: uuid.uuid) }

    @inlinable
    public mutating func put(_ data: Data) { data.withUnsafeBytes { put($0) } }

    @inlinable
    public mutating func put(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= memory.count - count, "the fields do not fit into the capacity")
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    @inlinable
    mutating func put<Field: BitwiseCopyable>(raw field: Field) {
        precondition(MemoryLayout<Field>.size <= memory.count - count, "the fields do not fit into the capacity")
        memory.storeBytes(of: field, toByteOffset: count, as: Field.self)
        count += MemoryLayout<Field>.size
    }
}
