// SPDX-License-Identifier: Apache-2.0
// The credentials of the television, in the keychain.

@_spi(Wrappers) public import KeychainKit

extension LGTVControlManager {
    /// Why the last call to the keychain failed, and what to do about it; `nil` if it succeeded. It reveals nothing
    /// about the credentials.
    ///
    /// ```swift
    /// if manager.loadCredentials() == nil, let failure = manager.lastFailure { show(failure.message) }
    /// ```
    public var lastFailure: KeychainKit.KeychainError? { failure.last }

    // MARK: - Without errors

    /// Saves the credentials. ``lastFailure`` tells whether it succeeded; ``storeCredentials(_:)`` throws instead.
    ///
    /// ```swift
    /// manager.saveCredentials(credentials)
    /// ```
    public func saveCredentials(_ credentials: TVCredentials) {
        do { try storeCredentials(credentials) } catch { /* lastFailure has it */  }
    }

    /// The credentials; `nil` if there are none, or if they cannot be read; ``lastFailure`` then has the reason.
    /// ``storedCredentials()`` throws instead.
    ///
    /// ```swift
    /// guard let credentials = manager.loadCredentials() else { return showSetup() }
    /// ```
    public func loadCredentials() -> TVCredentials? {
        do { return try storedCredentials() } catch { return nil }
    }

    /// Removes the credentials and the certificate of the television. ``lastFailure`` tells whether it succeeded;
    /// ``forgetCredentials()`` throws instead.
    ///
    /// ```swift
    /// manager.clearCredentials()
    /// ```
    public func clearCredentials() {
        do { try forgetCredentials() } catch { /* lastFailure has it */  }
    }

    // MARK: - With errors

    /// Saves the credentials, in place of existing ones.
    ///
    /// ```swift
    /// try manager.storeCredentials(credentials)
    /// ```
    ///
    /// The certificate is kept if the credentials belong to the same television, by `macAddress`.
    ///
    /// - Throws: ``KeychainError``; nothing has changed then.
    public func storeCredentials(_ credentials: TVCredentials) throws {
        try failure.reporting { try PairingStore(keychain).save(credentials) }
    }

    /// The credentials; `nil` only if the keychain could be read and there are none.
    ///
    /// ```swift
    /// let credentials = try manager.storedCredentials()
    /// ```
    ///
    /// - Throws: ``KeychainError``.
    public func storedCredentials() throws -> TVCredentials? {
        try failure.reporting { try PairingStore(keychain).credentials() }
    }

    /// Removes the credentials and the certificate in one transaction. It is not an error if there are none.
    ///
    /// ```swift
    /// try manager.forgetCredentials()
    /// ```
    ///
    /// - Throws: ``KeychainError``.
    public func forgetCredentials() throws {
        try failure.reporting { try PairingStore(keychain).clear() }
    }
}
