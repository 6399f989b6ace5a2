// SPDX-License-Identifier: Apache-2.0
// Failures of keys, certificates and their files in the words of this module.

package import KeychainKeys
package import KeychainKit

extension KeyFailure {
    /// - Parameters:
    ///   - subject: What the failure is about, at the beginning of a sentence: "The file".
    ///   - expected: What it should have been.
    package func inKeychainWords(_ subject: String, expected: String = "private key") -> KeychainError {
        switch self {
        case .malformed(let format):
            KeychainError(.undecodableInput, "\(subject) is damaged, or is no \(expected) (\(format)).")
        case .unsupportedAlgorithm(let name), .unsupportedAuthentication(let name):
            KeychainError(
                .unsupported,
                "\(subject) uses something that is not supported: \(name)."
                    + (conversion.map { " To convert it: \($0)" } ?? ""))
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
