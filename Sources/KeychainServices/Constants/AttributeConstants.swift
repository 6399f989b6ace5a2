// SPDX-License-Identifier: Apache-2.0
// The attribute keys of items, and two values that attributes share.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// When the item can be decrypted: one of the `kSecAttrAccessible…` strings; all classes.
    nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"

    /// Access control object that an item is guarded by (`SecAccessControl`); all classes, not together with
    /// `kSecAttrAccessible`.
    nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"

    /// Access group that owns the item (string, part of the primary key); all classes.
    nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"

    /// Moment at which the item was added (date, set by the keychain); all classes.
    nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"

    /// Moment at which the item was last written (date, set by the keychain); all classes.
    nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"

    /// Kind of the item, as text for the user (string); generic and internet passwords.
    nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"

    /// Free remark of the user or the app (string); generic and internet passwords.
    nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"

    /// Four-character code of the program that made the item (number); passwords, and part of the primary key of keys.
    nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"

    /// Four-character code of the item's own type (number); generic and internet passwords.
    nonisolated(unsafe) public let kSecAttrType: CFString = "type"

    /// Name shown to the user (string, not part of the primary key); all classes.
    nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"

    /// Whether lists of items should hide this one (Boolean); generic and internet passwords.
    nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"

    /// Whether the item stands for "no password, always ask" (Boolean); generic and internet passwords.
    nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"

    /// Account name (string, part of the primary key, empty when left out); generic and internet passwords.
    nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"

    /// Service the secret is for (string, part of the primary key, empty when left out); generic passwords.
    nonisolated(unsafe) public let kSecAttrService: CFString = "svce"

    /// Free bytes that an app attaches to the item (data); generic passwords.
    nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"

    /// Security domain, such as an HTTP realm (string, part of the primary key); internet passwords.
    nonisolated(unsafe) public let kSecAttrSecurityDomain: CFString = "sdmn"

    /// Host name or address of the server (string, part of the primary key); internet passwords.
    nonisolated(unsafe) public let kSecAttrServer: CFString = "srvr"

    /// Protocol spoken with the server: one of the `kSecAttrProtocol…` values, part of the primary key; internet
    /// passwords.
    nonisolated(unsafe) public let kSecAttrProtocol: CFString = "ptcl"

    /// Way to log in: one of the `kSecAttrAuthenticationType…` values, part of the primary key; internet passwords.
    nonisolated(unsafe) public let kSecAttrAuthenticationType: CFString = "atyp"

    /// Port number (number, part of the primary key, 0 when left out); internet passwords.
    nonisolated(unsafe) public let kSecAttrPort: CFString = "port"

    /// Path component of the URL (string, part of the primary key); internet passwords.
    nonisolated(unsafe) public let kSecAttrPath: CFString = "path"

    /// Normalized subject name (data, read from the certificate); certificates and identities.
    nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"

    /// Normalized issuer name (data, part of the primary key); certificates and identities.
    nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"

    /// Serial number (data, part of the primary key); certificates and identities.
    nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"

    /// Subject key identifier (data, present when the certificate has one); certificates and identities.
    nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"

    /// SHA-1 of the public key bytes (data); certificates and identities.
    nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"

    /// X.509 version of the certificate (number, part of the primary key); certificates and identities.
    nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"

    /// Encoding of the certificate, 3 for DER (number); certificates and identities.
    nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"

    /// Public, private or symmetric: one of the `kSecAttrKeyClass…` values, part of the primary key; keys and
    /// identities.
    nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"

    /// Label for look-ups by program, usually SHA-1 of the public key (data, part of the primary key); keys and
    /// identities.
    nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl"

    /// Whether the key is stored in the keychain when it is made (Boolean); keys and identities.
    nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm"

    /// Private tag by which an app finds its key (data, part of the primary key); keys and identities.
    nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag"

    /// Algorithm: one of the `kSecAttrKeyType…` values, part of the primary key; keys and identities.
    nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"

    /// Number of bits in the key (number, part of the primary key); keys and identities.
    nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz"

    /// Number of bits that count for security (number, part of the primary key); keys and identities.
    nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz"

    /// Whether the key may leave the keychain only when wrapped (Boolean); keys and identities.
    nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens"

    /// Whether the key may leave the keychain at all (Boolean); keys and identities.
    nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr"

    /// Whether the key may encrypt (Boolean); keys and identities.
    nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr"

    /// Whether the key may decrypt (Boolean); keys and identities.
    nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr"

    /// Whether other keys may be derived from this one (Boolean); keys and identities.
    nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve"

    /// Whether the key may make signatures (Boolean); keys and identities.
    nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign"

    /// Whether the key may check signatures (Boolean); keys and identities.
    nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy"

    /// Whether the key may wrap other keys (Boolean); keys and identities.
    nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap"

    /// Whether the key may unwrap other keys (Boolean); keys and identities.
    nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp"

    /// Name of the synchronization view the item belongs to (string, part of the primary key); all classes.
    nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"

    /// Identifier of the hardware token that holds the item (string, part of the primary key); all classes.
    nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid"

    /// Whether the item is synchronized (Boolean, part of the primary key) or, in a search, also
    /// `kSecAttrSynchronizableAny`; all classes.
    nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"

    /// Misspelt older name of `kSecAttrPersistentReference`, with the same value.
    nonisolated(unsafe) public let kSecAttrPersistantReference: CFString = "persistref"

    /// Attribute behind persistent references (data); all classes, never present in returned attributes.
    nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"

    /// Legacy macOS access object (ACL) of an item; kept for source compatibility.
    nonisolated(unsafe) public let kSecAttrAccess: CFString = "acls"

    /// Pseudo-random function of a key derivation: one of the `kSecAttrPRFHmacAlg…` values.
    nonisolated(unsafe) public let kSecAttrPRF: CFString = "prf"

    /// Salt of a key derivation (data).
    nonisolated(unsafe) public let kSecAttrSalt: CFString = "salt"

    /// Number of rounds of a key derivation (number).
    nonisolated(unsafe) public let kSecAttrRounds: CFString = "rounds"

    /// Access group that holds the items of attached hardware tokens; a value of `kSecAttrAccessGroup`.
    nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"

    /// Finds synchronized and local items alike; a value of `kSecAttrSynchronizable` in a search.
    nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"
#endif
