// SPDX-License-Identifier: Apache-2.0
// The one table from reasons of failure to status codes.

import KeychainEngine

extension KeychainFailure.Reason {
    /// The status code that callers of the C API get.
    ///
    /// Where Apple has one code for several reasons, so have we; the reason itself is told by the typed API.
    var status: OSStatus {
        switch self {
        case .invalidParameter: errSecParam
        case .noSuchAttribute: errSecNoSuchAttr
        case .noSuchClass: errSecNoSuchClass
        case .unsupported: errSecUnimplemented
        case .undecodableInput: errSecDecode
        case .tooLarge: errSecDataTooLarge
        case .itemNotFound: errSecItemNotFound
        case .duplicateItem: errSecDuplicateItem
        case .missingEntitlement: errSecMissingEntitlement
        case .locked, .interactionNotAllowed: errSecInteractionNotAllowed
        case .cancelled: errSecUserCanceled
        case .authenticationFailed: errSecAuthFailed
        case .corrupt: errSecDecode
        case .diskFull: errSecDiskFull
        case .readOnly: errSecReadOnly
        case .busy, .timedOut, .unavailable, .unsafeLocation: errSecNotAvailable
        case .newerFormat: errSecWrongSecVersion
        case .inputOutput: errSecIO
        }
    }
}
