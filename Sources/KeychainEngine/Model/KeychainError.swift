// SPDX-License-Identifier: Apache-2.0
// The error type, with one reason for each kind of failure, used by all layers.

public import Foundation

/// Why a keychain operation failed. It contains the cause and the place, never the content of an item.
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
    /// Why an operation failed. No layer replaces one reason by another.
    ///
    /// Later versions may have more reasons, so a `switch` over them has a `default`.
    public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The reasons as cases, so that tables of this package need no `default`: each table must have a row for a new
        /// reason.
        package enum Code: String, CaseIterable, Sendable {
            case invalidParameter, noSuchAttribute, noSuchClass, unsupported, undecodableInput, tooLarge
            case itemNotFound, duplicateItem, typeMismatch
            case missingEntitlement, locked, interactionNotAllowed, cancelled, authenticationFailed
            case corrupt, ofAnotherDevice, rolledBack, diskFull, readOnly, busy, timedOut, unavailable, unsafeLocation,
                newerFormat, inputOutput
        }

        // MARK: What was asked for is wrong

        /// A request or an argument is invalid.
        public static let invalidParameter = Reason(.invalidParameter)
        /// Items of the class do not have a given attribute.
        public static let noSuchAttribute = Reason(.noSuchAttribute)
        /// There is no such class of items.
        public static let noSuchClass = Reason(.noSuchClass)
        /// The keychain does not support this.
        public static let unsupported = Reason(.unsupported)
        /// The given data is not in the expected format.
        public static let undecodableInput = Reason(.undecodableInput)
        /// A value is larger than the keychain stores.
        public static let tooLarge = Reason(.tooLarge)

        // MARK: What was asked for is not there, or there already, or of another type

        /// No item matches. The keychain could be searched.
        public static let itemNotFound = Reason(.itemNotFound)
        /// An item with this name already exists, or several items match where one is expected.
        public static let duplicateItem = Reason(.duplicateItem)
        /// The value of an item is not of the requested type.
        public static let typeMismatch = Reason(.typeMismatch)

        // MARK: The caller may not

        /// The program may not use the access group.
        public static let missingEntitlement = Reason(.missingEntitlement)
        /// The keychain is locked.
        public static let locked = Reason(.locked)
        /// An item requires authentication, and the user may not or cannot be asked.
        public static let interactionNotAllowed = Reason(.interactionNotAllowed)
        /// The user cancelled the question, or the program cancelled the call.
        public static let cancelled = Reason(.cancelled)
        /// The user was not authenticated, or a secret is wrong.
        public static let authenticationFailed = Reason(.authenticationFailed)

        // MARK: The store cannot

        /// The item or the vault is damaged.
        public static let corrupt = Reason(.corrupt)
        /// The item can be opened only on another device.
        public static let ofAnotherDevice = Reason(.ofAnotherDevice)
        /// The vault is older than before, or was changed by something other than this package.
        public static let rolledBack = Reason(.rolledBack)
        /// The disk is full.
        public static let diskFull = Reason(.diskFull)
        /// The vault cannot be written.
        public static let readOnly = Reason(.readOnly)
        /// Another program holds the vault, or keeps changing the item.
        public static let busy = Reason(.busy)
        /// The call has reached its timeout.
        public static let timedOut = Reason(.timedOut)
        /// The keychain cannot be reached, or cannot do this now.
        public static let unavailable = Reason(.unavailable)
        /// A file or folder is open to other users, or is not what it should be.
        public static let unsafeLocation = Reason(.unsafeLocation)
        /// The vault was written by a newer version.
        public static let newerFormat = Reason(.newerFormat)
        /// Reading or writing a file failed.
        public static let inputOutput = Reason(.inputOutput)

        // MARK: Names and codes

        /// All reasons that this version knows.
        public static let known: [Reason] = Code.allCases.map { Reason($0) }

        package let code: Code

        private init(_ code: Code) { self.code = code }

        /// The reason of a name; `nil` if this version does not know it.
        public init?(rawValue: String) {
            guard let code = Code(rawValue: rawValue) else { return nil }
            self.code = code
        }

        /// The name of the constant.
        public var rawValue: String { code.rawValue }
        public var description: String { rawValue }

        /// Apple's code (`errSec…`, an `OSStatus`). Several reasons can have the same code, as Apple's list has fewer
        /// codes.
        public var status: Int32 { code.status }
    }

    public let reason: Reason
    /// One or two sentences for the user: what happened, where, and what to do next.
    public let message: String
    /// Apple's code: the one that the system returned, otherwise the code of the reason.
    public let status: Int32

    /// - Parameter status: The code that the system returned; `nil`: the code of the reason.
    public init(_ reason: Reason, _ message: String, status: Int32? = nil) {
        self.reason = reason
        self.message = message
        self.status = status ?? reason.status
    }

    public var description: String { message }

    /// Only items that cannot be opened were found. This is different from `itemNotFound`.
    public static let damagedItem = KeychainError(
        .corrupt, "An item that may match is damaged and was not changed. Restore a backup.")

    /// Only items of another device were found. They are intact and can be opened with the device key of that device.
    public static let itemOfAnotherDevice = KeychainError(
        .ofAnotherDevice,
        "An item that may match is bound to another device and was not changed. Restore the device key of that device. "
            + "To use the item's name again, move the item to the quarantine: keychainctl delete --all")
}

extension KeychainError.Reason.Code {
    fileprivate var status: Int32 {
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

extension KeychainError: LocalizedError {
    /// `NSOSStatusErrorDomain`, which Foundation does not name on Linux.
    public static let errorDomain = "NSOSStatusErrorDomain"
    public var errorCode: Int { Int(status) }
    public var errorDescription: String? { message }
}

#if canImport(Darwin)
    extension KeychainError: CustomNSError {}
#else
    /// What a bridge to `NSError` asks every error for. `CustomNSError` would answer the same, but it would link Foundation and
    /// its tables of languages, half of its size, into every static program that keeps secrets.
    extension KeychainError {
        public var _domain: String { Self.errorDomain }
        public var _code: Int { errorCode }
    }
#endif
