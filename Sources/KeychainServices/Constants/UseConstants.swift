// SPDX-License-Identifier: Apache-2.0
// Keys that say how a call is carried out, and their values.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// Items to work on instead of a search (array); refused by the data-protection keychain.
    nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"

    /// Reason shown when the user must authenticate (string); older way to set the text that `LAContext` carries.
    nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"

    /// Fail instead of asking the user (Boolean); older form of `kSecUseAuthenticationUIFail`.
    nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"

    /// Whether the user may be asked: one of the `kSecUseAuthenticationUI…` values.
    nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"

    /// On macOS, choose the data-protection keychain (Boolean); here there is only that one, so it has no effect.
    nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"

    /// Use the keychain that all users of a device share (Boolean); a tvOS feature, refused elsewhere.
    nonisolated(unsafe) public let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"

    /// Ask the user when an item needs it (the default); a value of `kSecUseAuthenticationUI`.
    nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"

    /// Return `errSecInteractionNotAllowed` instead of asking the user; a value of `kSecUseAuthenticationUI`.
    nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"

    /// Leave out items that need the user (only in a search); a value of `kSecUseAuthenticationUI`.
    nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"

    /// Authentication to reuse for this call (`LAContext`).
    nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"

    /// Legacy macOS keychain to add an item to; kept for source compatibility.
    nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"
#endif
