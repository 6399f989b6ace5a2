// SPDX-License-Identifier: Apache-2.0
// Random bytes for one call, from the kernel at once.

/// The random bytes that one call needs, in a few pieces: asking the kernel for each piece takes longer than sealing an item.
///
/// ```swift
/// let random = RandomBatch()
/// random.fill(nonce)
/// ```
///
/// Bytes that were handed out are overwritten here at once, the rest when the batch ends. Never keep a batch for the next call:
/// after a fork, parent and child would use the same nonces.
public final class RandomBatch {
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)
    /// The bytes that were not handed out.
    private var rest = 0..<0
    /// How many bytes the kernel is asked for: at first as many as one item needs, then as many as it gives at once.
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
