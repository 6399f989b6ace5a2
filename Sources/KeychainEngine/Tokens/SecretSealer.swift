// SPDX-License-Identifier: Apache-2.0
// What seals secrets so that only this machine opens them.

public import Foundation
public import SecretMemory

/// Hardware, for example a TPM, that seals secrets for itself: the sealed form is useless without it.
///
/// Calls may take a second on slow hardware, and come from any thread, several at once.
///
/// Does not protect a secret without a PIN against programs that may use the hardware and have the sealed form.
public protocol SecretSealer: Sendable {
    /// Seals a secret.
    ///
    /// - Parameters:
    ///   - secret: 1 to 128 bytes.
    ///   - pin: What opens it; the hardware limits the number of wrong tries. `nil`: nothing.
    ///   - sibling: A sealed form. Only the hardware that opens it may seal the secret; `nil`: any.
    /// - Returns: The sealed form, at most 4,000 bytes.
    /// - Throws: `ofAnotherDevice` if other hardware sealed `sibling`; `corrupt`; `unavailable`.
    func seal(_ secret: SecretBytes, pin: SecretBytes?, like sibling: Data?) throws(KeychainError) -> Data

    /// Opens a secret.
    ///
    /// - Parameter pin: `nil` if it was sealed without one.
    /// - Throws: `authenticationFailed` for a wrong or missing PIN; `ofAnotherDevice` if other hardware sealed it, or this one
    ///   before it was cleared; `corrupt`; `unavailable` if the hardware cannot be used, or refuses every PIN for a while.
    func unseal(_ object: Data, pin: SecretBytes?) throws(KeychainError) -> SecretBytes
}
