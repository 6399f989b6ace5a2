// SPDX-License-Identifier: Apache-2.0
// Converts a status of the system to a reason.

import Foundation
public import KeychainEngine
public import KeychainServices

extension KeychainError {
    /// The error for a status of the system. The code is kept in ``status``.
    @_spi(Wrappers) public init(system status: OSStatus) {
        let reason = Reason(system: status)
        let sentence = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "No explanation."
        self.init(reason, "\(sentence) (\(status))", status: status)
    }
}

extension KeychainError.Reason {
    /// The reason for a status. If several reasons have it, the most likely one.
    init(system status: OSStatus) {
        self = Self.bySystemStatus[status] ?? .unavailable
    }

    private static let bySystemStatus: [OSStatus: KeychainError.Reason] = [
        errSecParam: .invalidParameter, errSecBadReq: .invalidParameter, errSecNoSuchAttr: .noSuchAttribute,
        errSecNoSuchClass: .noSuchClass, errSecUnimplemented: .unsupported, errSecDataTooLarge: .tooLarge,
        errSecItemNotFound: .itemNotFound, errSecInvalidItemRef: .itemNotFound,
        errSecDuplicateItem: .duplicateItem, errSecMissingEntitlement: .missingEntitlement,
        errSecRestrictedAPI: .missingEntitlement, errSecInteractionNotAllowed: .locked,
        errSecInteractionRequired: .interactionNotAllowed, errSecUserCanceled: .cancelled,
        errSecAuthFailed: .authenticationFailed, errSecDecode: .corrupt, errSecInvalidKeychain: .corrupt,
        errSecDataNotModifiable: .rolledBack, errSecDiskFull: .diskFull, errSecReadOnly: .readOnly,
        errSecReadOnlyAttr: .invalidParameter,
        errSecWrPerm: .readOnly, errSecWrongSecVersion: .newerFormat, errSecIO: .inputOutput,
        errSecNotAvailable: .unavailable, errSecNoSuchKeychain: .unavailable, errSecAllocate: .unavailable,
    ]
}
