// SPDX-License-Identifier: Apache-2.0
// Errors of the functions on keys, which a caller receives as an object.

#if os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainKeys

    /// The variable of a caller that receives an error, which the caller releases.
    typealias ErrorVariable = UnsafeMutablePointer<Unmanaged<CFError>?>

    /// Runs a call. If it fails, the result is `nil` and the variable receives the error; otherwise the variable is not
    /// touched.
    func reporting<Result>(to variable: ErrorVariable?, _ call: () throws -> Result) -> Result? {
        do {
            return try call()
        } catch {
            let failure: any Error = (error as? KeyFailure).map { KeychainError($0) } ?? error
            variable?.pointee = Unmanaged.passRetained(failure as NSError)
            return nil
        }
    }

    extension KeychainError {
        /// `errSecParam` in all cases but one, as by Apple.
        init(_ failure: KeyFailure) {
            switch failure {
            case .invalidPeer:
                self.init(.undecodableInput, "The other party's key does not belong to the curve of this key.")
            case .algorithmNotSupported:
                self.init(
                    .invalidParameter,
                    "The key does not support this algorithm for this operation. Ask SecKeyIsAlgorithmSupported first.")
            case .invalidLength:
                self.init(.invalidParameter, "The data has a length that the algorithm does not take with this key.")
            case .decryptionFailed:
                self.init(.invalidParameter, "The data was not encrypted for this key, or was changed.")
            case .malformed(let format): self.init(.invalidParameter, "The bytes are not a valid \(format).")
            case .unsupportedAlgorithm(let name): self.init(.invalidParameter, "Not supported: \(name).")
            case .unsupportedSize(let size):
                self.init(.invalidParameter, "Keys of \(size) bits are not supported for this type.")
            case .unsupportedAuthentication, .passphraseRequired, .wrongPassphrase, .limitExceeded:
                self.init(.invalidParameter, "The bytes are not a key that can be used.")
            }
        }

        /// The error for a signature that does not match.
        static let wrongSignature = KeychainError(
            .authenticationFailed, "The signature does not match the data and the key.", status: errSecVerifyFailed)

        /// The error for bytes of a key that should be on a token.
        static let noImportIntoTokens = KeychainError(
            .unsupported, "A token (kSecAttrTokenID) makes its keys itself, and takes no others. Leave the bytes out.")

        /// The error for the bytes of a key on a token.
        static let staysOnToken = KeychainError(
            .unsupported, "The key is on a token and cannot be exported. Let it sign, decrypt or agree there.")

        /// The error for keys of other kinds on a token.
        static let noSuchTokenKey = KeychainError(
            .invalidParameter,
            "Keys on a token (kSecAttrTokenID) are private keys of kSecAttrKeyTypeECSECPrimeRandom with 256 bits.")
    }
#endif
