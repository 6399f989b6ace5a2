// SPDX-License-Identifier: Apache-2.0
// The status codes of certificates, trust and cryptographic modules, with Apple's numbers.

// No keychain item function returns them; they are here for code that lists every code.

#if os(Linux)
    /// The required service is not available.
    public let errSecServiceNotAvailable: OSStatus = -67585

    /// The client did not identify itself well enough.
    public let errSecInsufficientClientID: OSStatus = -67586

    /// The device was reset during the operation.
    public let errSecDeviceReset: OSStatus = -67587

    /// The device stopped working.
    public let errSecDeviceFailed: OSStatus = -67588

    /// An application could not be added as a subject of the access list.
    public let errSecAppleAddAppACLSubject: OSStatus = -67589

    /// The public key lacks parameters.
    public let errSecApplePublicKeyIncomplete: OSStatus = -67590

    /// The code signature is not the one on record.
    public let errSecAppleSignatureMismatch: OSStatus = -67591

    /// The start date of the key is not valid.
    public let errSecAppleInvalidKeyStartDate: OSStatus = -67592

    /// The end date of the key is not valid.
    public let errSecAppleInvalidKeyEndDate: OSStatus = -67593

    /// A value could not be converted.
    public let errSecConversionError: OSStatus = -67594

    /// The peer tried to fall back to SSL 2.
    public let errSecAppleSSLv2Rollback: OSStatus = -67595

    /// The quota is used up.
    public let errSecQuotaExceeded: OSStatus = -67596

    /// The file is too big.
    public let errSecFileTooBig: OSStatus = -67597

    /// The database blob is not valid.
    public let errSecInvalidDatabaseBlob: OSStatus = -67598

    /// The key blob is not valid.
    public let errSecInvalidKeyBlob: OSStatus = -67599

    /// The database blob has an incompatible version.
    public let errSecIncompatibleDatabaseBlob: OSStatus = -67600

    /// The key blob has an incompatible version.
    public let errSecIncompatibleKeyBlob: OSStatus = -67601

    /// The host name is not one the certificate was issued for.
    public let errSecHostNameMismatch: OSStatus = -67602

    /// A critical extension of the certificate is not understood.
    public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603

    /// The basic constraints extension is missing.
    public let errSecNoBasicConstraints: OSStatus = -67604

    /// The basic constraints do not say whether this is a certificate authority.
    public let errSecNoBasicConstraintsCA: OSStatus = -67605

    /// The authority key identifier is not valid.
    public let errSecInvalidAuthorityKeyID: OSStatus = -67606

    /// The subject key identifier is not valid.
    public let errSecInvalidSubjectKeyID: OSStatus = -67607

    /// The key usage does not fit the policy.
    public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608

    /// The extended key usage is not valid.
    public let errSecInvalidExtendedKeyUsage: OSStatus = -67609

    /// The key identifiers of two neighbouring certificates do not match.
    public let errSecInvalidIDLinkage: OSStatus = -67610

    /// The chain is longer than its path length constraint allows.
    public let errSecPathLengthConstraintExceeded: OSStatus = -67611

    /// The root certificate is not valid.
    public let errSecInvalidRoot: OSStatus = -67612

    /// The certificate revocation list has expired.
    public let errSecCRLExpired: OSStatus = -67613

    /// The certificate revocation list is not valid yet.
    public let errSecCRLNotValidYet: OSStatus = -67614

    /// The certificate revocation list could not be found.
    public let errSecCRLNotFound: OSStatus = -67615

    /// The server of the certificate revocation list does not answer.
    public let errSecCRLServerDown: OSStatus = -67616

    /// The address of the certificate revocation list is malformed.
    public let errSecCRLBadURI: OSStatus = -67617

    /// The certificate has an unknown extension.
    public let errSecUnknownCertExtension: OSStatus = -67618

    /// The certificate revocation list has an unknown extension.
    public let errSecUnknownCRLExtension: OSStatus = -67619

    /// The certificate revocation list is not trusted.
    public let errSecCRLNotTrusted: OSStatus = -67620

    /// The certificate revocation list was refused by a policy.
    public let errSecCRLPolicyFailed: OSStatus = -67621

    /// The issuing distribution point of the revocation list does not apply.
    public let errSecIDPFailure: OSStatus = -67622

    /// None of the wanted e-mail addresses is in the certificate.
    public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623

    /// The extended key usage does not allow S/MIME.
    public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624

    /// The key usage does not allow S/MIME.
    public let errSecSMIMEBadKeyUsage: OSStatus = -67625

    /// The key usage extension is not marked critical, as S/MIME demands.
    public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626

    /// The certificate contains no e-mail address.
    public let errSecSMIMENoEmailAddress: OSStatus = -67627

    /// The subject alternative name is not marked critical, as S/MIME demands.
    public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628

    /// The extended key usage does not allow TLS.
    public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629

    /// The OCSP response is malformed.
    public let errSecOCSPBadResponse: OSStatus = -67630

    /// The OCSP request is malformed.
    public let errSecOCSPBadRequest: OSStatus = -67631

    /// The OCSP service cannot be reached.
    public let errSecOCSPUnavailable: OSStatus = -67632

    /// The OCSP responder does not know the certificate.
    public let errSecOCSPStatusUnrecognized: OSStatus = -67633

    /// There is no more data.
    public let errSecEndOfData: OSStatus = -67634

    /// The revocation check could not be completed.
    public let errSecIncompleteCertRevocationCheck: OSStatus = -67635

    /// The network failed.
    public let errSecNetworkFailure: OSStatus = -67636

    /// The OCSP response does not lead to a trusted root.
    public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637

    /// The record has changed in the meantime.
    public let errSecRecordModified: OSStatus = -67638

    /// The signature of the OCSP response is not valid.
    public let errSecOCSPSignatureError: OSStatus = -67639

    /// The OCSP response does not name its signer.
    public let errSecOCSPNoSigner: OSStatus = -67640

    /// The OCSP responder called the request malformed.
    public let errSecOCSPResponderMalformedReq: OSStatus = -67641

    /// The OCSP responder had an internal error.
    public let errSecOCSPResponderInternalError: OSStatus = -67642

    /// The OCSP responder is busy and asks to try later.
    public let errSecOCSPResponderTryLater: OSStatus = -67643

    /// The OCSP responder demands a signed request.
    public let errSecOCSPResponderSignatureRequired: OSStatus = -67644

    /// The OCSP responder refused the request as unauthorized.
    public let errSecOCSPResponderUnauthorized: OSStatus = -67645

    /// The nonce of the OCSP response is not the one that was sent.
    public let errSecOCSPResponseNonceMismatch: OSStatus = -67646

    /// The code signing chain has the wrong length.
    public let errSecCodeSigningBadCertChainLength: OSStatus = -67647

    /// The code signing certificate has no basic constraints.
    public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648

    /// The code signing chain has a wrong path length constraint.
    public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649

    /// The code signing certificate has no extended key usage.
    public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650

    /// The certificate may sign code only during development.
    public let errSecCodeSigningDevelopment: OSStatus = -67651

    /// The resource signing chain has the wrong length.
    public let errSecResourceSignBadCertChainLength: OSStatus = -67652

    /// The extended key usage does not allow resource signing.
    public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653

    /// A trust setting forbids this certificate.
    public let errSecTrustSettingDeny: OSStatus = -67654

    /// The subject name is empty or malformed.
    public let errSecInvalidSubjectName: OSStatus = -67655

    /// The certificate has an unknown qualified statement.
    public let errSecUnknownQualifiedCertStatement: OSStatus = -67656

    /// The online request is queued for later.
    public let errSecMobileMeRequestQueued: OSStatus = -67657

    /// The online request was sent on to another server.
    public let errSecMobileMeRequestRedirected: OSStatus = -67658

    /// The online server reported an error.
    public let errSecMobileMeServerError: OSStatus = -67659

    /// The online server cannot be reached.
    public let errSecMobileMeServerNotAvailable: OSStatus = -67660

    /// The online server says that the item exists already.
    public let errSecMobileMeServerAlreadyExists: OSStatus = -67661

    /// A service of the online server failed.
    public let errSecMobileMeServerServiceErr: OSStatus = -67662

    /// An online request is already under way.
    public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663

    /// No online request is under way.
    public let errSecMobileMeNoRequestPending: OSStatus = -67664

    /// The online server could not verify the certificate request.
    public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665

    /// The online server found the request inconsistent.
    public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666

    /// A function was called before initialization.
    public let errSecNotInitialized: OSStatus = -67667

    /// The handle cannot be used in this way.
    public let errSecInvalidHandleUsage: OSStatus = -67668

    /// The caller to be checked was not found among the known modules.
    public let errSecPVCReferentNotFound: OSStatus = -67669

    /// A function address failed its integrity check.
    public let errSecFunctionIntegrityFail: OSStatus = -67670

    /// Something went wrong inside the framework.
    public let errSecInternalError: OSStatus = -67671

    /// A memory error occurred.
    public let errSecMemoryError: OSStatus = -67672

    /// The data is not valid.
    public let errSecInvalidData: OSStatus = -67673

    /// The module directory reported an error.
    public let errSecMDSError: OSStatus = -67674

    /// A pointer is not valid.
    public let errSecInvalidPointer: OSStatus = -67675

    /// A self-test failed.
    public let errSecSelfCheckFailed: OSStatus = -67676

    /// A function failed.
    public let errSecFunctionFailed: OSStatus = -67677

    /// The manifest of a module could not be verified.
    public let errSecModuleManifestVerifyFailed: OSStatus = -67678

    /// The unique identifier is not valid.
    public let errSecInvalidGUID: OSStatus = -67679

    /// The handle is not valid.
    public let errSecInvalidHandle: OSStatus = -67680

    /// The list of databases is not valid.
    public let errSecInvalidDBList: OSStatus = -67681

    /// The pass-through identifier is not valid.
    public let errSecInvalidPassthroughID: OSStatus = -67682

    /// The network address is not valid.
    public let errSecInvalidNetworkAddress: OSStatus = -67683

    /// The certificate revocation list is signed already.
    public let errSecCRLAlreadySigned: OSStatus = -67684

    /// The number of fields is wrong.
    public let errSecInvalidNumberOfFields: OSStatus = -67685

    /// Verification did not succeed.
    public let errSecVerificationFailure: OSStatus = -67686

    /// The tag is not known.
    public let errSecUnknownTag: OSStatus = -67687

    /// The signature is not valid.
    public let errSecInvalidSignature: OSStatus = -67688

    /// The name is not valid.
    public let errSecInvalidName: OSStatus = -67689

    /// The certificate reference is not valid.
    public let errSecInvalidCertificateRef: OSStatus = -67690

    /// The group of certificates is not valid.
    public let errSecInvalidCertificateGroup: OSStatus = -67691

    /// The tag could not be found.
    public let errSecTagNotFound: OSStatus = -67692

    /// The query is not valid.
    public let errSecInvalidQuery: OSStatus = -67693

    /// The value is not valid.
    public let errSecInvalidValue: OSStatus = -67694

    /// A callback failed.
    public let errSecCallbackFailed: OSStatus = -67695

    /// An entry of the access list could not be deleted.
    public let errSecACLDeleteFailed: OSStatus = -67696

    /// An entry of the access list could not be replaced.
    public let errSecACLReplaceFailed: OSStatus = -67697

    /// An entry could not be added to the access list.
    public let errSecACLAddFailed: OSStatus = -67698

    /// The access list could not be changed.
    public let errSecACLChangeFailed: OSStatus = -67699

    /// The access credentials are not valid.
    public let errSecInvalidAccessCredentials: OSStatus = -67700

    /// The record is not valid.
    public let errSecInvalidRecord: OSStatus = -67701

    /// The access list is not valid.
    public let errSecInvalidACL: OSStatus = -67702

    /// The sample shown as a credential is not valid.
    public let errSecInvalidSampleValue: OSStatus = -67703

    /// The version is incompatible.
    public let errSecIncompatibleVersion: OSStatus = -67704

    /// The privilege was not granted.
    public let errSecPrivilegeNotGranted: OSStatus = -67705

    /// The scope is not valid.
    public let errSecInvalidScope: OSStatus = -67706

    /// The check of callers is configured already.
    public let errSecPVCAlreadyConfigured: OSStatus = -67707

    /// The check of callers is not valid.
    public let errSecInvalidPVC: OSStatus = -67708

    /// An elective module manager could not be loaded.
    public let errSecEMMLoadFailed: OSStatus = -67709

    /// An elective module manager could not be unloaded.
    public let errSecEMMUnloadFailed: OSStatus = -67710

    /// An add-in could not be loaded.
    public let errSecAddinLoadFailed: OSStatus = -67711

    /// The key reference is not valid.
    public let errSecInvalidKeyRef: OSStatus = -67712

    /// The key hierarchy is not valid.
    public let errSecInvalidKeyHierarchy: OSStatus = -67713

    /// An add-in could not be unloaded.
    public let errSecAddinUnloadFailed: OSStatus = -67714

    /// A library reference could not be found.
    public let errSecLibraryReferenceNotFound: OSStatus = -67715

    /// The function table of an add-in is not valid.
    public let errSecInvalidAddinFunctionTable: OSStatus = -67716

    /// The service mask is not valid.
    public let errSecInvalidServiceMask: OSStatus = -67717

    /// A module is not loaded.
    public let errSecModuleNotLoaded: OSStatus = -67718

    /// The sub-service identifier is not valid.
    public let errSecInvalidSubServiceID: OSStatus = -67719

    /// The context does not contain the attribute.
    public let errSecAttributeNotInContext: OSStatus = -67720

    /// A module manager could not be initialized.
    public let errSecModuleManagerInitializeFailed: OSStatus = -67721

    /// A module manager could not be found.
    public let errSecModuleManagerNotFound: OSStatus = -67722

    /// The callback for event notifications could not be found.
    public let errSecEventNotificationCallbackNotFound: OSStatus = -67723

    /// The length of the input is wrong.
    public let errSecInputLengthError: OSStatus = -67724

    /// The length of the output is wrong.
    public let errSecOutputLengthError: OSStatus = -67725

    /// The privilege is not supported.
    public let errSecPrivilegeNotSupported: OSStatus = -67726

    /// The device reported an error.
    public let errSecDeviceError: OSStatus = -67727

    /// The handle of the attached module is busy.
    public let errSecAttachHandleBusy: OSStatus = -67728

    /// No one is logged in.
    public let errSecNotLoggedIn: OSStatus = -67729

    /// The algorithm is not the one expected.
    public let errSecAlgorithmMismatch: OSStatus = -67730

    /// The key may not be used for this.
    public let errSecKeyUsageIncorrect: OSStatus = -67731

    /// The key blob has the wrong type.
    public let errSecKeyBlobTypeIncorrect: OSStatus = -67732

    /// The key header contradicts the key.
    public let errSecKeyHeaderInconsistent: OSStatus = -67733

    /// The key format is not supported.
    public let errSecUnsupportedKeyFormat: OSStatus = -67734

    /// The key size is not supported.
    public let errSecUnsupportedKeySize: OSStatus = -67735

    /// The key usage mask is not valid.
    public let errSecInvalidKeyUsageMask: OSStatus = -67736

    /// The key usage mask is not supported.
    public let errSecUnsupportedKeyUsageMask: OSStatus = -67737

    /// The key attribute mask is not valid.
    public let errSecInvalidKeyAttributeMask: OSStatus = -67738

    /// The key attribute mask is not supported.
    public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739

    /// The key label is not valid.
    public let errSecInvalidKeyLabel: OSStatus = -67740

    /// The key label is not supported.
    public let errSecUnsupportedKeyLabel: OSStatus = -67741

    /// The key format is not valid.
    public let errSecInvalidKeyFormat: OSStatus = -67742

    /// A list of buffers is not supported here.
    public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743

    /// The list of input buffers is not valid.
    public let errSecInvalidInputVector: OSStatus = -67744

    /// The list of output buffers is not valid.
    public let errSecInvalidOutputVector: OSStatus = -67745

    /// The context is not valid.
    public let errSecInvalidContext: OSStatus = -67746

    /// The algorithm is not valid.
    public let errSecInvalidAlgorithm: OSStatus = -67747

    /// The key attribute is not valid.
    public let errSecInvalidAttributeKey: OSStatus = -67748

    /// The key attribute is missing.
    public let errSecMissingAttributeKey: OSStatus = -67749

    /// The initialization vector attribute is not valid.
    public let errSecInvalidAttributeInitVector: OSStatus = -67750

    /// The initialization vector attribute is missing.
    public let errSecMissingAttributeInitVector: OSStatus = -67751

    /// The salt attribute is not valid.
    public let errSecInvalidAttributeSalt: OSStatus = -67752

    /// The salt attribute is missing.
    public let errSecMissingAttributeSalt: OSStatus = -67753

    /// The padding attribute is not valid.
    public let errSecInvalidAttributePadding: OSStatus = -67754

    /// The padding attribute is missing.
    public let errSecMissingAttributePadding: OSStatus = -67755

    /// The random number attribute is not valid.
    public let errSecInvalidAttributeRandom: OSStatus = -67756

    /// The random number attribute is missing.
    public let errSecMissingAttributeRandom: OSStatus = -67757

    /// The seed attribute is not valid.
    public let errSecInvalidAttributeSeed: OSStatus = -67758

    /// The seed attribute is missing.
    public let errSecMissingAttributeSeed: OSStatus = -67759

    /// The passphrase attribute is not valid.
    public let errSecInvalidAttributePassphrase: OSStatus = -67760

    /// The passphrase attribute is missing.
    public let errSecMissingAttributePassphrase: OSStatus = -67761

    /// The key length attribute is not valid.
    public let errSecInvalidAttributeKeyLength: OSStatus = -67762

    /// The key length attribute is missing.
    public let errSecMissingAttributeKeyLength: OSStatus = -67763

    /// The block size attribute is not valid.
    public let errSecInvalidAttributeBlockSize: OSStatus = -67764

    /// The block size attribute is missing.
    public let errSecMissingAttributeBlockSize: OSStatus = -67765

    /// The output size attribute is not valid.
    public let errSecInvalidAttributeOutputSize: OSStatus = -67766

    /// The output size attribute is missing.
    public let errSecMissingAttributeOutputSize: OSStatus = -67767

    /// The number of rounds attribute is not valid.
    public let errSecInvalidAttributeRounds: OSStatus = -67768

    /// The number of rounds attribute is missing.
    public let errSecMissingAttributeRounds: OSStatus = -67769

    /// The parameters of the algorithm are not valid.
    public let errSecInvalidAlgorithmParms: OSStatus = -67770

    /// The parameters of the algorithm are missing.
    public let errSecMissingAlgorithmParms: OSStatus = -67771

    /// The label attribute is not valid.
    public let errSecInvalidAttributeLabel: OSStatus = -67772

    /// The label attribute is missing.
    public let errSecMissingAttributeLabel: OSStatus = -67773

    /// The key type attribute is not valid.
    public let errSecInvalidAttributeKeyType: OSStatus = -67774

    /// The key type attribute is missing.
    public let errSecMissingAttributeKeyType: OSStatus = -67775

    /// The mode attribute is not valid.
    public let errSecInvalidAttributeMode: OSStatus = -67776

    /// The mode attribute is missing.
    public let errSecMissingAttributeMode: OSStatus = -67777

    /// The number of effective bits attribute is not valid.
    public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778

    /// The number of effective bits attribute is missing.
    public let errSecMissingAttributeEffectiveBits: OSStatus = -67779

    /// The start date attribute is not valid.
    public let errSecInvalidAttributeStartDate: OSStatus = -67780

    /// The start date attribute is missing.
    public let errSecMissingAttributeStartDate: OSStatus = -67781

    /// The end date attribute is not valid.
    public let errSecInvalidAttributeEndDate: OSStatus = -67782

    /// The end date attribute is missing.
    public let errSecMissingAttributeEndDate: OSStatus = -67783

    /// The version attribute is not valid.
    public let errSecInvalidAttributeVersion: OSStatus = -67784

    /// The version attribute is missing.
    public let errSecMissingAttributeVersion: OSStatus = -67785

    /// The prime attribute is not valid.
    public let errSecInvalidAttributePrime: OSStatus = -67786

    /// The prime attribute is missing.
    public let errSecMissingAttributePrime: OSStatus = -67787

    /// The base attribute is not valid.
    public let errSecInvalidAttributeBase: OSStatus = -67788

    /// The base attribute is missing.
    public let errSecMissingAttributeBase: OSStatus = -67789

    /// The subprime attribute is not valid.
    public let errSecInvalidAttributeSubprime: OSStatus = -67790

    /// The subprime attribute is missing.
    public let errSecMissingAttributeSubprime: OSStatus = -67791

    /// The iteration count attribute is not valid.
    public let errSecInvalidAttributeIterationCount: OSStatus = -67792

    /// The iteration count attribute is missing.
    public let errSecMissingAttributeIterationCount: OSStatus = -67793

    /// The database handle attribute is not valid.
    public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794

    /// The database handle attribute is missing.
    public let errSecMissingAttributeDLDBHandle: OSStatus = -67795

    /// The access credentials attribute is not valid.
    public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796

    /// The access credentials attribute is missing.
    public let errSecMissingAttributeAccessCredentials: OSStatus = -67797

    /// The public key format attribute is not valid.
    public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798

    /// The public key format attribute is missing.
    public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799

    /// The private key format attribute is not valid.
    public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800

    /// The private key format attribute is missing.
    public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801

    /// The symmetric key format attribute is not valid.
    public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802

    /// The symmetric key format attribute is missing.
    public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803

    /// The wrapped key format attribute is not valid.
    public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804

    /// The wrapped key format attribute is missing.
    public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805

    /// A staged operation is still in progress.
    public let errSecStagedOperationInProgress: OSStatus = -67806

    /// A staged operation has not been started.
    public let errSecStagedOperationNotStarted: OSStatus = -67807

    /// A cryptographic check failed.
    public let errSecVerifyFailed: OSStatus = -67808

    /// The size of the result is not known in advance.
    public let errSecQuerySizeUnknown: OSStatus = -67809

    /// The block size is not the one expected.
    public let errSecBlockSizeMismatch: OSStatus = -67810

    /// The public key contradicts the private key.
    public let errSecPublicKeyInconsistent: OSStatus = -67811

    /// The device could not be verified.
    public let errSecDeviceVerifyFailed: OSStatus = -67812

    /// The login name is not valid.
    public let errSecInvalidLoginName: OSStatus = -67813

    /// Someone is logged in already.
    public let errSecAlreadyLoggedIn: OSStatus = -67814

    /// The digest algorithm is not valid.
    public let errSecInvalidDigestAlgorithm: OSStatus = -67815

    /// The group of certificate revocation lists is not valid.
    public let errSecInvalidCRLGroup: OSStatus = -67816

    /// The certificate cannot be used for this operation.
    public let errSecCertificateCannotOperate: OSStatus = -67817

    /// The certificate has expired.
    public let errSecCertificateExpired: OSStatus = -67818

    /// The certificate is not valid yet.
    public let errSecCertificateNotValidYet: OSStatus = -67819

    /// The certificate was revoked.
    public let errSecCertificateRevoked: OSStatus = -67820

    /// The certificate is suspended.
    public let errSecCertificateSuspended: OSStatus = -67821

    /// The credentials do not suffice.
    public let errSecInsufficientCredentials: OSStatus = -67822

    /// The action is not valid.
    public let errSecInvalidAction: OSStatus = -67823

    /// The authority is not valid.
    public let errSecInvalidAuthority: OSStatus = -67824

    /// The action that verifies failed.
    public let errSecVerifyActionFailed: OSStatus = -67825

    /// The certificate authority is not valid.
    public let errSecInvalidCertAuthority: OSStatus = -67826

    /// The authority of the certificate revocation list is not valid.
    public let errSecInvalidCRLAuthority: OSStatus = -67827

    /// Misspelt older name of `errSecInvalidCRLAuthority`.
    public let errSecInvaldCRLAuthority: OSStatus = errSecInvalidCRLAuthority

    /// The encoding of the certificate revocation list is not valid.
    public let errSecInvalidCRLEncoding: OSStatus = -67828

    /// The type of the certificate revocation list is not valid.
    public let errSecInvalidCRLType: OSStatus = -67829

    /// The certificate revocation list is not valid.
    public let errSecInvalidCRL: OSStatus = -67830

    /// The type of the form is not valid.
    public let errSecInvalidFormType: OSStatus = -67831

    /// The ID is not valid.
    public let errSecInvalidID: OSStatus = -67832

    /// The identifier is not valid.
    public let errSecInvalidIdentifier: OSStatus = -67833

    /// The index is not valid.
    public let errSecInvalidIndex: OSStatus = -67834

    /// The policy identifiers are not valid.
    public let errSecInvalidPolicyIdentifiers: OSStatus = -67835

    /// The time string is malformed.
    public let errSecInvalidTimeString: OSStatus = -67836

    /// The reason is not valid.
    public let errSecInvalidReason: OSStatus = -67837

    /// The inputs of the request are not valid.
    public let errSecInvalidRequestInputs: OSStatus = -67838

    /// The list of responses is not valid.
    public let errSecInvalidResponseVector: OSStatus = -67839

    /// The rule that says when to stop is not valid.
    public let errSecInvalidStopOnPolicy: OSStatus = -67840

    /// The tuple is not valid.
    public let errSecInvalidTuple: OSStatus = -67841

    /// More than one value is not supported here.
    public let errSecMultipleValuesUnsupported: OSStatus = -67842

    /// The certificate is not trusted.
    public let errSecNotTrusted: OSStatus = -67843

    /// There is no default authority.
    public let errSecNoDefaultAuthority: OSStatus = -67844

    /// The form was rejected.
    public let errSecRejectedForm: OSStatus = -67845

    /// The request was lost.
    public let errSecRequestLost: OSStatus = -67846

    /// The request was rejected.
    public let errSecRequestRejected: OSStatus = -67847

    /// The type of the address is not supported.
    public let errSecUnsupportedAddressType: OSStatus = -67848

    /// The service is not supported.
    public let errSecUnsupportedService: OSStatus = -67849

    /// The group of tuples is not valid.
    public let errSecInvalidTupleGroup: OSStatus = -67850

    /// The base access lists are not valid.
    public let errSecInvalidBaseACLs: OSStatus = -67851

    /// The credentials of the tuple are not valid.
    public let errSecInvalidTupleCredentials: OSStatus = -67852

    /// Misspelt older name of `errSecInvalidTupleCredentials`.
    public let errSecInvalidTupleCredendtials: OSStatus = errSecInvalidTupleCredentials

    /// The encoding is not valid.
    public let errSecInvalidEncoding: OSStatus = -67853

    /// The validity period is not valid.
    public let errSecInvalidValidityPeriod: OSStatus = -67854

    /// The requestor is not valid.
    public let errSecInvalidRequestor: OSStatus = -67855

    /// The descriptor of the request is not valid.
    public let errSecRequestDescriptor: OSStatus = -67856

    /// The bundle information is not valid.
    public let errSecInvalidBundleInfo: OSStatus = -67857

    /// The index of the certificate revocation list is not valid.
    public let errSecInvalidCRLIndex: OSStatus = -67858

    /// The fields have no values.
    public let errSecNoFieldValues: OSStatus = -67859

    /// The field format is not supported.
    public let errSecUnsupportedFieldFormat: OSStatus = -67860

    /// The index information is not supported.
    public let errSecUnsupportedIndexInfo: OSStatus = -67861

    /// The locality is not supported.
    public let errSecUnsupportedLocality: OSStatus = -67862

    /// The number of attributes is not supported.
    public let errSecUnsupportedNumAttributes: OSStatus = -67863

    /// The number of indexes is not supported.
    public let errSecUnsupportedNumIndexes: OSStatus = -67864

    /// The number of record types is not supported.
    public let errSecUnsupportedNumRecordTypes: OSStatus = -67865

    /// A field was given more than once.
    public let errSecFieldSpecifiedMultiple: OSStatus = -67866

    /// The field format is incompatible.
    public let errSecIncompatibleFieldFormat: OSStatus = -67867

    /// The parsing module is not valid.
    public let errSecInvalidParsingModule: OSStatus = -67868

    /// The database is locked.
    public let errSecDatabaseLocked: OSStatus = -67869

    /// The data store is open.
    public let errSecDatastoreIsOpen: OSStatus = -67870

    /// A value is missing.
    public let errSecMissingValue: OSStatus = -67871

    /// The limits of the query are not supported.
    public let errSecUnsupportedQueryLimits: OSStatus = -67872

    /// The number of selection predicates is not supported.
    public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873

    /// The operator is not supported.
    public let errSecUnsupportedOperator: OSStatus = -67874

    /// The location of the database is not valid.
    public let errSecInvalidDBLocation: OSStatus = -67875

    /// The access request is not valid.
    public let errSecInvalidAccessRequest: OSStatus = -67876

    /// The index information is not valid.
    public let errSecInvalidIndexInfo: OSStatus = -67877

    /// The new owner is not valid.
    public let errSecInvalidNewOwner: OSStatus = -67878

    /// The modification mode is not valid.
    public let errSecInvalidModifyMode: OSStatus = -67879

    /// A required certificate extension is missing.
    public let errSecMissingRequiredExtension: OSStatus = -67880

    /// The extended key usage is not marked critical.
    public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881

    /// The timestamp is missing.
    public let errSecTimestampMissing: OSStatus = -67882

    /// The timestamp is not valid.
    public let errSecTimestampInvalid: OSStatus = -67883

    /// The timestamp is not trusted.
    public let errSecTimestampNotTrusted: OSStatus = -67884

    /// The timestamp service cannot be reached.
    public let errSecTimestampServiceNotAvailable: OSStatus = -67885

    /// The timestamp uses an algorithm that is unknown or not supported.
    public let errSecTimestampBadAlg: OSStatus = -67886

    /// The timestamp request is malformed.
    public let errSecTimestampBadRequest: OSStatus = -67887

    /// The data of the timestamp request has a wrong format.
    public let errSecTimestampBadDataFormat: OSStatus = -67888

    /// The time source of the timestamp service is not available.
    public let errSecTimestampTimeNotAvailable: OSStatus = -67889

    /// The timestamp service does not accept the policy.
    public let errSecTimestampUnacceptedPolicy: OSStatus = -67890

    /// The timestamp service does not accept the extension.
    public let errSecTimestampUnacceptedExtension: OSStatus = -67891

    /// The timestamp service does not have the additional information.
    public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892

    /// The timestamp service had a system failure.
    public let errSecTimestampSystemFailure: OSStatus = -67893

    /// The signing time is missing.
    public let errSecSigningTimeMissing: OSStatus = -67894

    /// The timestamp service rejected the request.
    public let errSecTimestampRejection: OSStatus = -67895

    /// The timestamp service has not answered the request yet.
    public let errSecTimestampWaiting: OSStatus = -67896

    /// A certificate of the timestamp service is about to be revoked.
    public let errSecTimestampRevocationWarning: OSStatus = -67897

    /// A certificate of the timestamp service was revoked.
    public let errSecTimestampRevocationNotification: OSStatus = -67898

    /// The chain does not allow this certificate policy.
    public let errSecCertificatePolicyNotAllowed: OSStatus = -67899

    /// The chain does not allow this certificate name.
    public let errSecCertificateNameNotAllowed: OSStatus = -67900

    /// The certificate is valid for longer than allowed.
    public let errSecCertificateValidityPeriodTooLong: OSStatus = -67901

    /// The certificate belongs to a certificate authority, where an ordinary one is needed.
    public let errSecCertificateIsCA: OSStatus = -67902

    /// The certificate has an extension twice.
    public let errSecCertificateDuplicateExtension: OSStatus = -67903

    /// The certificate lacks a required qualified statement.
    public let errSecMissingQualifiedCertStatement: OSStatus = -67904
#endif
