// SPDX-License-Identifier: Apache-2.0
// The private keys of a program: the main type of this module.

package import KeychainEngine
public import KeychainKit

/// Stores private keys by tag.
///
/// ```swift
/// let keys = KeyStore()
/// try keys.save(P256.Signing.PrivateKey(), tag: "com.example.signing")
/// let key = try keys.read(P256.Signing.PrivateKey.self, tag: "com.example.signing")
/// ```
///
/// A tag names one private key in an access group (`kSecAttrApplicationTag`). Use a reverse domain name, since all
/// programs of the group share the tags. The items are those that the functions of Keychain Services store for the same keys, so each API finds
/// the keys of the other.
///
/// A store is a value: copies are cheap, and changing a copy does not change the original. Every call has a synchronous
/// form, which blocks the thread, and an asynchronous form of the same name, which blocks no thread, can be cancelled
/// and has a ``timeout``.
///
/// Does not protect against other programs of the same user: they can open the same keychain. A stored key can be read
/// as a whole, unless it is in hardware (``create(_:tag:label:protection:)-swift.method``); what a program may do with it is
/// not limited.
public struct KeyStore: Sendable {
    let backing: Backing

    /// The access group of the keys. `nil`: new keys go to the program's default group, and searches cover all groups
    /// that the program may use.
    public var accessGroup: String?
    /// When the keys can be opened. Saving applies it to existing keys too. `nil`: existing keys keep their class, and
    /// new keys get `whenUnlocked`.
    public var accessibility: Accessibility?
    /// The authentication that a key requires before it opens. Saving applies it to existing keys too. `nil`: existing
    /// keys keep theirs. Empty: nothing is required.
    public var accessControl: AccessControl.Flags?
    /// Whether the keys are synchronizable. A synchronizable key and one that is not are different items, even with the
    /// same tag.
    public var synchronizable = false
    /// Whether searches and removals, unlike new items, are of both kinds whatever ``synchronizable`` is, as in lists.
    package var coversBothKinds = false
    /// Proofs of the user, and the authenticator that asks for more. `nil`: the authenticator that is configured in the
    /// environment.
    public var context: AuthenticationContext?
    /// Whether the user may be asked. If not, keys that require authentication fail with `interactionNotAllowed`.
    public var allowsInteraction = true
    /// The reason that is shown when the user is asked.
    public var prompt: String?
    /// What holds keys in hardware.
    package var tokens = KeyTokens.shared
    /// How long a call may take. `nil`, the default: asynchronous calls use ``KeychainKit/Timeout/standard``, synchronous
    /// calls have no timeout.
    public var timeout: Timeout?

    /// - Parameters:
    ///   - store: The store of the items. `nil`: the user's keychain.
    ///   - accessGroups: The access groups that may be used. `nil`: the program's groups for the user's keychain,
    ///     otherwise all groups.
    public init(
        accessGroup: String? = nil, accessibility: Accessibility? = nil, accessControl: AccessControl.Flags? = nil,
        synchronizable: Bool = false, store: (any ItemStore)? = nil, accessGroups: AccessGroups? = nil
    ) {
        backing = .of(store, accessGroups)
        (self.accessGroup, self.accessibility, self.accessControl) = (accessGroup, accessibility, accessControl)
        self.synchronizable = synchronizable
    }

    var protection: Protection { Protection(accessibility: accessibility, constraints: accessControl) }

    func call<Output: Sendable>(
        _ body: @escaping @Sendable (KeyRequests) throws(KeychainError) -> Output
    ) throws(KeychainError) -> Output {
        try backing.call(timeout) { (questions) throws(KeychainError) in try body(KeyRequests(self, questions)) }
    }

    nonisolated(nonsending) func call<Output: Sendable>(
        _ body: @escaping @Sendable (KeyRequests) throws(KeychainError) -> Output
    ) async throws(KeychainError) -> Output {
        try await backing.call(timeout) { (questions) throws(KeychainError) in try body(KeyRequests(self, questions)) }
    }
}
