// SPDX-License-Identifier: Apache-2.0
// One object for each name, as long as it is in use.

import Synchronization

/// Objects by name, compared byte by byte. The references are weak, and names of released objects are removed.
final class WeakStorage<Object: AnyObject & Sendable>: Sendable {
    private struct Reference: Sendable {
        weak var object: Object?
    }

    private let references = Mutex<[[[UInt8]]: Reference]>([:])

    /// The object with this name; it is created if there is none. Threads that ask at the same time get the same
    /// object.
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
