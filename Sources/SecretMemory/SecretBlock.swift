// SPDX-License-Identifier: Apache-2.0
// The memory of one secret: a part of the arena, or separate pages.

/// Memory for one secret, zeroed on reservation and on release.
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

    /// Wipes the memory and returns it.
    ///
    /// In a forked child the block belongs to the parent: the child only wipes its own copy, and does not use the block
    /// again.
    func release() {
        let isOurs = pages.areOfThisProcess
        guard isOurs || pages.areCopiedByFork else { return }
        wipeMemory(bytes)
        if isOurs { arena?.takeBack(bytes) }
    }
}
