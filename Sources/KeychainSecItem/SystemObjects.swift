// SPDX-License-Identifier: Apache-2.0
// Converts access control and authentication contexts to the objects in dictionaries. Only this file depends on their
// module.

import Foundation
import KeychainEngine
import KeychainServices

extension AccessControl {
    /// The object for this access control, if it has a constraint list.
    ///
    /// - Throws: `invalidParameter` if the system does not accept the flags.
    func systemObject(_ flags: Flags) throws(KeychainError) -> SecAccessControl {
        let bits = SecAccessControlCreateFlags(rawValue: CFOptionFlags(truncatingIfNeeded: flags.rawValue))
        guard
            let object = SecAccessControlCreateWithFlags(nil, accessibility.rawValue as CFString, bits, nil)
        else { throw KeychainError(.invalidParameter, "The system does not accept these access control flags.") }
        return object
    }
}

#if canImport(Darwin)
    extension AccessControl {
        /// Apple's objects do not show their flags. That an item has some is known only from its authentication
        /// requirement.
        init?(systemObject: Any?) { return nil }
    }

    extension Authorization {
        var systemObject: LAContext? {
            let (object, settings) = (LAContext(), context.settings)
            if let reason = settings.reason { object.localizedReason = reason }
            object.localizedCancelTitle = settings.cancelTitle
            object.localizedFallbackTitle = settings.fallbackTitle
            object.interactionNotAllowed = settings.isInteractionNotAllowed
            object.touchIDAuthenticationAllowableReuseDuration = settings.reuseDuration / .seconds(1)
            if context.isInvalidated { object.invalidate() }
            return object
        }
    }
#else
    extension AccessControl {
        init?(systemObject: Any?) {
            guard let object = systemObject as? SecAccessControl else { return nil }
            self = object.accessControl
        }
    }

    extension Authorization {
        var systemObject: LAContext? { LAContext(for: self) }
    }
#endif
