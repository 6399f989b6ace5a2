// SPDX-License-Identifier: Apache-2.0
// Why a conversation with a TPM failed.

#if TPM
    import KeychainEngine

    /// A failure before it is explained to the caller: the same code has other reasons with keys than with secrets.
    enum TPMFailure: Error {
        /// The TPM refused a command.
        case refused(ResponseCode, CommandCode)
        /// The object was made under another storage key.
        case ofAnotherDevice
        /// Bytes that no TPM sends.
        case malformed
        /// A response that the TPM with the storage key did not send.
        case notAuthentic
        /// A failure that needs no explanation.
        case other(KeychainError)

        /// The error for a caller, where the operation has no other reasons.
        var error: KeychainError {
            switch self {
            case .refused(let code, _) where code.isOutOfPlaces:
                KeychainError(
                    .busy,
                    "All places of the TPM are taken by other programs. Try again. If that does not help, use the "
                        + "device '/dev/tpmrm0', which gives each program its own, or restart the machine.")
            case .refused(let code, .createPrimary) where code.isWrongSecret:
                KeychainError(
                    .unavailable,
                    "The owner of the TPM has set a password. Keys can only be made if the owner's password is empty.")
            case .refused(let code, _) where code.isBroken:
                KeychainError(.unavailable, "The TPM does not work (\(code.text)). Restart the machine.")
            case .refused(let code, _) where code.isLockedOut:
                KeychainError(.unavailable, "The TPM is locked after too many wrong PINs. Try again later.")
            case .refused(let code, let command):
                KeychainError(
                    .unavailable,
                    "The TPM refused a command (\(command), \(code.text)). It may lack P-256, or be broken.")
            case .ofAnotherDevice:
                KeychainError(
                    .ofAnotherDevice,
                    "The key was made by another TPM, or by this one before it was cleared. Use it there, or make "
                        + "a new key.")
            case .malformed:
                KeychainError(
                    .unavailable, "The TPM sent a response that it should not send. Check what connects it.")
            case .notAuthentic:
                KeychainError(
                    .unavailable,
                    "A response did not come from the TPM: it was changed on the way. Check what connects it.")
            case .other(let error): error
            }
        }
    }

    extension KeychainError {
        static let busyTPM = KeychainError(
            .timedOut, "The TPM is busy with itself, and ran no command for as long as one may take. Try again later.")
    }
#endif
