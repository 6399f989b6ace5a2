// SPDX-License-Identifier: Apache-2.0
// Overwrites the residue of secrets that other libraries leave in released memory.

internal import CKeychainShims

/// Overwrites freed small heap blocks, the unused stack of the calling thread, and the vector registers.
///
/// Call it after a call into a library that leaves secrets in memory. Call it on the same thread, in the function that
/// made the call: an allocator first returns the blocks that the same thread released last, so this function gets the
/// blocks that the library has just freed. It makes about a thousand allocations, and overwrites 32 KiB of stack.
///
/// Does not protect against copies in blocks above one kibibyte or in other registers. Does not protect against a block
/// that another thread takes in between, or that becomes part of a larger one (both need more than seven freed blocks of
/// the same size in glibc), or with an allocator that returns freed blocks in another order. Overwrite a secret in place
/// where that is possible.
@inline(never)
public func scrubResidue() {
    keychain_scrub_registers()
    for size in stride(from: 16, through: 1024, by: 16) { scrubFreedBlocks(of: size, count: 16) }
    keychain_scrub_stack(32 << 10)
}

/// Overwrites the unused stack of the calling thread directly below the caller, and the vector registers.
///
/// Call it after a short call that kept a secret only there, such as a digest with a secret result. Call it in the
/// function that made the call. It overwrites 16 KiB of stack in less than a microsecond.
///
/// Does not protect against copies on the heap: see ``scrubResidue()``.
@inline(never)
public func scrubStack() {
    keychain_scrub_registers()
    keychain_scrub_stack(16 << 10)
}

/// Overwrites blocks of one size that the calling thread has just freed, after a call that left a secret in a block of
/// known size. glibc caches up to seven blocks of a size for each thread, and returns the last one first.
///
/// Does not protect against copies elsewhere; `scrubResidue()` covers more memory and takes longer.
///
/// - Parameter count: How many blocks to overwrite, at most 16. Above seven, they include blocks that threads share.
public func scrubFreedBlocks(of size: Int, count: Int) {
    keychain_scrub_freed_blocks(size, count)
}

extension String {
    /// Overwrites the characters in place, for a string that was made from secret bytes and has no other references;
    /// never for a literal.
    public mutating func wipe() {
        withUTF8 { wipeMemory(UnsafeMutableRawBufferPointer(mutating: UnsafeRawBufferPointer($0))) }
        self = ""
    }
}
