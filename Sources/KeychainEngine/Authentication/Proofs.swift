// SPDX-License-Identifier: Apache-2.0
// The proofs that constrained items require, and those that a request has.

public import SecretMemory

/// The keys that open constrained items, in addition to the key of their class.
public struct Proofs: Sendable {
    /// The proofs that an item requires.
    public struct Needs: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The presence of the user: a passphrase or the recovery key, entered for this request or context.
        public static let user = Needs(rawValue: 1)
        public static let applicationPassword = Needs(rawValue: 2)
    }

    /// A key that only a passphrase or the recovery key unwraps.
    public var userKey: SecretBytes?
    /// Derived from the application password.
    public var applicationKey: SecretBytes?
    /// Whether the context has an application password whose key has not been derived yet.
    var hasUnusedPassword = false

    public init(userKey: SecretBytes? = nil, applicationKey: SecretBytes? = nil) {
        self.userKey = userKey
        self.applicationKey = applicationKey
    }

    /// The part of `needs` that is missing here.
    public func missing(_ needs: Needs) -> Needs {
        var missing = needs
        if userKey != nil { missing.remove(.user) }
        if applicationKey != nil { missing.remove(.applicationPassword) }
        return missing
    }

    /// Whether nothing is missing that only the user can give.
    func suffice(for needs: Needs) -> Bool {
        let missing = missing(needs)
        return missing.isEmpty || hasUnusedPassword && missing == .applicationPassword
    }
}

/// The result of a store's step that may need proofs.
public enum Attempt<Result> {
    case done(Result)
    /// Nothing has happened. The step may succeed with these proofs.
    case needs(Proofs.Needs)
    /// Nothing has happened. The step may succeed with these proofs, which are set for a new item and not proven.
    case needsNew(Proofs.Needs)
    /// Nothing has happened. These proofs were given and are wrong.
    case refused(Proofs.Needs)
}

extension Attempt: Sendable where Result: Sendable {}

/// An authentication requirement: the reason why a step could not complete.
public typealias UnmetRequirement = Attempt<Never>

extension Attempt where Result == Never {
    /// The same requirement for a step that has a result.
    public func attempt<Other>() -> Attempt<Other> {
        switch self {
        case .needs(let needs): .needs(needs)
        case .needsNew(let needs): .needsNew(needs)
        case .refused(let refused): .refused(refused)
        }
    }
}

/// Verifies passphrases. A store whose items require authentication has one.
public protocol UserVerifier: AnyObject, Sendable {
    /// Counts wrong answers, from all contexts.
    var rateLimit: RateLimit { get }

    /// Whether a passphrase or another secret of the user is set. Without one, items that require the user cannot be
    /// stored.
    func isPasscodeSet() throws(KeychainError) -> Bool

    /// The key that a passphrase, or the recovery key as text, unwraps. It takes about half a second.
    ///
    /// - Throws: `authenticationFailed` if the secret is wrong, `unavailable` if no passphrase is set.
    func userKey(provenBy secret: SecretBytes) throws(KeychainError) -> SecretBytes

    /// The key that is derived from an application password. It takes about half a second.
    ///
    /// - Throws: `invalidParameter` if it is empty or longer than 1024 bytes.
    func applicationKey(from password: SecretBytes) throws(KeychainError) -> SecretBytes
}

extension AccessControl {
    /// The proofs for reading and changing an item, in addition to its class key. Adding needs only the application
    /// password, and deleting needs none (Apple's rule).
    public var needs: Proofs.Needs {
        let flags = flags ?? []
        var needs: Proofs.Needs = []
        if !flags.isDisjoint(with: .constraints) { needs.insert(.user) }
        if flags.contains(.applicationPassword) { needs.insert(.applicationPassword) }
        return needs
    }
}

extension KeychainError {
    /// An item requires the user, and no passphrase is set.
    public static let passcodeNotSet = KeychainError(
        .unavailable,
        "No passphrase is set, so items that need one cannot be stored. Set one (keychainctl protect add passphrase), or "
            + "use another accessibility class and no access control flags.")
}
