// SPDX-License-Identifier: Apache-2.0
// Search keys that narrow down which items are found.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// Finds certificates and identities that fulfil a policy (`SecPolicy`, with the trait `Certificates`).
    ///
    /// That of `SecPolicyCreateBasicX509` also demands a chain to a trusted root. Those for TLS look at the certificate
    /// alone: its host, purposes, dates and key. The date is that of `kSecMatchValidOnDate`.
    nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"

    /// Limits the search to the listed items (array); accepted and without effect in the data-protection keychain.
    nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"

    /// Limits the search to the listed keychains (array); accepted and without effect in the data-protection keychain.
    nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"

    /// Finds certificates and identities whose chain leads to one of the given issuers (array of DER names as data).
    nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"

    /// Finds certificates and identities that carry this e-mail address (string).
    nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"

    /// Text to look for in a subject name (string); accepted and without effect in the data-protection keychain.
    nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"

    /// Finds internet passwords whose server is this host or lies below it (string).
    nonisolated(unsafe) public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"

    /// Ignore upper and lower case (Boolean); accepted and without effect in the data-protection keychain.
    nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"

    /// Finds certificates and identities from which a chain leads to a trusted root (Boolean, with the trait
    /// `Certificates`).
    nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"

    /// Finds certificates and identities that are valid on a date, null meaning now (date).
    nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

    /// How many items to return: a number, `kSecMatchLimitOne` (the default) or `kSecMatchLimitAll`.
    ///
    /// Items come in the order of their primary key, access group first, which is the same in every keychain
    /// (`Docs/SEMANTICS.md`). A limit returns the first readable items of that order.
    nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"

    /// Return the first item, in the order of the primary key; a value of `kSecMatchLimit`.
    nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"

    /// Return every item found, as an array in the order of the primary key; a value of `kSecMatchLimit`.
    nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"

    /// Start of a subject name (string); accepted and without effect in the data-protection keychain.
    nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"

    /// End of a subject name (string); accepted and without effect in the data-protection keychain.
    nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"

    /// Whole subject name (string); accepted and without effect in the data-protection keychain.
    nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"

    /// Ignore accents (Boolean); accepted and without effect in the data-protection keychain.
    nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"

    /// Ignore character width (Boolean); accepted and without effect in the data-protection keychain.
    nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
#endif
