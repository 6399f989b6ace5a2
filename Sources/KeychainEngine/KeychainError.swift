// SPDX-License-Identifier: Apache-2.0
// Why an operation did not do what was asked: one reason each, from the disk to the surface.

public import Foundation

/// Why a keychain operation failed. It carries cause and place, never the content of an item.
///
/// ```swift
/// do {
///     token = try store.read(String.self, for: "alice")
/// } catch {
///     if error.reason == .locked { askToUnlock() }
/// }
/// ```
///
/// It bridges to an `NSError` of `NSOSStatusErrorDomain` whose code is ``status``.
public struct KeychainError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The distinct outcomes; no layer turns one into another.
    public enum Reason: String, Sendable, CaseIterable {
        // What was asked for is wrong
        case invalidParameter, noSuchAttribute, noSuchClass, unsupported, undecodableInput, tooLarge
        // What was asked for is not there, or there already, or of another type
        case itemNotFound, duplicateItem, typeMismatch
        // The caller may not
        case missingEntitlement, locked, interactionNotAllowed, cancelled, authenticationFailed
        // The store cannot
        case corrupt, ofAnotherDevice, rolledBack, diskFull, readOnly, busy, timedOut, unavailable, unsafeLocation,
            newerFormat, inputOutput
    }

    public let reason: Reason
    /// One or two sentences for a person: what happened, where, and what to do next.
    public let message: String
    /// Apple's code for what happened: the one that the system gave, else that of the reason.
    public let status: Int32

    /// - Parameter status: What the system said, where it said something; `nil`: the reason's own code.
    public init(_ reason: Reason, _ message: String, status: Int32? = nil) {
        self.reason = reason
        self.message = message
        self.status = status ?? reason.status
    }

    public var description: String { message }

    /// Nothing was found that can be opened, and something that cannot: not the same as absent.
    public static let damagedItem = KeychainError(
        .corrupt, "An item that may be the one asked for is damaged and was left as it is. Restore a backup.")

    /// The same of an item for another device alone: whole, and readable where its device key is.
    public static let itemOfAnotherDevice = KeychainError(
        .ofAnotherDevice,
        "An item that may be the one asked for opens on another device alone, and was left as it is. Put back the device key "
            + "that it was made with. To free its name, set it aside: keychainctl delete --all")
}

extension KeychainError.Reason {
    /// Apple's code (`errSec…`, an `OSStatus`). Where Apple has one for several reasons, so have we.
    public var status: Int32 {
        switch self {
        case .invalidParameter: -50  // errSecParam
        case .noSuchAttribute: -25303  // errSecNoSuchAttr
        case .noSuchClass: -25306  // errSecNoSuchClass
        case .unsupported: -4  // errSecUnimplemented
        case .undecodableInput, .typeMismatch, .corrupt, .ofAnotherDevice: -26275  // errSecDecode
        case .tooLarge: -25302  // errSecDataTooLarge
        case .itemNotFound: -25300  // errSecItemNotFound
        case .duplicateItem: -25299  // errSecDuplicateItem
        case .missingEntitlement: -34018  // errSecMissingEntitlement
        case .locked, .interactionNotAllowed: -25308  // errSecInteractionNotAllowed
        case .cancelled: -128  // errSecUserCanceled
        case .authenticationFailed: -25293  // errSecAuthFailed
        case .rolledBack: -25317  // errSecDataNotModifiable
        case .diskFull: -34  // errSecDiskFull
        case .readOnly: -25292  // errSecReadOnly
        case .busy, .timedOut, .unavailable, .unsafeLocation: -25291  // errSecNotAvailable
        case .newerFormat: -25310  // errSecWrongSecVersion
        case .inputOutput: -36  // errSecIO
        }
    }
}

extension KeychainError: LocalizedError, CustomNSError {
    /// `NSOSStatusErrorDomain`, which Foundation does not name on Linux.
    public static let errorDomain = "NSOSStatusErrorDomain"
    public var errorCode: Int { Int(status) }
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
    public var errorDescription: String? { message }
}
