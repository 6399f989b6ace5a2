// SPDX-License-Identifier: Apache-2.0
// The item classes: the key `kSecClass` and its values.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// Key that names the item class a dictionary talks about; its value is one of the `kSecClass…` constants.
    nonisolated(unsafe) public let kSecClass: CFString = "class"

    /// Class of passwords, tokens and other secrets found by service and account.
    nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"

    /// Class of passwords found by server, protocol, port, path, security domain and account.
    nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"

    /// Class of X.509 certificates found by type, issuer and serial number.
    nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"

    /// Class of public, private and symmetric keys.
    nonisolated(unsafe) public let kSecClassKey: CFString = "keys"

    /// Class of identities: a certificate joined with the private key that belongs to it. Both are items of their own.
    nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
#endif
