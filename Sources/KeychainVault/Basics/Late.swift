// SPDX-License-Identifier: Apache-2.0
// An object that is created at first use.

import Synchronization

/// An object that is created at first use, and then kept. Threads that need it at the same moment may each create one;
/// all of them use the same one.
final class Late<Object: AnyObject & Sendable>: Sendable {
    private let made = AtomicLazyReference<Object>()
    private let make: @Sendable () -> Object

    init(_ make: @escaping @Sendable () -> Object) { self.make = make }

    var object: Object { made.load() ?? made.storeIfNil(make()) }
}
