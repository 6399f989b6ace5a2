// SPDX-License-Identifier: Apache-2.0
// Why a command of `security` failed, and the number and text that scripts expect for it.

import KeychainKit

/// The result of a failed command of `security`.
struct SecurityFailure: Error {
    /// The line on standard error; `nil` if everything was said.
    var text: String?
    /// The number that macOS's command returns. Its low byte is the exit code.
    let status: Int32
    var isUsage = false

    /// The exit code that stands for wrong usage.
    static let usageStatus: Int32 = 2

    /// Shows the usage of the command after the text.
    static func usage(_ text: String? = nil) -> SecurityFailure {
        SecurityFailure(text: text, status: usageStatus, isUsage: true)
    }

    /// - Parameter function: The name that macOS's command writes before the message.
    init(_ function: String, _ error: KeychainError) {
        self.init(function, error.status, SecurityStatus.message(error))
    }

    init(_ function: String, _ status: Int32, _ message: String? = nil) {
        self.init(text: "security: \(function): \(message ?? SecurityStatus.text(status))", status: status)
    }

    init(text: String?, status: Int32, isUsage: Bool = false) {
        (self.text, self.status, self.isUsage) = (text, status, isUsage)
    }

    /// No failure has the exit code 0, whatever its number is.
    var exitCode: Int32 {
        let low = Int32(UInt8(truncatingIfNeeded: status))
        return low == 0 ? 1 : low
    }

    /// The same with the exit code 1, as `dump-keychain` and others have for every error.
    var withoutStatus: SecurityFailure { SecurityFailure(text: text, status: isUsage ? status : 1, isUsage: isUsage) }
}

/// Runs `body`, whose errors get the name of a function.
func naming<Result>(
    _ function: String, _ body: () throws(KeychainError) -> Result
) throws(SecurityFailure) -> Result {
    do throws(KeychainError) {
        return try body()
    } catch {
        throw SecurityFailure(function, error)
    }
}

/// Runs `body`, all of whose errors have the exit code 1.
func endingWithOne<Result>(
    _ body: () throws(SecurityFailure) -> Result
) throws(SecurityFailure) -> Result {
    do throws(SecurityFailure) {
        return try body()
    } catch {
        throw error.withoutStatus
    }
}

/// The numbers that macOS has for errors, and its words for them.
enum SecurityStatus {
    static let noSuchKeychain: Int32 = -25294
    static let invalidKeychain: Int32 = -25295
    static let duplicateKeychain: Int32 = -25296
    static let itemNotFound: Int32 = -25300
    static let duplicateItem: Int32 = -25299
    static let interactionNotAllowed: Int32 = -25308
    static let parameter: Int32 = -50
    static let unsupported: Int32 = -4

    /// macOS's words where scripts compare them; otherwise this tool's, which tell what to do.
    static func message(_ error: KeychainError) -> String {
        switch error.reason {
        case .itemNotFound, .duplicateItem, .authenticationFailed: text(error.status)
        case .locked, .interactionNotAllowed: text(interactionNotAllowed) + " " + error.message
        default: error.message
        }
    }

    static func text(_ status: Int32) -> String { texts[status] ?? "OSStatus \(status)" }

    private static let texts: [Int32: String] = [
        0: "No error.",
        -4: "Function or operation not implemented.",
        -25: "A required component (certificate module) could not be loaded. You may need to restart your computer.",
        -34: "The disk is full.",
        -36: "I/O error.",
        -49: "The file is already open with write permission.",
        -50: "One or more parameters passed to a function were not valid.",
        -61: "Write permissions error.",
        -108: "Failed to allocate memory.",
        -128: "User canceled the operation.",
        -909: "Bad parameter or invalid state for operation.",
        -2070: "An internal component failed.",
        -25291: "No keychain is available. You may need to restart your computer.",
        -25292: "This keychain cannot be modified.",
        -25293: "The user name or passphrase you entered is not correct.",
        -25294: "The specified keychain could not be found.",
        -25295: "The specified keychain is not a valid keychain file.",
        -25296: "A keychain with the same name already exists.",
        -25297: "The specified callback function is already installed.",
        -25298: "The specified callback function is not valid.",
        -25299: "The specified item already exists in the keychain.",
        -25300: "The specified item could not be found in the keychain.",
        -25301: "There is not enough memory available to use the specified item.",
        -25302: "This item contains information which is too large or in a format that cannot be displayed.",
        -25303: "The specified attribute does not exist.",
        -25304: "The specified item is no longer valid. It may have been deleted from the keychain.",
        -25305: "Unable to search the current keychain.",
        -25306: "The specified item does not appear to be a valid keychain item.",
        -25307: "A default keychain could not be found.",
        -25308: "User interaction is not allowed.",
        -25309: "The specified attribute could not be modified.",
        -25310: "This keychain was created with a different version of the system software and cannot be opened.",
        -25311: "This item specifies a key size which is too large or too small.",
        -25315: "User interaction is required, but is currently not allowed.",
        -25317: "The contents of this item cannot be modified.",
        -26275: "Unable to decode the provided data.",
        -34018: "A required entitlement isn't present.",
        -67585: "The item is missing a required value.",
        -67671: "A file system error occurred.",
        -67808: "A policy was not found.",
    ]
}
