// SPDX-License-Identifier: Apache-2.0
// Every public string constant and status code has the value that Apple's has.

import Foundation
import KeychainServices
import Testing

/// One constant: its name, the string this library gives it and the string Apple gives it.
struct Spelling: Sendable {
    let name: String
    let actual: String
    let apple: String

    init(_ name: String, _ actual: CFString, _ apple: String) {
        self.name = name
        self.actual = actual as String
        self.apple = apple
    }
}

/// Constants of one kind, and the groups of names in it that share one string on purpose.
struct Family: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let members: [Spelling]
    let aliases: [Set<String>]

    init(_ name: String, _ members: [Spelling], aliases: [Set<String>] = []) {
        testDescription = name
        self.members = members
        self.aliases = aliases
    }
}

/// One status code: its name, the number this library gives it and the number Apple gives it.
struct StatusRow: Sendable {
    let name: String
    let actual: OSStatus
    let apple: OSStatus

    init(_ name: String, _ actual: OSStatus, _ apple: OSStatus) {
        self.name = name
        self.actual = actual
        self.apple = apple
    }
}

@Suite("Constants")
struct ConstantTests {
    @Test(arguments: families)
    func constants_comparedWithApple_haveTheSameStrings(family: Family) {
        for member in family.members {
            #expect(member.actual == member.apple, "\(member.name)")
        }
    }

    @Test(arguments: families)
    func constants_withinOneFamily_areDistinct(family: Family) {
        for (actual, members) in Dictionary(grouping: family.members, by: \.actual) where members.count > 1 {
            let names = Set(members.map(\.name))
            #expect(family.aliases.contains(names), "\(names.sorted()) share \(actual)")
        }
    }

    @Test func statusCodes_comparedWithApple_haveTheSameNumbers() {
        for row in coreStatusRows + trustStatusRows {
            #expect(row.actual == row.apple, "\(row.name)")
        }
    }

    @Test func statusCodes_exceptAliases_areDistinct() {
        let aliases: [Set<String>] = [
            ["errSecDiskFull", "errSecDskFull"],
            ["errSecInvalidCRLAuthority", "errSecInvaldCRLAuthority"],
            ["errSecInvalidTupleCredentials", "errSecInvalidTupleCredendtials"],
        ]
        let byNumber = Dictionary(grouping: coreStatusRows + trustStatusRows, by: \.actual)
        for (number, rows) in byNumber where rows.count > 1 {
            let names = Set(rows.map(\.name))
            #expect(aliases.contains(names), "\(names.sorted()) share \(number)")
        }
    }

    @Test func trustStatusCodes_takenTogether_fillTheirRange() {
        #expect(Set(trustStatusRows.map(\.actual)) == Set((-67904)...(-67585)))
    }

    @Test func cfBooleans_readAsBool_areTrueAndFalse() {
        #expect(kCFBooleanTrue.boolValue)
        #expect(!kCFBooleanFalse.boolValue)
    }

    @Test func cfError_readWithAccessors_givesItsParts() {
        let error: CFError = NSError(
            domain: NSOSStatusErrorDomain, code: -25300, userInfo: [NSLocalizedDescriptionKey: "gone"])
        #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        #expect(CFErrorGetCode(error) == -25300)
        #expect(CFErrorCopyUserInfo(error).count == 1)
        #expect(CFErrorCopyDescription(error) as String == "gone")
    }

    @Test func cfEqual_ofTwoObjects_comparesByValue() {
        #expect(CFEqual(NSString(string: "a"), kSecAttrAccount) == false)
        #expect(CFEqual(NSString(string: "acct"), kSecAttrAccount))
        #expect(CFEqual(NSNumber(value: 1), NSString(string: "1")) == false)
        #expect(CFEqual(Data([1]) as NSData, NSData(data: Data([1]))))
        let plain = PlainObject()
        #expect(CFEqual(plain, plain))
        #expect(CFEqual(plain, PlainObject()) == false)
    }

    @Test func cfEqual_withNil_neverTraps() {
        #expect(CFEqual(nil, nil))
        #expect(CFEqual(nil, kSecAttrAccount) == false)
        #expect(CFEqual(kSecAttrAccount, nil) == false)
    }
}

/// An object that compares only by identity.
private final class PlainObject {}

