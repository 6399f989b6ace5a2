// SPDX-License-Identifier: Apache-2.0
// The access groups that options name.

import ArgumentParser
import KeychainEngine

enum AccessGroupName {
    /// Refuses the group of the keychain itself. Reading by name leaves out what is stored there, and removing all of it
    /// would remove the settings of the history and the keys of a ring.
    @Sendable static func checked(_ name: String) throws -> String {
        guard !name.utf8.elementsEqual(AccessGroups.internalGroup.utf8) else {
            throw ValidationError("The items of that group belong to the keychain itself.")
        }
        return name
    }
}
