// SPDX-License-Identifier: Apache-2.0
// Random bytes for one call, read from the kernel at once.

/// The random bytes that one call needs, in a few pieces. Reading each piece from the kernel would take longer than
/// sealing an item.
///
/// ```swift
/// let random = RandomBatch()
/// random.fill(nonce)
/// ```
///
/// Bytes are overwritten as soon as they are used, the rest when the batch is released. Never keep a batch for the next
/// call: after a fork, parent and child would use the same nonces.
public final class RandomBatch {
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)
    /// The unused bytes.
    private var rest = 0..<0
    /// How many bytes to read: first as many as one item needs, then as many as the kernel returns at once.
    private var amount = 96

    public init() {}

    deinit {
        wipeMemory(bytes)
        bytes.deallocate()
    }

    /// Fills memory of any size.
    public func fill(_ target: UnsafeMutableRawBufferPointer) {
        guard target.count <= amount else { return fillWithRandomBytes(target) }
        if target.count > rest.count {
            fillWithRandomBytes(UnsafeMutableRawBufferPointer(rebasing: bytes[..<amount]))
            (rest, amount) = (0..<amount, bytes.count)
        }
        let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[rest.prefix(target.count)])
        target.copyMemory(from: UnsafeRawBufferPointer(piece))
        wipeMemory(piece)
        rest = rest.dropFirst(target.count)
    }
}