private let families: [Family] = [
    Family(
        "kSecClass",
        [
            Spelling("kSecClass", kSecClass, "class"),
            Spelling("kSecClassGenericPassword", kSecClassGenericPassword, "genp"),
            Spelling("kSecClassInternetPassword", kSecClassInternetPassword, "inet"),
            Spelling("kSecClassCertificate", kSecClassCertificate, "cert"),
            Spelling("kSecClassKey", kSecClassKey, "keys"),
            Spelling("kSecClassIdentity", kSecClassIdentity, "idnt"),
        ]),
    Family(
        "kSecAttr",
        [
            Spelling("kSecAttrAccessible", kSecAttrAccessible, "pdmn"),
            Spelling("kSecAttrAccessControl", kSecAttrAccessControl, "accc"),
            Spelling("kSecAttrAccessGroup", kSecAttrAccessGroup, "agrp"),
            Spelling("kSecAttrCreationDate", kSecAttrCreationDate, "cdat"),
            Spelling("kSecAttrModificationDate", kSecAttrModificationDate, "mdat"),
            Spelling("kSecAttrDescription", kSecAttrDescription, "desc"),
            Spelling("kSecAttrComment", kSecAttrComment, "icmt"),
            Spelling("kSecAttrCreator", kSecAttrCreator, "crtr"),
            Spelling("kSecAttrType", kSecAttrType, "type"),
            Spelling("kSecAttrLabel", kSecAttrLabel, "labl"),
            Spelling("kSecAttrIsInvisible", kSecAttrIsInvisible, "invi"),
            Spelling("kSecAttrIsNegative", kSecAttrIsNegative, "nega"),
            Spelling("kSecAttrAccount", kSecAttrAccount, "acct"),
            Spelling("kSecAttrService", kSecAttrService, "svce"),
            Spelling("kSecAttrGeneric", kSecAttrGeneric, "gena"),
            Spelling("kSecAttrSecurityDomain", kSecAttrSecurityDomain, "sdmn"),
            Spelling("kSecAttrServer", kSecAttrServer, "srvr"),
            Spelling("kSecAttrProtocol", kSecAttrProtocol, "ptcl"),
            Spelling("kSecAttrAuthenticationType", kSecAttrAuthenticationType, "atyp"),
            Spelling("kSecAttrPort", kSecAttrPort, "port"),
            Spelling("kSecAttrPath", kSecAttrPath, "path"),
            Spelling("kSecAttrSubject", kSecAttrSubject, "subj"),
            Spelling("kSecAttrIssuer", kSecAttrIssuer, "issr"),
            Spelling("kSecAttrSerialNumber", kSecAttrSerialNumber, "slnr"),
            Spelling("kSecAttrSubjectKeyID", kSecAttrSubjectKeyID, "skid"),
            Spelling("kSecAttrPublicKeyHash", kSecAttrPublicKeyHash, "pkhh"),
            Spelling("kSecAttrCertificateType", kSecAttrCertificateType, "ctyp"),
            Spelling("kSecAttrCertificateEncoding", kSecAttrCertificateEncoding, "cenc"),
            Spelling("kSecAttrKeyClass", kSecAttrKeyClass, "kcls"),
            Spelling("kSecAttrApplicationLabel", kSecAttrApplicationLabel, "klbl"),
            Spelling("kSecAttrIsPermanent", kSecAttrIsPermanent, "perm"),
            Spelling("kSecAttrApplicationTag", kSecAttrApplicationTag, "atag"),
            Spelling("kSecAttrKeyType", kSecAttrKeyType, "type"),
            Spelling("kSecAttrKeySizeInBits", kSecAttrKeySizeInBits, "bsiz"),
            Spelling("kSecAttrEffectiveKeySize", kSecAttrEffectiveKeySize, "esiz"),
            Spelling("kSecAttrIsSensitive", kSecAttrIsSensitive, "sens"),
            Spelling("kSecAttrIsExtractable", kSecAttrIsExtractable, "extr"),
            Spelling("kSecAttrCanEncrypt", kSecAttrCanEncrypt, "encr"),
            Spelling("kSecAttrCanDecrypt", kSecAttrCanDecrypt, "decr"),
            Spelling("kSecAttrCanDerive", kSecAttrCanDerive, "drve"),
            Spelling("kSecAttrCanSign", kSecAttrCanSign, "sign"),
            Spelling("kSecAttrCanVerify", kSecAttrCanVerify, "vrfy"),
            Spelling("kSecAttrCanWrap", kSecAttrCanWrap, "wrap"),
            Spelling("kSecAttrCanUnwrap", kSecAttrCanUnwrap, "unwp"),
            Spelling("kSecAttrSyncViewHint", kSecAttrSyncViewHint, "vwht"),
            Spelling("kSecAttrTokenID", kSecAttrTokenID, "tkid"),
            Spelling("kSecAttrSynchronizable", kSecAttrSynchronizable, "sync"),
            Spelling("kSecAttrPersistantReference", kSecAttrPersistantReference, "persistref"),
            Spelling("kSecAttrPersistentReference", kSecAttrPersistentReference, "persistref"),
            Spelling("kSecAttrAccess", kSecAttrAccess, "acls"),
            Spelling("kSecAttrPRF", kSecAttrPRF, "prf"),
            Spelling("kSecAttrSalt", kSecAttrSalt, "salt"),
            Spelling("kSecAttrRounds", kSecAttrRounds, "rounds"),
            Spelling("kSecAttrAccessGroupToken", kSecAttrAccessGroupToken, "com.apple.token"),
            Spelling("kSecAttrSynchronizableAny", kSecAttrSynchronizableAny, "syna"),
        ],
        aliases: [
            ["kSecAttrType", "kSecAttrKeyType"],
            ["kSecAttrPersistantReference", "kSecAttrPersistentReference"],
        ]),
    Family(
        "kSecMatch",
        [
            Spelling("kSecMatchPolicy", kSecMatchPolicy, "m_Policy"),
            Spelling("kSecMatchItemList", kSecMatchItemList, "m_ItemList"),
            Spelling("kSecMatchSearchList", kSecMatchSearchList, "m_SearchList"),
            Spelling("kSecMatchIssuers", kSecMatchIssuers, "m_Issuers"),
            Spelling("kSecMatchEmailAddressIfPresent", kSecMatchEmailAddressIfPresent, "m_EmailAddressIfPresent"),
            Spelling("kSecMatchSubjectContains", kSecMatchSubjectContains, "m_SubjectContains"),
            Spelling("kSecMatchHostOrSubdomainOfHost", kSecMatchHostOrSubdomainOfHost, "m_HostOrSubdomainOfHost"),
            Spelling("kSecMatchCaseInsensitive", kSecMatchCaseInsensitive, "m_CaseInsensitive"),
            Spelling("kSecMatchTrustedOnly", kSecMatchTrustedOnly, "m_TrustedOnly"),
            Spelling("kSecMatchValidOnDate", kSecMatchValidOnDate, "m_ValidOnDate"),
            Spelling("kSecMatchLimit", kSecMatchLimit, "m_Limit"),
            Spelling("kSecMatchLimitOne", kSecMatchLimitOne, "m_LimitOne"),
            Spelling("kSecMatchLimitAll", kSecMatchLimitAll, "m_LimitAll"),
            Spelling("kSecMatchSubjectStartsWith", kSecMatchSubjectStartsWith, "m_SubjectStartsWith"),
            Spelling("kSecMatchSubjectEndsWith", kSecMatchSubjectEndsWith, "m_SubjectEndsWith"),
            Spelling("kSecMatchSubjectWholeString", kSecMatchSubjectWholeString, "m_SubjectWholeString"),
            Spelling("kSecMatchDiacriticInsensitive", kSecMatchDiacriticInsensitive, "m_DiacriticInsensitive"),
            Spelling("kSecMatchWidthInsensitive", kSecMatchWidthInsensitive, "m_WidthInsensitive"),
        ]),
    Family(
        "kSecReturn",
        [
            Spelling("kSecReturnData", kSecReturnData, "r_Data"),
            Spelling("kSecReturnAttributes", kSecReturnAttributes, "r_Attributes"),
            Spelling("kSecReturnRef", kSecReturnRef, "r_Ref"),
            Spelling("kSecReturnPersistentRef", kSecReturnPersistentRef, "r_PersistentRef"),
        ]),
    Family(
        "kSecValue",
        [
            Spelling("kSecValueData", kSecValueData, "v_Data"),
            Spelling("kSecValueRef", kSecValueRef, "v_Ref"),
            Spelling("kSecValuePersistentRef", kSecValuePersistentRef, "v_PersistentRef"),
            Spelling("kSecSharedPassword", kSecSharedPassword, "spwd"),
        ]),
    Family(
        "kSecUse",
        [
            Spelling("kSecUseItemList", kSecUseItemList, "u_ItemList"),
            Spelling("kSecUseOperationPrompt", kSecUseOperationPrompt, "u_OpPrompt"),
            Spelling("kSecUseNoAuthenticationUI", kSecUseNoAuthenticationUI, "u_NoAuthUI"),
            Spelling("kSecUseAuthenticationUI", kSecUseAuthenticationUI, "u_AuthUI"),
            Spelling("kSecUseDataProtectionKeychain", kSecUseDataProtectionKeychain, "nleg"),
            Spelling("kSecUseUserIndependentKeychain", kSecUseUserIndependentKeychain, "u_UserIndependentKeychain"),
            Spelling("kSecUseAuthenticationUIAllow", kSecUseAuthenticationUIAllow, "u_AuthUIA"),
            Spelling("kSecUseAuthenticationUIFail", kSecUseAuthenticationUIFail, "u_AuthUIF"),
            Spelling("kSecUseAuthenticationUISkip", kSecUseAuthenticationUISkip, "u_AuthUIS"),
            Spelling("kSecUseAuthenticationContext", kSecUseAuthenticationContext, "u_AuthCtx"),
            Spelling("kSecUseKeychain", kSecUseKeychain, "u_Keychain"),
        ]),
    Family(
        "kSecAttrAccessible values",
        [
            Spelling("kSecAttrAccessibleWhenUnlocked", kSecAttrAccessibleWhenUnlocked, "ak"),
            Spelling("kSecAttrAccessibleAfterFirstUnlock", kSecAttrAccessibleAfterFirstUnlock, "ck"),
            Spelling("kSecAttrAccessibleAlways", kSecAttrAccessibleAlways, "dk"),
            Spelling(
                "kSecAttrAccessibleWhenUnlockedThisDeviceOnly", kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
                "aku"),
            Spelling(
                "kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly", kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
                "cku"),
            Spelling("kSecAttrAccessibleAlwaysThisDeviceOnly", kSecAttrAccessibleAlwaysThisDeviceOnly, "dku"),
            Spelling(
                "kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly", kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
                "akpu"),
        ]),
    Family(
        "kSecAttrProtocol values",
        [
            Spelling("kSecAttrProtocolFTP", kSecAttrProtocolFTP, "ftp "),
            Spelling("kSecAttrProtocolFTPAccount", kSecAttrProtocolFTPAccount, "ftpa"),
            Spelling("kSecAttrProtocolHTTP", kSecAttrProtocolHTTP, "http"),
            Spelling("kSecAttrProtocolIRC", kSecAttrProtocolIRC, "irc "),
            Spelling("kSecAttrProtocolNNTP", kSecAttrProtocolNNTP, "nntp"),
            Spelling("kSecAttrProtocolPOP3", kSecAttrProtocolPOP3, "pop3"),
            Spelling("kSecAttrProtocolSMTP", kSecAttrProtocolSMTP, "smtp"),
            Spelling("kSecAttrProtocolSOCKS", kSecAttrProtocolSOCKS, "sox "),
            Spelling("kSecAttrProtocolIMAP", kSecAttrProtocolIMAP, "imap"),
            Spelling("kSecAttrProtocolLDAP", kSecAttrProtocolLDAP, "ldap"),
            Spelling("kSecAttrProtocolAppleTalk", kSecAttrProtocolAppleTalk, "atlk"),
            Spelling("kSecAttrProtocolAFP", kSecAttrProtocolAFP, "afp "),
            Spelling("kSecAttrProtocolTelnet", kSecAttrProtocolTelnet, "teln"),
            Spelling("kSecAttrProtocolSSH", kSecAttrProtocolSSH, "ssh "),
            Spelling("kSecAttrProtocolFTPS", kSecAttrProtocolFTPS, "ftps"),
            Spelling("kSecAttrProtocolHTTPS", kSecAttrProtocolHTTPS, "htps"),
            Spelling("kSecAttrProtocolHTTPProxy", kSecAttrProtocolHTTPProxy, "htpx"),
            Spelling("kSecAttrProtocolHTTPSProxy", kSecAttrProtocolHTTPSProxy, "htsx"),
            Spelling("kSecAttrProtocolFTPProxy", kSecAttrProtocolFTPProxy, "ftpx"),
            Spelling("kSecAttrProtocolSMB", kSecAttrProtocolSMB, "smb "),
            Spelling("kSecAttrProtocolRTSP", kSecAttrProtocolRTSP, "rtsp"),
            Spelling("kSecAttrProtocolRTSPProxy", kSecAttrProtocolRTSPProxy, "rtsx"),
            Spelling("kSecAttrProtocolDAAP", kSecAttrProtocolDAAP, "daap"),
            Spelling("kSecAttrProtocolEPPC", kSecAttrProtocolEPPC, "eppc"),
            Spelling("kSecAttrProtocolIPP", kSecAttrProtocolIPP, "ipp "),
            Spelling("kSecAttrProtocolNNTPS", kSecAttrProtocolNNTPS, "ntps"),
            Spelling("kSecAttrProtocolLDAPS", kSecAttrProtocolLDAPS, "ldps"),
            Spelling("kSecAttrProtocolTelnetS", kSecAttrProtocolTelnetS, "tels"),
            Spelling("kSecAttrProtocolIMAPS", kSecAttrProtocolIMAPS, "imps"),
            Spelling("kSecAttrProtocolIRCS", kSecAttrProtocolIRCS, "ircs"),
            Spelling("kSecAttrProtocolPOP3S", kSecAttrProtocolPOP3S, "pops"),
        ]),
    Family(
        "kSecAttrAuthenticationType values",
        [
            Spelling("kSecAttrAuthenticationTypeNTLM", kSecAttrAuthenticationTypeNTLM, "ntlm"),
            Spelling("kSecAttrAuthenticationTypeMSN", kSecAttrAuthenticationTypeMSN, "msna"),
            Spelling("kSecAttrAuthenticationTypeDPA", kSecAttrAuthenticationTypeDPA, "dpaa"),
            Spelling("kSecAttrAuthenticationTypeRPA", kSecAttrAuthenticationTypeRPA, "rpaa"),
            Spelling("kSecAttrAuthenticationTypeHTTPBasic", kSecAttrAuthenticationTypeHTTPBasic, "http"),
            Spelling("kSecAttrAuthenticationTypeHTTPDigest", kSecAttrAuthenticationTypeHTTPDigest, "httd"),
            Spelling("kSecAttrAuthenticationTypeHTMLForm", kSecAttrAuthenticationTypeHTMLForm, "form"),
            Spelling("kSecAttrAuthenticationTypeDefault", kSecAttrAuthenticationTypeDefault, "dflt"),
        ]),
    Family(
        "kSecAttrKeyClass values",
        [
            Spelling("kSecAttrKeyClassPublic", kSecAttrKeyClassPublic, "0"),
            Spelling("kSecAttrKeyClassPrivate", kSecAttrKeyClassPrivate, "1"),
            Spelling("kSecAttrKeyClassSymmetric", kSecAttrKeyClassSymmetric, "2"),
        ]),
    Family(
        "kSecAttrKeyType values",
        [
            Spelling("kSecAttrKeyTypeRSA", kSecAttrKeyTypeRSA, "42"),
            Spelling("kSecAttrKeyTypeEC", kSecAttrKeyTypeEC, "73"),
            Spelling("kSecAttrKeyTypeECSECPrimeRandom", kSecAttrKeyTypeECSECPrimeRandom, "73"),
            Spelling("kSecAttrKeyTypeDES", kSecAttrKeyTypeDES, "14"),
            Spelling("kSecAttrKeyType3DES", kSecAttrKeyType3DES, "17"),
            Spelling("kSecAttrKeyTypeRC2", kSecAttrKeyTypeRC2, "23"),
            Spelling("kSecAttrKeyTypeRC4", kSecAttrKeyTypeRC4, "25"),
            Spelling("kSecAttrKeyTypeDSA", kSecAttrKeyTypeDSA, "43"),
            Spelling("kSecAttrKeyTypeCAST", kSecAttrKeyTypeCAST, "56"),
            Spelling("kSecAttrKeyTypeECDSA", kSecAttrKeyTypeECDSA, "73"),
            Spelling("kSecAttrKeyTypeAES", kSecAttrKeyTypeAES, "2147483649"),
        ],
        aliases: [
            ["kSecAttrKeyTypeEC", "kSecAttrKeyTypeECSECPrimeRandom", "kSecAttrKeyTypeECDSA"]
        ]),
    Family(
        "kSecAttrPRF values",
        [
            Spelling("kSecAttrPRFHmacAlgSHA1", kSecAttrPRFHmacAlgSHA1, "hsha1"),
            Spelling("kSecAttrPRFHmacAlgSHA224", kSecAttrPRFHmacAlgSHA224, "hsha224"),
            Spelling("kSecAttrPRFHmacAlgSHA256", kSecAttrPRFHmacAlgSHA256, "hsha256"),
            Spelling("kSecAttrPRFHmacAlgSHA384", kSecAttrPRFHmacAlgSHA384, "hsha384"),
            Spelling("kSecAttrPRFHmacAlgSHA512", kSecAttrPRFHmacAlgSHA512, "hsha512"),
        ]),
    Family(
        "other keys and values for keys",
        [
            Spelling("kSecPrivateKeyAttrs", kSecPrivateKeyAttrs, "private"),
            Spelling("kSecPublicKeyAttrs", kSecPublicKeyAttrs, "public"),
            Spelling("kSecAttrTokenIDSecureEnclave", kSecAttrTokenIDSecureEnclave, "com.apple.setoken"),
        ]),
    Family(
        "kSecImport",
        [
            Spelling("kSecImportExportPassphrase", kSecImportExportPassphrase, "passphrase"),
            Spelling("kSecImportExportKeychain", kSecImportExportKeychain, "keychain"),
            Spelling("kSecImportExportAccess", kSecImportExportAccess, "access"),
            Spelling("kSecImportItemLabel", kSecImportItemLabel, "label"),
            Spelling("kSecImportItemKeyID", kSecImportItemKeyID, "keyid"),
            Spelling("kSecImportItemTrust", kSecImportItemTrust, "trust"),
            Spelling("kSecImportItemCertChain", kSecImportItemCertChain, "chain"),
            Spelling("kSecImportItemIdentity", kSecImportItemIdentity, "identity"),
        ]),
]

