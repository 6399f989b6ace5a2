// SPDX-License-Identifier: Apache-2.0
// The store and the access groups that the functions work on.

#if os(Linux)
    package import KeychainEngine

    /// The four item calls over one store, for a program with these access groups.
    ///
    /// The public functions use `shared`; tests create their own.
    package struct Services: Sendable {
        package let engine: Engine
        package let accessGroups: AccessGroups
        /// The store, if it can repeat reads.
        let repeating: (any RepeatingStore)?

        package init(engine: Engine, accessGroups: AccessGroups) {
            self.engine = engine
            self.accessGroups = accessGroups
            repeating = engine.store as? any RepeatingStore
        }
    }
#endif
