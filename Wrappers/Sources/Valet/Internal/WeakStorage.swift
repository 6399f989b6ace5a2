// SPDX-License-Identifier: Apache-2.0
// One object for each name, for as long as somebody holds it.

import Synchronization

/// Objects by name, which is compared byte by byte. It keeps none of them alive, and forgets the names of those that are gone.
final class WeakStorage<Object: AnyObject & Sendable>: Sendable {
    private struct Reference: Sendable {
        weak var object: Object?
    }

    private let references = Mutex<[[[UInt8]]: Reference]>([:])

    /// The object of that name, made if there is none. Threads that ask at the same time get the same one.
    func object(_ name: [[UInt8]], orMake make: () -> Object) -> Object {
        references.withLock { references in
            if let object = references[name]?.object { return object }
            references = references.filter { $0.value.object != nil }
            let object = make()
            references[name] = Reference(object: object)
            return object
        }
    }
}
