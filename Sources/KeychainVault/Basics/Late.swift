// SPDX-License-Identifier: Apache-2.0
// An object that is made when it is first needed.

import Synchronization

/// An object that is made when it is first needed, and then kept. Threads that need it at the same moment may each make one; all
/// of them get the same.
final class Late<Object: AnyObject & Sendable>: Sendable {
    private let made = AtomicLazyReference<Object>()
    private let make: @Sendable () -> Object

    init(_ make: @escaping @Sendable () -> Object) { self.make = make }

    var object: Object { made.load() ?? made.storeIfNil(make()) }
}
