// SPDX-License-Identifier: Apache-2.0
// The memory of one secret: a part of the arena, or pages of its own.

/// Memory for one secret, zeroed, until it is released.
struct SecretBlock {
    let bytes: UnsafeMutableRawBufferPointer
    let pages: SecretPages
    private let arena: SecretArena?

    init(count: Int, from arena: SecretArena = .current) {
        if let bytes = arena.reserve(count) {
            (self.bytes, pages, self.arena) = (bytes, arena.pages, arena)
        } else {
            pages = SecretPages(sizes: [SecretPages.roundedUp(count)])
            (bytes, self.arena) = (pages.bytes, nil)
        }
    }

    /// Wipes the memory and gives it back.
    ///
    /// In a forked child the block is still the parent's: the child wipes nothing but what is a copy, and takes nothing
    /// for the next secret.
    func release() {
        let isOurs = pages.areOfThisProcess
        guard isOurs || pages.areCopiedByFork else { return }
        wipeMemory(bytes)
        if isOurs { arena?.takeBack(bytes) }
    }
}
