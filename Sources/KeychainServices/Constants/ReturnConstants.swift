// SPDX-License-Identifier: Apache-2.0
// Keys that choose the form of the result.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// Return the secret, the key bytes or the DER certificate as data (Boolean).
    nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"

    /// Return the attributes as a dictionary (Boolean).
    nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"

    /// Return a reference object such as a key, certificate or identity (Boolean).
    nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"

    /// Return a persistent reference, which can be stored and used later (Boolean, result is data).
    nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"
#endif
