// SPDX-License-Identifier: Apache-2.0
// Keys under which dictionaries carry the item itself.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// The secret, the key bytes or the DER certificate (data); all classes.
    nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"

    /// Key, certificate or identity object to add or to look for.
    nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"

    /// Persistent reference of the item to look for (data).
    nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"

    /// Password in a shared web credential dictionary (string).
    nonisolated(unsafe) public let kSecSharedPassword: CFString = "spwd"
#endif
