// SPDX-License-Identifier: Apache-2.0
// The settings that all authenticators share.

/// The selected authenticators.
///
/// ```swift
/// Authenticators.shared = TerminalAuthenticator()
/// ```
///
/// | Variable | Value |
/// |---|---|
/// | `KEYCHAIN_AUTHENTICATOR` | `terminal`, `pinentry`, `askpass` or `none` |
/// | `KEYCHAIN_PINENTRY` | full path of the pinentry program; by default the first existing one of the usual paths |
/// | `KEYCHAIN_ASKPASS` | full path of the askpass program; alone it implies `askpass` |
///
/// Does not protect against an attacker who sets the environment of the program and so chooses the authenticator. A
/// program with rights that its caller does not have ignores these variables (``SecretMemory/ProcessEnvironment``).
public enum Authenticators {
    /// The default timeout for an answer: five minutes. An absent user must not block a program for ever.
    public static let timeout = Duration.seconds(300)
}
