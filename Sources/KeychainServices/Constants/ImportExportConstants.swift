// SPDX-License-Identifier: Apache-2.0
// Option and result keys of PKCS#12 import and export.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// Passphrase of the PKCS#12 data (string).
    nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"

    /// Legacy macOS keychain to import into; kept for source compatibility.
    nonisolated(unsafe) public let kSecImportExportKeychain: CFString = "keychain"

    /// Legacy macOS access object for imported items; kept for source compatibility.
    nonisolated(unsafe) public let kSecImportExportAccess: CFString = "access"

    /// Whether nothing of the file is stored, whatever else the options say (Boolean).
    nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"

    /// Name of an imported item (string).
    nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"

    /// Key identifier of an imported item, usually SHA-1 of the public key (data).
    nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"

    /// Trust object made from the imported certificates (`SecTrust`).
    nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"

    /// Certificate chain of an imported identity (array of `SecCertificate`).
    nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"

    /// Imported identity (`SecIdentity`).
    nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"
#endif