let coreStatusRows: [StatusRow] = [
    StatusRow("errSecSuccess", errSecSuccess, 0),
    StatusRow("errSecUnimplemented", errSecUnimplemented, -4),
    StatusRow("errSecDiskFull", errSecDiskFull, -34),
    StatusRow("errSecDskFull", errSecDskFull, -34),
    StatusRow("errSecIO", errSecIO, -36),
    StatusRow("errSecOpWr", errSecOpWr, -49),
    StatusRow("errSecParam", errSecParam, -50),
    StatusRow("errSecWrPerm", errSecWrPerm, -61),
    StatusRow("errSecAllocate", errSecAllocate, -108),
    StatusRow("errSecUserCanceled", errSecUserCanceled, -128),
    StatusRow("errSecBadReq", errSecBadReq, -909),
    StatusRow("errSecInternalComponent", errSecInternalComponent, -2070),
    StatusRow("errSecCoreFoundationUnknown", errSecCoreFoundationUnknown, -4960),
    StatusRow("errSecMissingEntitlement", errSecMissingEntitlement, -34018),
    StatusRow("errSecRestrictedAPI", errSecRestrictedAPI, -34020),
    StatusRow("errSecNotAvailable", errSecNotAvailable, -25291),
    StatusRow("errSecReadOnly", errSecReadOnly, -25292),
    StatusRow("errSecAuthFailed", errSecAuthFailed, -25293),
    StatusRow("errSecNoSuchKeychain", errSecNoSuchKeychain, -25294),
    StatusRow("errSecInvalidKeychain", errSecInvalidKeychain, -25295),
    StatusRow("errSecDuplicateKeychain", errSecDuplicateKeychain, -25296),
    StatusRow("errSecDuplicateCallback", errSecDuplicateCallback, -25297),
    StatusRow("errSecInvalidCallback", errSecInvalidCallback, -25298),
    StatusRow("errSecDuplicateItem", errSecDuplicateItem, -25299),
    StatusRow("errSecItemNotFound", errSecItemNotFound, -25300),
    StatusRow("errSecBufferTooSmall", errSecBufferTooSmall, -25301),
    StatusRow("errSecDataTooLarge", errSecDataTooLarge, -25302),
    StatusRow("errSecNoSuchAttr", errSecNoSuchAttr, -25303),
    StatusRow("errSecInvalidItemRef", errSecInvalidItemRef, -25304),
    StatusRow("errSecInvalidSearchRef", errSecInvalidSearchRef, -25305),
    StatusRow("errSecNoSuchClass", errSecNoSuchClass, -25306),
    StatusRow("errSecNoDefaultKeychain", errSecNoDefaultKeychain, -25307),
    StatusRow("errSecInteractionNotAllowed", errSecInteractionNotAllowed, -25308),
    StatusRow("errSecReadOnlyAttr", errSecReadOnlyAttr, -25309),
    StatusRow("errSecWrongSecVersion", errSecWrongSecVersion, -25310),
    StatusRow("errSecKeySizeNotAllowed", errSecKeySizeNotAllowed, -25311),
    StatusRow("errSecNoStorageModule", errSecNoStorageModule, -25312),
    StatusRow("errSecNoCertificateModule", errSecNoCertificateModule, -25313),
    StatusRow("errSecNoPolicyModule", errSecNoPolicyModule, -25314),
    StatusRow("errSecInteractionRequired", errSecInteractionRequired, -25315),
    StatusRow("errSecDataNotAvailable", errSecDataNotAvailable, -25316),
    StatusRow("errSecDataNotModifiable", errSecDataNotModifiable, -25317),
    StatusRow("errSecCreateChainFailed", errSecCreateChainFailed, -25318),
    StatusRow("errSecInvalidPrefsDomain", errSecInvalidPrefsDomain, -25319),
    StatusRow("errSecInDarkWake", errSecInDarkWake, -25320),
    StatusRow("errSecACLNotSimple", errSecACLNotSimple, -25240),
    StatusRow("errSecPolicyNotFound", errSecPolicyNotFound, -25241),
    StatusRow("errSecInvalidTrustSetting", errSecInvalidTrustSetting, -25242),
    StatusRow("errSecNoAccessForItem", errSecNoAccessForItem, -25243),
    StatusRow("errSecInvalidOwnerEdit", errSecInvalidOwnerEdit, -25244),
    StatusRow("errSecTrustNotAvailable", errSecTrustNotAvailable, -25245),
    StatusRow("errSecUnsupportedFormat", errSecUnsupportedFormat, -25256),
    StatusRow("errSecUnknownFormat", errSecUnknownFormat, -25257),
    StatusRow("errSecKeyIsSensitive", errSecKeyIsSensitive, -25258),
    StatusRow("errSecMultiplePrivKeys", errSecMultiplePrivKeys, -25259),
    StatusRow("errSecPassphraseRequired", errSecPassphraseRequired, -25260),
    StatusRow("errSecInvalidPasswordRef", errSecInvalidPasswordRef, -25261),
    StatusRow("errSecInvalidTrustSettings", errSecInvalidTrustSettings, -25262),
    StatusRow("errSecNoTrustSettings", errSecNoTrustSettings, -25263),
    StatusRow("errSecPkcs12VerifyFailure", errSecPkcs12VerifyFailure, -25264),
    StatusRow("errSecNotSigner", errSecNotSigner, -26267),
    StatusRow("errSecDecode", errSecDecode, -26275),
]

