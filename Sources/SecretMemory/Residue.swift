// SPDX-License-Identifier: Apache-2.0
// Overwrites what other libraries leave behind of a secret after they have given their memory back.

internal import CKeychainShims

/// Overwrites freed small heap blocks, the unused stack of the calling thread, and the vector registers.
///
/// For after a call into a library that puts secrets into memory that it does not wipe. Call it on the same thread, in the
/// function that made the call: an allocator hands out first what the same thread gave back last, so the blocks that are
/// taken here are the ones that the library has just freed. About a thousand allocations and 32 KiB of stack.
///
/// Does not protect against copies in blocks above one kibibyte or in other registers, nor against a block that another thread takes in between
/// (which needs more than seven freed blocks of the same size in glibc), nor with an allocator that gives freed blocks out
/// in another order.
@inline(never)
public func scrubResidue() {
    keychain_scrub_registers()
    for size in stride(from: 16, through: 1024, by: 16) { scrubFreedBlocks(of: size, count: 16) }
    keychain_scrub_stack(32 << 10)
}

/// Overwrites the unused stack of the calling thread directly below the caller, and the vector registers.
///
/// For after a short call that had a secret only there, such as a digest with a secret result. Call it in the function that
/// made the call. 16 KiB of stack, in less than a microsecond.
///
/// Does not protect against copies on the heap: see ``scrubResidue()``.
@inline(never)
public func scrubStack() {
    keychain_scrub_registers()
    keychain_scrub_stack(16 << 10)
}

/// Overwrites blocks of one size that the calling thread has just given back: for after a call that left a secret in one whose
/// size is known, on the same thread. glibc keeps up to seven of a size for each thread, and hands out first what came last.
///
/// Does not protect against copies elsewhere; `scrubResidue()` covers more memory and takes longer.
///
/// - Parameter count: How many to take: above seven, some of those that threads share are among them.
public func scrubFreedBlocks(of size: Int, count: Int) {
    withUnsafeTemporaryAllocation(of: UnsafeMutableRawBufferPointer.self, capacity: count) { blocks in
        for index in blocks.indices {
            let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
            wipeMemory(block)
            blocks.initializeElement(at: index, to: block)
        }
        for block in blocks { block.deallocate() }
    }
}

extension String {
    /// Overwrites the characters where they are stored, for a string that was made from secret bytes and that nobody else
    /// holds; never for a literal.
    public mutating func wipe() {
        withUTF8 { wipeMemory(UnsafeMutableRawBufferPointer(mutating: UnsafeRawBufferPointer($0))) }
        self = ""
    }
}
