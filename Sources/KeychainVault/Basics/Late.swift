// SPDX-License-Identifier: Apache-2.0
// An object that is created at first use.

import Synchronization

/// An object that is created at first use, and then kept. Threads that need it at the same moment may each create one;
/// all of them use the same one.
///
/// The library's `AtomicLazyReference` does the same, but every use goes through its generic code, which takes longer than
/// a system call; each read and write of the vault uses such an object.
final class Late<Object: AnyObject & Sendable>: Sendable {
    /// Retained once, and never replaced.
    private let made = Atomic<Unmanaged<Object>?>(nil)
    private let make: @Sendable () -> Object

    init(_ make: @escaping @Sendable () -> Object) { self.make = make }

    deinit { made.load(ordering: .acquiring)?.release() }

    var object: Object { made.load(ordering: .acquiring)?.takeUnretainedValue() ?? storeIfFirst(make()) }

    private func storeIfFirst(_ object: Object) -> Object {
        let new = Unmanaged.passRetained(object)
        let (_, former) = made.compareExchange(expected: nil, desired: new, ordering: .acquiringAndReleasing)
        guard let former else { return object }
        new.release()
        return former.takeUnretainedValue()
    }
}
