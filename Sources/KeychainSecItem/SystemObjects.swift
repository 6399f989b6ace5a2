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

    extension AuthenticationContext {
        var systemObject: LAContext? {
            let (context, settings) = (LAContext(), settings)
            if let reason = settings.reason { context.localizedReason = reason }
            context.localizedCancelTitle = settings.cancelTitle
            context.localizedFallbackTitle = settings.fallbackTitle
            context.interactionNotAllowed = settings.isInteractionNotAllowed
            context.touchIDAuthenticationAllowableReuseDuration = settings.reuseDuration / .seconds(1)
            if isInvalidated { context.invalidate() }
            return context
        }
    }
#else
    extension AccessControl {
        init?(systemObject: Any?) {
            guard let object = systemObject as? SecAccessControl else { return nil }
            self = object.accessControl
        }
    }

    extension AuthenticationContext {
        var systemObject: LAContext? { LAContext(sharing: self) }
    }
#endif
