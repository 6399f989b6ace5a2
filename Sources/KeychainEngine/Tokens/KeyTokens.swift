// SPDX-License-Identifier: Apache-2.0
// Which token answers to which identifier.

import SecretMemory

/// The tokens that hold keys for this process.
///
/// Without a token, requests for keys on one are `unsupported`. There is never a software key instead.
///
/// ```swift
/// try KeyTokens.use(token)
/// let key = try KeyStore().create(.p256, tag: "com.example.device", protection: .hardware)
/// ```
public final class KeyTokens: Sendable {
    /// The tokens of the process. All APIs use them.
    public static let shared = KeyTokens()
    /// `kSecAttrTokenIDSecureEnclave`: the name that code for Apple platforms has for the token of the device.
    public static let secureEnclave = "com.apple.setoken"

    private struct State {
        var tokens: [String: any KeyToken] = [:]
        var standard: (any KeyToken)?
    }

    private let state = Guarded(State())

    /// Tokens apart from those of the process, for tests.
    public init() {}

    /// Lets the process use a token: ``shared``.
    ///
    /// - Throws: As ``use(_:)-swift.method``.
    public static func use(_ token: any KeyToken) throws(KeychainError) { try shared.use(token) }

    /// Adds a token, which answers to its own identifier. It also becomes the ``standard`` one.
    ///
    /// A second token of the same identifier replaces the first. Stored keys use the new one from then on; keys that are not
    /// stored go on with the token that made them.
    ///
    /// - Throws: `invalidParameter` for an identifier that is empty, begins with `com.apple.`, or is `keychain`.
    public func use(_ token: any KeyToken) throws(KeychainError) {
        let identifier = token.identifier
        guard !identifier.isEmpty, !identifier.hasPrefix("com.apple."), identifier != Item.keychainIdentifier else {
            throw KeychainError(
                .invalidParameter,
                "A token needs an identifier of its own, not 'keychain', that does not begin with 'com.apple.'.")
        }
        state.withLock { state in
            state.tokens[identifier] = token
            state.standard = token
        }
    }

    /// The token that was added last: it makes keys if none is named, and answers to ``secureEnclave``.
    public var standard: (any KeyToken)? { state.withLock { $0.standard } }

    /// The token that answers to an identifier; `nil` if there is none.
    public func token(_ identifier: String) -> (any KeyToken)? {
        state.withLock { identifier == Self.secureEnclave ? $0.standard : $0.tokens[identifier] }
    }

    var isEmpty: Bool { state.withLock { $0.tokens.isEmpty } }

    /// - Throws: `unsupported` if none answers.
    package func existing(_ identifier: String) throws(KeychainError) -> any KeyToken {
        guard let token = token(identifier) else { throw .withoutToken }
        return token
    }
}

extension KeychainError {
    /// The error for keys on a token that this process does not have.
    package static let withoutToken = KeychainError(
        .unsupported,
        "This program has no such token (kSecAttrTokenID) that could hold or use the key. Let it use one (KeyTokens), or "
            + "make a key without a token.")
}