let trustStatusRows: [StatusRow] = [
    StatusRow("errSecServiceNotAvailable", errSecServiceNotAvailable, -67585),
    StatusRow("errSecInsufficientClientID", errSecInsufficientClientID, -67586),
    StatusRow("errSecDeviceReset", errSecDeviceReset, -67587),
    StatusRow("errSecDeviceFailed", errSecDeviceFailed, -67588),
    StatusRow("errSecAppleAddAppACLSubject", errSecAppleAddAppACLSubject, -67589),
    StatusRow("errSecApplePublicKeyIncomplete", errSecApplePublicKeyIncomplete, -67590),
    StatusRow("errSecAppleSignatureMismatch", errSecAppleSignatureMismatch, -67591),
    StatusRow("errSecAppleInvalidKeyStartDate", errSecAppleInvalidKeyStartDate, -67592),
    StatusRow("errSecAppleInvalidKeyEndDate", errSecAppleInvalidKeyEndDate, -67593),
    StatusRow("errSecConversionError", errSecConversionError, -67594),
    StatusRow("errSecAppleSSLv2Rollback", errSecAppleSSLv2Rollback, -67595),
    StatusRow("errSecQuotaExceeded", errSecQuotaExceeded, -67596),
    StatusRow("errSecFileTooBig", errSecFileTooBig, -67597),
    StatusRow("errSecInvalidDatabaseBlob", errSecInvalidDatabaseBlob, -67598),
    StatusRow("errSecInvalidKeyBlob", errSecInvalidKeyBlob, -67599),
    StatusRow("errSecIncompatibleDatabaseBlob", errSecIncompatibleDatabaseBlob, -67600),
    StatusRow("errSecIncompatibleKeyBlob", errSecIncompatibleKeyBlob, -67601),
    StatusRow("errSecHostNameMismatch", errSecHostNameMismatch, -67602),
    StatusRow("errSecUnknownCriticalExtensionFlag", errSecUnknownCriticalExtensionFlag, -67603),
    StatusRow("errSecNoBasicConstraints", errSecNoBasicConstraints, -67604),
    StatusRow("errSecNoBasicConstraintsCA", errSecNoBasicConstraintsCA, -67605),
    StatusRow("errSecInvalidAuthorityKeyID", errSecInvalidAuthorityKeyID, -67606),
    StatusRow("errSecInvalidSubjectKeyID", errSecInvalidSubjectKeyID, -67607),
    StatusRow("errSecInvalidKeyUsageForPolicy", errSecInvalidKeyUsageForPolicy, -67608),
    StatusRow("errSecInvalidExtendedKeyUsage", errSecInvalidExtendedKeyUsage, -67609),
    StatusRow("errSecInvalidIDLinkage", errSecInvalidIDLinkage, -67610),
    StatusRow("errSecPathLengthConstraintExceeded", errSecPathLengthConstraintExceeded, -67611),
    StatusRow("errSecInvalidRoot", errSecInvalidRoot, -67612),
    StatusRow("errSecCRLExpired", errSecCRLExpired, -67613),
    StatusRow("errSecCRLNotValidYet", errSecCRLNotValidYet, -67614),
    StatusRow("errSecCRLNotFound", errSecCRLNotFound, -67615),
    StatusRow("errSecCRLServerDown", errSecCRLServerDown, -67616),
    StatusRow("errSecCRLBadURI", errSecCRLBadURI, -67617),
    StatusRow("errSecUnknownCertExtension", errSecUnknownCertExtension, -67618),
    StatusRow("errSecUnknownCRLExtension", errSecUnknownCRLExtension, -67619),
    StatusRow("errSecCRLNotTrusted", errSecCRLNotTrusted, -67620),
    StatusRow("errSecCRLPolicyFailed", errSecCRLPolicyFailed, -67621),
    StatusRow("errSecIDPFailure", errSecIDPFailure, -67622),
    StatusRow("errSecSMIMEEmailAddressesNotFound", errSecSMIMEEmailAddressesNotFound, -67623),
    StatusRow("errSecSMIMEBadExtendedKeyUsage", errSecSMIMEBadExtendedKeyUsage, -67624),
    StatusRow("errSecSMIMEBadKeyUsage", errSecSMIMEBadKeyUsage, -67625),
    StatusRow("errSecSMIMEKeyUsageNotCritical", errSecSMIMEKeyUsageNotCritical, -67626),
    StatusRow("errSecSMIMENoEmailAddress", errSecSMIMENoEmailAddress, -67627),
    StatusRow("errSecSMIMESubjAltNameNotCritical", errSecSMIMESubjAltNameNotCritical, -67628),
    StatusRow("errSecSSLBadExtendedKeyUsage", errSecSSLBadExtendedKeyUsage, -67629),
    StatusRow("errSecOCSPBadResponse", errSecOCSPBadResponse, -67630),
    StatusRow("errSecOCSPBadRequest", errSecOCSPBadRequest, -67631),
    StatusRow("errSecOCSPUnavailable", errSecOCSPUnavailable, -67632),
    StatusRow("errSecOCSPStatusUnrecognized", errSecOCSPStatusUnrecognized, -67633),
    StatusRow("errSecEndOfData", errSecEndOfData, -67634),
    StatusRow("errSecIncompleteCertRevocationCheck", errSecIncompleteCertRevocationCheck, -67635),
    StatusRow("errSecNetworkFailure", errSecNetworkFailure, -67636),
    StatusRow("errSecOCSPNotTrustedToAnchor", errSecOCSPNotTrustedToAnchor, -67637),
    StatusRow("errSecRecordModified", errSecRecordModified, -67638),
    StatusRow("errSecOCSPSignatureError", errSecOCSPSignatureError, -67639),
    StatusRow("errSecOCSPNoSigner", errSecOCSPNoSigner, -67640),
    StatusRow("errSecOCSPResponderMalformedReq", errSecOCSPResponderMalformedReq, -67641),
    StatusRow("errSecOCSPResponderInternalError", errSecOCSPResponderInternalError, -67642),
    StatusRow("errSecOCSPResponderTryLater", errSecOCSPResponderTryLater, -67643),
    StatusRow("errSecOCSPResponderSignatureRequired", errSecOCSPResponderSignatureRequired, -67644),
    StatusRow("errSecOCSPResponderUnauthorized", errSecOCSPResponderUnauthorized, -67645),
    StatusRow("errSecOCSPResponseNonceMismatch", errSecOCSPResponseNonceMismatch, -67646),
    StatusRow("errSecCodeSigningBadCertChainLength", errSecCodeSigningBadCertChainLength, -67647),
    StatusRow("errSecCodeSigningNoBasicConstraints", errSecCodeSigningNoBasicConstraints, -67648),
    StatusRow("errSecCodeSigningBadPathLengthConstraint", errSecCodeSigningBadPathLengthConstraint, -67649),
    StatusRow("errSecCodeSigningNoExtendedKeyUsage", errSecCodeSigningNoExtendedKeyUsage, -67650),
    StatusRow("errSecCodeSigningDevelopment", errSecCodeSigningDevelopment, -67651),
    StatusRow("errSecResourceSignBadCertChainLength", errSecResourceSignBadCertChainLength, -67652),
    StatusRow("errSecResourceSignBadExtKeyUsage", errSecResourceSignBadExtKeyUsage, -67653),
    StatusRow("errSecTrustSettingDeny", errSecTrustSettingDeny, -67654),
    StatusRow("errSecInvalidSubjectName", errSecInvalidSubjectName, -67655),
    StatusRow("errSecUnknownQualifiedCertStatement", errSecUnknownQualifiedCertStatement, -67656),
    StatusRow("errSecMobileMeRequestQueued", errSecMobileMeRequestQueued, -67657),
    StatusRow("errSecMobileMeRequestRedirected", errSecMobileMeRequestRedirected, -67658),
    StatusRow("errSecMobileMeServerError", errSecMobileMeServerError, -67659),
    StatusRow("errSecMobileMeServerNotAvailable", errSecMobileMeServerNotAvailable, -67660),
    StatusRow("errSecMobileMeServerAlreadyExists", errSecMobileMeServerAlreadyExists, -67661),
    StatusRow("errSecMobileMeServerServiceErr", errSecMobileMeServerServiceErr, -67662),
    StatusRow("errSecMobileMeRequestAlreadyPending", errSecMobileMeRequestAlreadyPending, -67663),
    StatusRow("errSecMobileMeNoRequestPending", errSecMobileMeNoRequestPending, -67664),
    StatusRow("errSecMobileMeCSRVerifyFailure", errSecMobileMeCSRVerifyFailure, -67665),
    StatusRow("errSecMobileMeFailedConsistencyCheck", errSecMobileMeFailedConsistencyCheck, -67666),
    StatusRow("errSecNotInitialized", errSecNotInitialized, -67667),
    StatusRow("errSecInvalidHandleUsage", errSecInvalidHandleUsage, -67668),
    StatusRow("errSecPVCReferentNotFound", errSecPVCReferentNotFound, -67669),
    StatusRow("errSecFunctionIntegrityFail", errSecFunctionIntegrityFail, -67670),
    StatusRow("errSecInternalError", errSecInternalError, -67671),
    StatusRow("errSecMemoryError", errSecMemoryError, -67672),
    StatusRow("errSecInvalidData", errSecInvalidData, -67673),
    StatusRow("errSecMDSError", errSecMDSError, -67674),
    StatusRow("errSecInvalidPointer", errSecInvalidPointer, -67675),
    StatusRow("errSecSelfCheckFailed", errSecSelfCheckFailed, -67676),
    StatusRow("errSecFunctionFailed", errSecFunctionFailed, -67677),
    StatusRow("errSecModuleManifestVerifyFailed", errSecModuleManifestVerifyFailed, -67678),
    StatusRow("errSecInvalidGUID", errSecInvalidGUID, -67679),
    StatusRow("errSecInvalidHandle", errSecInvalidHandle, -67680),
    StatusRow("errSecInvalidDBList", errSecInvalidDBList, -67681),
    StatusRow("errSecInvalidPassthroughID", errSecInvalidPassthroughID, -67682),
    StatusRow("errSecInvalidNetworkAddress", errSecInvalidNetworkAddress, -67683),
    StatusRow("errSecCRLAlreadySigned", errSecCRLAlreadySigned, -67684),
    StatusRow("errSecInvalidNumberOfFields", errSecInvalidNumberOfFields, -67685),
    StatusRow("errSecVerificationFailure", errSecVerificationFailure, -67686),
    StatusRow("errSecUnknownTag", errSecUnknownTag, -67687),
    StatusRow("errSecInvalidSignature", errSecInvalidSignature, -67688),
    StatusRow("errSecInvalidName", errSecInvalidName, -67689),
    StatusRow("errSecInvalidCertificateRef", errSecInvalidCertificateRef, -67690),
    StatusRow("errSecInvalidCertificateGroup", errSecInvalidCertificateGroup, -67691),
    StatusRow("errSecTagNotFound", errSecTagNotFound, -67692),
    StatusRow("errSecInvalidQuery", errSecInvalidQuery, -67693),
    StatusRow("errSecInvalidValue", errSecInvalidValue, -67694),
    StatusRow("errSecCallbackFailed", errSecCallbackFailed, -67695),
    StatusRow("errSecACLDeleteFailed", errSecACLDeleteFailed, -67696),
    StatusRow("errSecACLReplaceFailed", errSecACLReplaceFailed, -67697),
    StatusRow("errSecACLAddFailed", errSecACLAddFailed, -67698),
    StatusRow("errSecACLChangeFailed", errSecACLChangeFailed, -67699),
    StatusRow("errSecInvalidAccessCredentials", errSecInvalidAccessCredentials, -67700),
    StatusRow("errSecInvalidRecord", errSecInvalidRecord, -67701),
    StatusRow("errSecInvalidACL", errSecInvalidACL, -67702),
    StatusRow("errSecInvalidSampleValue", errSecInvalidSampleValue, -67703),
    StatusRow("errSecIncompatibleVersion", errSecIncompatibleVersion, -67704),
    StatusRow("errSecPrivilegeNotGranted", errSecPrivilegeNotGranted, -67705),
    StatusRow("errSecInvalidScope", errSecInvalidScope, -67706),
    StatusRow("errSecPVCAlreadyConfigured", errSecPVCAlreadyConfigured, -67707),
    StatusRow("errSecInvalidPVC", errSecInvalidPVC, -67708),
    StatusRow("errSecEMMLoadFailed", errSecEMMLoadFailed, -67709),
    StatusRow("errSecEMMUnloadFailed", errSecEMMUnloadFailed, -67710),
    StatusRow("errSecAddinLoadFailed", errSecAddinLoadFailed, -67711),
    StatusRow("errSecInvalidKeyRef", errSecInvalidKeyRef, -67712),
    StatusRow("errSecInvalidKeyHierarchy", errSecInvalidKeyHierarchy, -67713),
    StatusRow("errSecAddinUnloadFailed", errSecAddinUnloadFailed, -67714),
    StatusRow("errSecLibraryReferenceNotFound", errSecLibraryReferenceNotFound, -67715),
    StatusRow("errSecInvalidAddinFunctionTable", errSecInvalidAddinFunctionTable, -67716),
    StatusRow("errSecInvalidServiceMask", errSecInvalidServiceMask, -67717),
    StatusRow("errSecModuleNotLoaded", errSecModuleNotLoaded, -67718),
    StatusRow("errSecInvalidSubServiceID", errSecInvalidSubServiceID, -67719),
    StatusRow("errSecAttributeNotInContext", errSecAttributeNotInContext, -67720),
    StatusRow("errSecModuleManagerInitializeFailed", errSecModuleManagerInitializeFailed, -67721),
    StatusRow("errSecModuleManagerNotFound", errSecModuleManagerNotFound, -67722),
    StatusRow("errSecEventNotificationCallbackNotFound", errSecEventNotificationCallbackNotFound, -67723),
    StatusRow("errSecInputLengthError", errSecInputLengthError, -67724),
    StatusRow("errSecOutputLengthError", errSecOutputLengthError, -67725),
    StatusRow("errSecPrivilegeNotSupported", errSecPrivilegeNotSupported, -67726),
    StatusRow("errSecDeviceError", errSecDeviceError, -67727),
    StatusRow("errSecAttachHandleBusy", errSecAttachHandleBusy, -67728),
    StatusRow("errSecNotLoggedIn", errSecNotLoggedIn, -67729),
    StatusRow("errSecAlgorithmMismatch", errSecAlgorithmMismatch, -67730),
    StatusRow("errSecKeyUsageIncorrect", errSecKeyUsageIncorrect, -67731),
    StatusRow("errSecKeyBlobTypeIncorrect", errSecKeyBlobTypeIncorrect, -67732),
    StatusRow("errSecKeyHeaderInconsistent", errSecKeyHeaderInconsistent, -67733),
    StatusRow("errSecUnsupportedKeyFormat", errSecUnsupportedKeyFormat, -67734),
    StatusRow("errSecUnsupportedKeySize", errSecUnsupportedKeySize, -67735),
    StatusRow("errSecInvalidKeyUsageMask", errSecInvalidKeyUsageMask, -67736),
    StatusRow("errSecUnsupportedKeyUsageMask", errSecUnsupportedKeyUsageMask, -67737),
    StatusRow("errSecInvalidKeyAttributeMask", errSecInvalidKeyAttributeMask, -67738),
    StatusRow("errSecUnsupportedKeyAttributeMask", errSecUnsupportedKeyAttributeMask, -67739),
    StatusRow("errSecInvalidKeyLabel", errSecInvalidKeyLabel, -67740),
    StatusRow("errSecUnsupportedKeyLabel", errSecUnsupportedKeyLabel, -67741),
    StatusRow("errSecInvalidKeyFormat", errSecInvalidKeyFormat, -67742),
    StatusRow("errSecUnsupportedVectorOfBuffers", errSecUnsupportedVectorOfBuffers, -67743),
    StatusRow("errSecInvalidInputVector", errSecInvalidInputVector, -67744),
    StatusRow("errSecInvalidOutputVector", errSecInvalidOutputVector, -67745),
    StatusRow("errSecInvalidContext", errSecInvalidContext, -67746),
    StatusRow("errSecInvalidAlgorithm", errSecInvalidAlgorithm, -67747),
    StatusRow("errSecInvalidAttributeKey", errSecInvalidAttributeKey, -67748),
    StatusRow("errSecMissingAttributeKey", errSecMissingAttributeKey, -67749),
    StatusRow("errSecInvalidAttributeInitVector", errSecInvalidAttributeInitVector, -67750),
    StatusRow("errSecMissingAttributeInitVector", errSecMissingAttributeInitVector, -67751),
    StatusRow("errSecInvalidAttributeSalt", errSecInvalidAttributeSalt, -67752),
    StatusRow("errSecMissingAttributeSalt", errSecMissingAttributeSalt, -67753),
    StatusRow("errSecInvalidAttributePadding", errSecInvalidAttributePadding, -67754),
    StatusRow("errSecMissingAttributePadding", errSecMissingAttributePadding, -67755),
    StatusRow("errSecInvalidAttributeRandom", errSecInvalidAttributeRandom, -67756),
    StatusRow("errSecMissingAttributeRandom", errSecMissingAttributeRandom, -67757),
    StatusRow("errSecInvalidAttributeSeed", errSecInvalidAttributeSeed, -67758),
    StatusRow("errSecMissingAttributeSeed", errSecMissingAttributeSeed, -67759),
    StatusRow("errSecInvalidAttributePassphrase", errSecInvalidAttributePassphrase, -67760),
    StatusRow("errSecMissingAttributePassphrase", errSecMissingAttributePassphrase, -67761),
    StatusRow("errSecInvalidAttributeKeyLength", errSecInvalidAttributeKeyLength, -67762),
    StatusRow("errSecMissingAttributeKeyLength", errSecMissingAttributeKeyLength, -67763),
    StatusRow("errSecInvalidAttributeBlockSize", errSecInvalidAttributeBlockSize, -67764),
    StatusRow("errSecMissingAttributeBlockSize", errSecMissingAttributeBlockSize, -67765),
    StatusRow("errSecInvalidAttributeOutputSize", errSecInvalidAttributeOutputSize, -67766),
    StatusRow("errSecMissingAttributeOutputSize", errSecMissingAttributeOutputSize, -67767),
    StatusRow("errSecInvalidAttributeRounds", errSecInvalidAttributeRounds, -67768),
    StatusRow("errSecMissingAttributeRounds", errSecMissingAttributeRounds, -67769),
    StatusRow("errSecInvalidAlgorithmParms", errSecInvalidAlgorithmParms, -67770),
    StatusRow("errSecMissingAlgorithmParms", errSecMissingAlgorithmParms, -67771),
    StatusRow("errSecInvalidAttributeLabel", errSecInvalidAttributeLabel, -67772),
    StatusRow("errSecMissingAttributeLabel", errSecMissingAttributeLabel, -67773),
    StatusRow("errSecInvalidAttributeKeyType", errSecInvalidAttributeKeyType, -67774),
    StatusRow("errSecMissingAttributeKeyType", errSecMissingAttributeKeyType, -67775),
    StatusRow("errSecInvalidAttributeMode", errSecInvalidAttributeMode, -67776),
    StatusRow("errSecMissingAttributeMode", errSecMissingAttributeMode, -67777),
    StatusRow("errSecInvalidAttributeEffectiveBits", errSecInvalidAttributeEffectiveBits, -67778),
    StatusRow("errSecMissingAttributeEffectiveBits", errSecMissingAttributeEffectiveBits, -67779),
    StatusRow("errSecInvalidAttributeStartDate", errSecInvalidAttributeStartDate, -67780),
    StatusRow("errSecMissingAttributeStartDate", errSecMissingAttributeStartDate, -67781),
    StatusRow("errSecInvalidAttributeEndDate", errSecInvalidAttributeEndDate, -67782),
    StatusRow("errSecMissingAttributeEndDate", errSecMissingAttributeEndDate, -67783),
    StatusRow("errSecInvalidAttributeVersion", errSecInvalidAttributeVersion, -67784),
    StatusRow("errSecMissingAttributeVersion", errSecMissingAttributeVersion, -67785),
    StatusRow("errSecInvalidAttributePrime", errSecInvalidAttributePrime, -67786),
    StatusRow("errSecMissingAttributePrime", errSecMissingAttributePrime, -67787),
    StatusRow("errSecInvalidAttributeBase", errSecInvalidAttributeBase, -67788),
    StatusRow("errSecMissingAttributeBase", errSecMissingAttributeBase, -67789),
    StatusRow("errSecInvalidAttributeSubprime", errSecInvalidAttributeSubprime, -67790),
    StatusRow("errSecMissingAttributeSubprime", errSecMissingAttributeSubprime, -67791),
    StatusRow("errSecInvalidAttributeIterationCount", errSecInvalidAttributeIterationCount, -67792),
    StatusRow("errSecMissingAttributeIterationCount", errSecMissingAttributeIterationCount, -67793),
    StatusRow("errSecInvalidAttributeDLDBHandle", errSecInvalidAttributeDLDBHandle, -67794),
    StatusRow("errSecMissingAttributeDLDBHandle", errSecMissingAttributeDLDBHandle, -67795),
    StatusRow("errSecInvalidAttributeAccessCredentials", errSecInvalidAttributeAccessCredentials, -67796),
    StatusRow("errSecMissingAttributeAccessCredentials", errSecMissingAttributeAccessCredentials, -67797),
    StatusRow("errSecInvalidAttributePublicKeyFormat", errSecInvalidAttributePublicKeyFormat, -67798),
    StatusRow("errSecMissingAttributePublicKeyFormat", errSecMissingAttributePublicKeyFormat, -67799),
    StatusRow("errSecInvalidAttributePrivateKeyFormat", errSecInvalidAttributePrivateKeyFormat, -67800),
    StatusRow("errSecMissingAttributePrivateKeyFormat", errSecMissingAttributePrivateKeyFormat, -67801),
    StatusRow("errSecInvalidAttributeSymmetricKeyFormat", errSecInvalidAttributeSymmetricKeyFormat, -67802),
    StatusRow("errSecMissingAttributeSymmetricKeyFormat", errSecMissingAttributeSymmetricKeyFormat, -67803),
    StatusRow("errSecInvalidAttributeWrappedKeyFormat", errSecInvalidAttributeWrappedKeyFormat, -67804),
    StatusRow("errSecMissingAttributeWrappedKeyFormat", errSecMissingAttributeWrappedKeyFormat, -67805),
    StatusRow("errSecStagedOperationInProgress", errSecStagedOperationInProgress, -67806),
    StatusRow("errSecStagedOperationNotStarted", errSecStagedOperationNotStarted, -67807),
    StatusRow("errSecVerifyFailed", errSecVerifyFailed, -67808),
    StatusRow("errSecQuerySizeUnknown", errSecQuerySizeUnknown, -67809),
    StatusRow("errSecBlockSizeMismatch", errSecBlockSizeMismatch, -67810),
    StatusRow("errSecPublicKeyInconsistent", errSecPublicKeyInconsistent, -67811),
    StatusRow("errSecDeviceVerifyFailed", errSecDeviceVerifyFailed, -67812),
    StatusRow("errSecInvalidLoginName", errSecInvalidLoginName, -67813),
    StatusRow("errSecAlreadyLoggedIn", errSecAlreadyLoggedIn, -67814),
    StatusRow("errSecInvalidDigestAlgorithm", errSecInvalidDigestAlgorithm, -67815),
    StatusRow("errSecInvalidCRLGroup", errSecInvalidCRLGroup, -67816),
    StatusRow("errSecCertificateCannotOperate", errSecCertificateCannotOperate, -67817),
    StatusRow("errSecCertificateExpired", errSecCertificateExpired, -67818),
    StatusRow("errSecCertificateNotValidYet", errSecCertificateNotValidYet, -67819),
    StatusRow("errSecCertificateRevoked", errSecCertificateRevoked, -67820),
    StatusRow("errSecCertificateSuspended", errSecCertificateSuspended, -67821),
    StatusRow("errSecInsufficientCredentials", errSecInsufficientCredentials, -67822),
    StatusRow("errSecInvalidAction", errSecInvalidAction, -67823),
    StatusRow("errSecInvalidAuthority", errSecInvalidAuthority, -67824),
    StatusRow("errSecVerifyActionFailed", errSecVerifyActionFailed, -67825),
    StatusRow("errSecInvalidCertAuthority", errSecInvalidCertAuthority, -67826),
    StatusRow("errSecInvalidCRLAuthority", errSecInvalidCRLAuthority, -67827),
    StatusRow("errSecInvaldCRLAuthority", errSecInvaldCRLAuthority, -67827),
    StatusRow("errSecInvalidCRLEncoding", errSecInvalidCRLEncoding, -67828),
    StatusRow("errSecInvalidCRLType", errSecInvalidCRLType, -67829),
    StatusRow("errSecInvalidCRL", errSecInvalidCRL, -67830),
    StatusRow("errSecInvalidFormType", errSecInvalidFormType, -67831),
    StatusRow("errSecInvalidID", errSecInvalidID, -67832),
    StatusRow("errSecInvalidIdentifier", errSecInvalidIdentifier, -67833),
    StatusRow("errSecInvalidIndex", errSecInvalidIndex, -67834),
    StatusRow("errSecInvalidPolicyIdentifiers", errSecInvalidPolicyIdentifiers, -67835),
    StatusRow("errSecInvalidTimeString", errSecInvalidTimeString, -67836),
    StatusRow("errSecInvalidReason", errSecInvalidReason, -67837),
    StatusRow("errSecInvalidRequestInputs", errSecInvalidRequestInputs, -67838),
    StatusRow("errSecInvalidResponseVector", errSecInvalidResponseVector, -67839),
    StatusRow("errSecInvalidStopOnPolicy", errSecInvalidStopOnPolicy, -67840),
    StatusRow("errSecInvalidTuple", errSecInvalidTuple, -67841),
    StatusRow("errSecMultipleValuesUnsupported", errSecMultipleValuesUnsupported, -67842),
    StatusRow("errSecNotTrusted", errSecNotTrusted, -67843),
    StatusRow("errSecNoDefaultAuthority", errSecNoDefaultAuthority, -67844),
    StatusRow("errSecRejectedForm", errSecRejectedForm, -67845),
    StatusRow("errSecRequestLost", errSecRequestLost, -67846),
    StatusRow("errSecRequestRejected", errSecRequestRejected, -67847),
    StatusRow("errSecUnsupportedAddressType", errSecUnsupportedAddressType, -67848),
    StatusRow("errSecUnsupportedService", errSecUnsupportedService, -67849),
    StatusRow("errSecInvalidTupleGroup", errSecInvalidTupleGroup, -67850),
    StatusRow("errSecInvalidBaseACLs", errSecInvalidBaseACLs, -67851),
    StatusRow("errSecInvalidTupleCredentials", errSecInvalidTupleCredentials, -67852),
    StatusRow("errSecInvalidTupleCredendtials", errSecInvalidTupleCredendtials, -67852),
    StatusRow("errSecInvalidEncoding", errSecInvalidEncoding, -67853),
    StatusRow("errSecInvalidValidityPeriod", errSecInvalidValidityPeriod, -67854),
    StatusRow("errSecInvalidRequestor", errSecInvalidRequestor, -67855),
    StatusRow("errSecRequestDescriptor", errSecRequestDescriptor, -67856),
    StatusRow("errSecInvalidBundleInfo", errSecInvalidBundleInfo, -67857),
    StatusRow("errSecInvalidCRLIndex", errSecInvalidCRLIndex, -67858),
    StatusRow("errSecNoFieldValues", errSecNoFieldValues, -67859),
    StatusRow("errSecUnsupportedFieldFormat", errSecUnsupportedFieldFormat, -67860),
    StatusRow("errSecUnsupportedIndexInfo", errSecUnsupportedIndexInfo, -67861),
    StatusRow("errSecUnsupportedLocality", errSecUnsupportedLocality, -67862),
    StatusRow("errSecUnsupportedNumAttributes", errSecUnsupportedNumAttributes, -67863),
    StatusRow("errSecUnsupportedNumIndexes", errSecUnsupportedNumIndexes, -67864),
    StatusRow("errSecUnsupportedNumRecordTypes", errSecUnsupportedNumRecordTypes, -67865),
    StatusRow("errSecFieldSpecifiedMultiple", errSecFieldSpecifiedMultiple, -67866),
    StatusRow("errSecIncompatibleFieldFormat", errSecIncompatibleFieldFormat, -67867),
    StatusRow("errSecInvalidParsingModule", errSecInvalidParsingModule, -67868),
    StatusRow("errSecDatabaseLocked", errSecDatabaseLocked, -67869),
    StatusRow("errSecDatastoreIsOpen", errSecDatastoreIsOpen, -67870),
    StatusRow("errSecMissingValue", errSecMissingValue, -67871),
    StatusRow("errSecUnsupportedQueryLimits", errSecUnsupportedQueryLimits, -67872),
    StatusRow("errSecUnsupportedNumSelectionPreds", errSecUnsupportedNumSelectionPreds, -67873),
    StatusRow("errSecUnsupportedOperator", errSecUnsupportedOperator, -67874),
    StatusRow("errSecInvalidDBLocation", errSecInvalidDBLocation, -67875),
    StatusRow("errSecInvalidAccessRequest", errSecInvalidAccessRequest, -67876),
    StatusRow("errSecInvalidIndexInfo", errSecInvalidIndexInfo, -67877),
    StatusRow("errSecInvalidNewOwner", errSecInvalidNewOwner, -67878),
    StatusRow("errSecInvalidModifyMode", errSecInvalidModifyMode, -67879),
    StatusRow("errSecMissingRequiredExtension", errSecMissingRequiredExtension, -67880),
    StatusRow("errSecExtendedKeyUsageNotCritical", errSecExtendedKeyUsageNotCritical, -67881),
    StatusRow("errSecTimestampMissing", errSecTimestampMissing, -67882),
    StatusRow("errSecTimestampInvalid", errSecTimestampInvalid, -67883),
    StatusRow("errSecTimestampNotTrusted", errSecTimestampNotTrusted, -67884),
    StatusRow("errSecTimestampServiceNotAvailable", errSecTimestampServiceNotAvailable, -67885),
    StatusRow("errSecTimestampBadAlg", errSecTimestampBadAlg, -67886),
    StatusRow("errSecTimestampBadRequest", errSecTimestampBadRequest, -67887),
    StatusRow("errSecTimestampBadDataFormat", errSecTimestampBadDataFormat, -67888),
    StatusRow("errSecTimestampTimeNotAvailable", errSecTimestampTimeNotAvailable, -67889),
    StatusRow("errSecTimestampUnacceptedPolicy", errSecTimestampUnacceptedPolicy, -67890),
    StatusRow("errSecTimestampUnacceptedExtension", errSecTimestampUnacceptedExtension, -67891),
    StatusRow("errSecTimestampAddInfoNotAvailable", errSecTimestampAddInfoNotAvailable, -67892),
    StatusRow("errSecTimestampSystemFailure", errSecTimestampSystemFailure, -67893),
    StatusRow("errSecSigningTimeMissing", errSecSigningTimeMissing, -67894),
    StatusRow("errSecTimestampRejection", errSecTimestampRejection, -67895),
    StatusRow("errSecTimestampWaiting", errSecTimestampWaiting, -67896),
    StatusRow("errSecTimestampRevocationWarning", errSecTimestampRevocationWarning, -67897),
    StatusRow("errSecTimestampRevocationNotification", errSecTimestampRevocationNotification, -67898),
    StatusRow("errSecCertificatePolicyNotAllowed", errSecCertificatePolicyNotAllowed, -67899),
    StatusRow("errSecCertificateNameNotAllowed", errSecCertificateNameNotAllowed, -67900),
    StatusRow("errSecCertificateValidityPeriodTooLong", errSecCertificateValidityPeriodTooLong, -67901),
    StatusRow("errSecCertificateIsCA", errSecCertificateIsCA, -67902),
    StatusRow("errSecCertificateDuplicateExtension", errSecCertificateDuplicateExtension, -67903),
    StatusRow("errSecMissingQualifiedCertStatement", errSecMissingQualifiedCertStatement, -67904),
]
