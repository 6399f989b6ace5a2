// SPDX-License-Identifier: Apache-2.0
// Something that is made when it is first wanted.

import Synchronization

/// What costs more to make than to keep.
final class MadeOnce<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    func value(_ make: () -> Value) -> Value {
        if let value = state.withLock({ $0 }) { return value }
        // Not while it is held: what makes it may take other locks. Of two that make it the first counts.
        let value = make()
        return state.withLock { state in
            if state == nil { state = value }
            return state ?? value
        }
    }
}
