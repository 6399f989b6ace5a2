// SPDX-License-Identifier: Apache-2.0
// The status codes of the keychain functions, with Apple's numbers.

#if os(Linux)
    /// The call did what it was asked to do.
    public let errSecSuccess: OSStatus = 0

    /// The function or option does not exist here.
    public let errSecUnimplemented: OSStatus = -4

    /// No space is left on the disk.
    public let errSecDiskFull: OSStatus = -34

    /// Older spelling of `errSecDiskFull`.
    public let errSecDskFull: OSStatus = errSecDiskFull

    /// Reading or writing failed.
    public let errSecIO: OSStatus = -36

    /// A file was already open for writing.
    public let errSecOpWr: OSStatus = -49

    /// An argument is missing, of the wrong type or not allowed in this place.
    public let errSecParam: OSStatus = -50

    /// The caller may not write here.
    public let errSecWrPerm: OSStatus = -61

    /// Memory could not be reserved.
    public let errSecAllocate: OSStatus = -108

    /// The user cancelled an authentication request.
    public let errSecUserCanceled: OSStatus = -128

    /// The call came with a bad argument or at the wrong time.
    public let errSecBadReq: OSStatus = -909

    /// A part inside the framework failed.
    public let errSecInternalComponent: OSStatus = -2070

    /// A Foundation call failed for an unknown reason.
    public let errSecCoreFoundationUnknown: OSStatus = -4960

    /// The caller lacks an entitlement, usually for an access group.
    public let errSecMissingEntitlement: OSStatus = -34018

    /// A restricted caller may not do this.
    public let errSecRestrictedAPI: OSStatus = -34020

    /// The keychain, or a key it needs, cannot be used.
    public let errSecNotAvailable: OSStatus = -25291

    /// The keychain can be read but not changed.
    public let errSecReadOnly: OSStatus = -25292

    /// Authentication failed.
    public let errSecAuthFailed: OSStatus = -25293

    /// The named keychain does not exist.
    public let errSecNoSuchKeychain: OSStatus = -25294

    /// The file is not a keychain.
    public let errSecInvalidKeychain: OSStatus = -25295

    /// A keychain with this name exists already.
    public let errSecDuplicateKeychain: OSStatus = -25296

    /// The callback is installed already.
    public let errSecDuplicateCallback: OSStatus = -25297

    /// The callback cannot be used.
    public let errSecInvalidCallback: OSStatus = -25298

    /// An item with the same primary key exists already.
    public let errSecDuplicateItem: OSStatus = -25299

    /// No item matches.
    public let errSecItemNotFound: OSStatus = -25300

    /// The buffer cannot hold the item.
    public let errSecBufferTooSmall: OSStatus = -25301

    /// The data is larger than the keychain takes.
    public let errSecDataTooLarge: OSStatus = -25302

    /// The class has no such attribute.
    public let errSecNoSuchAttr: OSStatus = -25303

    /// The item reference is no longer good.
    public let errSecInvalidItemRef: OSStatus = -25304

    /// The search reference cannot be used.
    public let errSecInvalidSearchRef: OSStatus = -25305

    /// There is no such item class.
    public let errSecNoSuchClass: OSStatus = -25306

    /// There is no default keychain.
    public let errSecNoDefaultKeychain: OSStatus = -25307

    /// The user would have to act, but must not be asked, or the keychain is locked.
    public let errSecInteractionNotAllowed: OSStatus = -25308

    /// The attribute cannot be changed.
    public let errSecReadOnlyAttr: OSStatus = -25309

    /// Another system version made the keychain.
    public let errSecWrongSecVersion: OSStatus = -25310

    /// The key size is out of range.
    public let errSecKeySizeNotAllowed: OSStatus = -25311

    /// The storage module is missing.
    public let errSecNoStorageModule: OSStatus = -25312

    /// The certificate module is missing.
    public let errSecNoCertificateModule: OSStatus = -25313

    /// The policy module is missing.
    public let errSecNoPolicyModule: OSStatus = -25314

    /// The user must act, which is not possible now.
    public let errSecInteractionRequired: OSStatus = -25315

    /// The contents of the item cannot be read.
    public let errSecDataNotAvailable: OSStatus = -25316

    /// The contents of the item cannot be changed.
    public let errSecDataNotModifiable: OSStatus = -25317

    /// Certificates are missing for a full chain.
    public let errSecCreateChainFailed: OSStatus = -25318

    /// The preferences domain is not valid.
    public let errSecInvalidPrefsDomain: OSStatus = -25319

    /// The system is half awake and cannot show anything.
    public let errSecInDarkWake: OSStatus = -25320

    /// The access list is more than the simple form can express.
    public let errSecACLNotSimple: OSStatus = -25240

    /// The policy does not exist.
    public let errSecPolicyNotFound: OSStatus = -25241

    /// A trust setting is not valid.
    public let errSecInvalidTrustSetting: OSStatus = -25242

    /// The item has no access object.
    public let errSecNoAccessForItem: OSStatus = -25243

    /// The owner of the item cannot be changed like this.
    public let errSecInvalidOwnerEdit: OSStatus = -25244

    /// There are no trust results yet.
    public let errSecTrustNotAvailable: OSStatus = -25245

    /// The import or export format is not supported.
    public let errSecUnsupportedFormat: OSStatus = -25256

    /// The format of the imported data is not known.
    public let errSecUnknownFormat: OSStatus = -25257

    /// The key may only be exported wrapped.
    public let errSecKeyIsSensitive: OSStatus = -25258

    /// The imported data holds several private keys.
    public let errSecMultiplePrivKeys: OSStatus = -25259

    /// Import or export needs a passphrase.
    public let errSecPassphraseRequired: OSStatus = -25260

    /// The password reference is not valid.
    public let errSecInvalidPasswordRef: OSStatus = -25261

    /// The stored trust settings are damaged.
    public let errSecInvalidTrustSettings: OSStatus = -25262

    /// There are no trust settings.
    public let errSecNoTrustSettings: OSStatus = -25263

    /// The integrity check of the PKCS#12 data failed.
    public let errSecPkcs12VerifyFailure: OSStatus = -25264

    /// The claimed parent did not sign the certificate.
    public let errSecNotSigner: OSStatus = -26267

    /// Data could not be decoded or decrypted.
    public let errSecDecode: OSStatus = -26275
#endif
