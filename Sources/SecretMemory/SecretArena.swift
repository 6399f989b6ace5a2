// SPDX-License-Identifier: Apache-2.0
// Small blocks for secrets: a mapping for each would cost tens of microseconds and a page.

internal import Synchronization

/// Pages that are given out in blocks of 32, 64, 128… bytes. A block that comes back is zero and waits for the next
/// secret of its size.
final class SecretArena: Sendable {
    static let smallestBlock = 32
    static let largestBlock = 4096
    private static let sizes = [65536, 16384, SecretPages.pageSize]

    let pages = SecretPages(sizes: sizes)
    private let blocks = Guarded(Blocks())

    private struct Blocks {
        /// Where the part begins that was never given out.
        var fresh = 0
        /// Where the blocks lie that came back, by the power of two that is their size.
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

    /// Takes back a block, which is wiped already.
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
    // Never released, so that every thread that has loaded it may use it.
    private static let latest = Atomic<Unmanaged<SecretArena>?>(nil)

    /// The arena of this process, made when it is first needed.
    ///
    /// A forked child must neither change its parent's blocks nor wait for a lock that one of its parent's threads held
    /// at the fork; so it makes an arena of its own, and leaves the inherited one as it is.
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
