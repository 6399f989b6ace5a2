// SPDX-License-Identifier: Apache-2.0
// Small blocks for secrets: a mapping for each would cost tens of microseconds and a page.

internal import Synchronization

/// Pages that are divided into blocks of 32, 64, 128… bytes. A released block is zeroed, and is used for the next
/// secret of its size.
final class SecretArena: Sendable {
    static let smallestBlock = 32
    static let largestBlock = 4096
    private static let sizes = [65536, 16384, SecretPages.pageSize]

    let pages = SecretPages(sizes: sizes)
    private let blocks = Guarded(Blocks())

    private struct Blocks {
        /// The beginning of the part that was never used.
        var fresh = 0
        /// The offsets of the released blocks, by the binary logarithm of their size.
        var returned = [[Int]](repeating: [], count: largestBlock.trailingZeroBitCount + 1)
    }

    /// A zeroed block of at least this size; `nil` if there is none.
    func reserve(_ count: Int) -> UnsafeMutableRawBufferPointer? {
        guard let size = Self.blockSize(count) else { return nil }
        let end = pages.bytes.count
        let offset: Int? = blocks.withLock { blocks in
            if let offset = blocks.returned[size.trailingZeroBitCount].popLast() { return offset }
            guard blocks.fresh + size <= end else { return nil }
            defer { blocks.fresh += size }
            return blocks.fresh
        }
        return offset.map { UnsafeMutableRawBufferPointer(rebasing: pages.bytes[$0..<$0 + size]) }
    }

    /// Takes back a block that is wiped already.
    func takeBack(_ block: UnsafeMutableRawBufferPointer) {
        guard let start = pages.bytes.baseAddress, let address = block.baseAddress else { return }
        blocks.withLock { $0.returned[block.count.trailingZeroBitCount].append(address - start) }
    }

    static func blockSize(_ count: Int) -> Int? {
        var size = smallestBlock
        while size < count { size *= 2 }
        return size <= largestBlock ? size : nil
    }
}

extension SecretArena {
    // Never released, because any thread may have loaded it.
    private static let latest = Atomic<Unmanaged<SecretArena>?>(nil)

    /// The arena of this process, created at first use.
    ///
    /// A forked child must not change its parent's blocks, and must not wait for a lock that a thread of the parent
    /// held at the fork. So it creates its own arena, and leaves the inherited one unchanged.
    static var current: SecretArena {
        let known = latest.load(ordering: .acquiring)
        if let arena = known?.takeUnretainedValue(), arena.pages.areOfThisProcess { return arena }
        let made = Unmanaged.passRetained(SecretArena())
        let (isFirst, winner) = latest.compareExchange(
            expected: known, desired: made, ordering: .acquiringAndReleasing)
        guard !isFirst, let winner else { return made.takeUnretainedValue() }
        made.release()
        return winner.takeUnretainedValue()
    }
}
