// SPDX-License-Identifier: Apache-2.0
// The table of exit codes. The numbers are stable, because scripts rely on them.

import KeychainKit

/// The result of a run, for scripts. The numbers never change their meaning; `keychainctl --help` shows them.
enum ExitStatus: Int32, CaseIterable {
    case success = 0
    case failure = 1
    case notFound = 3
    case ambiguous = 4
    case locked = 5
    case cancelled = 6
    case denied = 7
    case corrupt = 8
    case diskFull = 9
    case readOnly = 10
    case busy = 11
    case timedOut = 12
    case unavailable = 13
    case unsupported = 14
    case unsafeLocation = 15
    case newerFormat = 16
    case inputOutput = 17
    case tooLarge = 18
    case rolledBack = 19
    case ofAnotherDevice = 20
    /// The number that the argument parser uses (EX_USAGE).
    case usage = 64

    var meaning: String {
        switch self {
        case .success: "success"
        case .failure: "any other failure"
        case .notFound: "no item matches"
        case .ambiguous: "the item already exists, or several items match"
        case .locked: "the keychain is locked"
        case .cancelled: "cancelled at a prompt or by the editor (^C ends the tool with SIGINT)"
        case .denied: "not allowed, or a wrong passphrase or key"
        case .corrupt: "the vault or the item is damaged"
        case .diskFull: "no space left"
        case .readOnly: "the vault cannot be written"
        case .busy: "the vault is busy: another process is using it"
        case .timedOut: "timed out"
        case .unavailable: "unavailable: no HOME, no vault, no device key, no permission"
        case .unsupported: "not supported"
        case .unsafeLocation: "a file or folder has unsafe permissions or the wrong type"
        case .newerFormat: "the vault was written by a newer version"
        case .inputOutput: "reading or writing failed"
        case .tooLarge: "the value is too large"
        case .rolledBack: "the vault was rolled back or changed; see: keychainctl accept --help"
        case .ofAnotherDevice: "the item is bound to another device"
        case .usage: "invalid arguments or input"
        }
    }

    /// The rows of the help.
    static var table: String {
        allCases.map { status in
            let number = String(status.rawValue)
            return String(repeating: " ", count: 4 - number.count) + number + "  " + status.meaning
        }.joined(separator: "\n")
    }
}

extension KeychainError.Reason {
    /// There is no `default`, so that a new reason must get a number before this compiles.
    var exitStatus: ExitStatus {
        switch code {
        case .invalidParameter, .noSuchAttribute, .noSuchClass: .usage
        case .undecodableInput, .typeMismatch: .failure
        case .unsupported: .unsupported
        case .tooLarge: .tooLarge
        case .itemNotFound: .notFound
        case .duplicateItem: .ambiguous
        case .missingEntitlement, .authenticationFailed: .denied
        case .locked, .interactionNotAllowed: .locked
        case .cancelled: .cancelled
        case .corrupt: .corrupt
        case .rolledBack: .rolledBack
        case .ofAnotherDevice: .ofAnotherDevice
        case .diskFull: .diskFull
        case .readOnly: .readOnly
        case .busy: .busy
        case .timedOut: .timedOut
        case .unavailable: .unavailable
        case .unsafeLocation: .unsafeLocation
        case .newerFormat: .newerFormat
        case .inputOutput: .inputOutput
        }
    }
}
