// SPDX-License-Identifier: Apache-2.0
// Failures of keys and their files in the words and exit codes of the tool.

import KeychainKeys
import KeychainKit

extension KeyFailure {
    /// - Parameter subject: What the failure is about, at the beginning of a sentence: "The file".
    func inKeychainWords(_ subject: String) -> KeychainError {
        switch self {
        case .malformed(let format):
            KeychainError(.undecodableInput, "\(subject) is damaged, or is no private key (\(format)).")
        case .unsupportedAlgorithm(let name), .unsupportedAuthentication(let name):
            KeychainError(.unsupported, "\(subject) uses something that is not supported: \(name).")
        case .unsupportedSize(let bits):
            KeychainError(.unsupported, "\(subject) has a size that is not supported: \(bits) bits.")
        case .passphraseRequired: KeychainError(.authenticationFailed, "\(subject) needs a passphrase.")
        case .wrongPassphrase:
            KeychainError(.authenticationFailed, "The passphrase is wrong, or \(subject.lowercasedFirst) is damaged.")
        case .limitExceeded(let name): KeychainError(.tooLarge, "\(subject) exceeds a limit: \(name).")
        case .algorithmNotSupported: KeychainError(.unsupported, "\(subject) does not support this algorithm.")
        case .invalidLength, .decryptionFailed, .invalidPeer:
            KeychainError(.invalidParameter, "\(subject) does not fit the operation.")
        }
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
