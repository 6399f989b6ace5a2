// SPDX-License-Identifier: Apache-2.0
// The credentials of the television, in the keychain.

@_spi(Wrappers) public import KeychainKit

extension LGTVControlManager {
    /// Why the last call to the keychain failed, and what to do about it; `nil` if it did not fail. It says nothing of the
    /// credentials.
    ///
    /// ```swift
    /// if manager.loadCredentials() == nil, let failure = manager.lastFailure { show(failure.message) }
    /// ```
    public var lastFailure: KeychainKit.KeychainError? { failure.last }

    // MARK: - Without errors

    /// Saves the credentials. Whether it has worked is in ``lastFailure``; ``storeCredentials(_:)`` throws.
    ///
    /// ```swift
    /// manager.saveCredentials(credentials)
    /// ```
    public func saveCredentials(_ credentials: TVCredentials) {
        do { try storeCredentials(credentials) } catch { /* lastFailure has it */  }
    }

    /// The credentials; `nil` if there are none, or if they cannot be read, and then ``lastFailure`` says why.
    /// ``storedCredentials()`` throws.
    ///
    /// ```swift
    /// guard let credentials = manager.loadCredentials() else { return showSetup() }
    /// ```
    public func loadCredentials() -> TVCredentials? {
        do { return try storedCredentials() } catch { return nil }
    }

    /// Removes the credentials, and with them the certificate of the television. Whether it has worked is in
    /// ``lastFailure``; ``forgetCredentials()`` throws.
    ///
    /// ```swift
    /// manager.clearCredentials()
    /// ```
    public func clearCredentials() {
        do { try forgetCredentials() } catch { /* lastFailure has it */  }
    }

    // MARK: - With errors

    /// Saves the credentials, in place of those that are there.
    ///
    /// ```swift
    /// try manager.storeCredentials(credentials)
    /// ```
    ///
    /// The certificate of the television stays if they are for the same one, by its `macAddress`.
    ///
    /// - Throws: ``KeychainError``, and then nothing has changed.
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

    /// Removes the credentials and the certificate of the television, both at once. That there are none is no error.
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
