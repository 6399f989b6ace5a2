// SPDX-License-Identifier: Apache-2.0
// Access control and authentication as the objects that dictionaries hold. The only place that knows whose they are.

import Foundation
import KeychainEngine
import KeychainServices

extension AccessControl {
    /// The object that stands for this, if it has a constraint list.
    ///
    /// - Throws: `invalidParameter` if the system does not take the flags.
    func systemObject(_ flags: Flags) throws(KeychainError) -> SecAccessControl {
        let bits = SecAccessControlCreateFlags(rawValue: CFOptionFlags(truncatingIfNeeded: flags.rawValue))
        guard
            let object = SecAccessControlCreateWithFlags(nil, accessibility.rawValue as CFString, bits, nil)
        else { throw KeychainError(.invalidParameter, "The system does not take these access control flags.") }
        return object
    }
}

#if canImport(Darwin)
    extension AccessControl {
        /// Apple's objects do not tell their flags: that an item has some is known only by what it asks for.
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
