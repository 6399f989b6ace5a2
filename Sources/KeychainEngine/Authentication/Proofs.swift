// SPDX-License-Identifier: Apache-2.0
// What a constrained item asks for, and what a request has to show.

public import SecretMemory

/// What opens constrained items, beyond the key of their class.
public struct Proofs: Sendable {
    /// Which proofs an item asks for.
    public struct Needs: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// That the user is present: a passphrase or the recovery key, given afresh.
        public static let user = Needs(rawValue: 1)
        public static let applicationPassword = Needs(rawValue: 2)
    }

    /// What a passphrase unwraps and nothing else does.
    public var userKey: SecretBytes?
    /// Derived from the application password.
    public var applicationKey: SecretBytes?

    public init(userKey: SecretBytes? = nil, applicationKey: SecretBytes? = nil) {
        self.userKey = userKey
        self.applicationKey = applicationKey
    }

    /// Those of `needs` that are not here.
    public func missing(_ needs: Needs) -> Needs {
        var missing = needs
        if userKey != nil { missing.remove(.user) }
        if applicationKey != nil { missing.remove(.applicationPassword) }
        return missing
    }
}

/// How a step of a store ended that may need proofs.
public enum Attempt<Result> {
    case done(Result)
    /// Nothing has happened; with these it may.
    case needs(Proofs.Needs)
    /// Nothing has happened; with these, which are to be set and not proven, it may.
    case needsNew(Proofs.Needs)
    /// Nothing has happened; these were given and do not fit.
    case refused(Proofs.Needs)
}

extension Attempt: Sendable where Result: Sendable {}

/// Why a step did not come to an end that lacked nothing but proofs.
public typealias Obstacle = Attempt<Never>

extension Attempt where Result == Never {
    /// The same as the ending of a step that would have had a result.
    public func attempt<Other>() -> Attempt<Other> {
        switch self {
        case .needs(let needs): .needs(needs)
        case .needsNew(let needs): .needsNew(needs)
        case .refused(let refused): .refused(refused)
        }
    }
}

/// What tells a right passphrase from a wrong one: a store whose items ask for the user.
public protocol UserVerifier: AnyObject, Sendable {
    /// Wrong answers count here, whoever asked.
    var rateLimit: RateLimit { get }

    /// Whether there is a passphrase, or another secret of the user, at all; without one nothing can be stored that asks
    /// for the user.
    func isPasscodeSet() throws(KeychainError) -> Bool

    /// The key that a passphrase, or the recovery key as text, unwraps. Takes about half a second.
    ///
    /// - Throws: `authenticationFailed` if it is the wrong one, `unavailable` if no passphrase is set.
    func userKey(provenBy secret: SecretBytes) throws(KeychainError) -> SecretBytes

    /// The key that an application password stands for. Takes about half a second.
    ///
    /// - Throws: `invalidParameter` if it is empty or longer than 1024 bytes.
    func applicationKey(from password: SecretBytes) throws(KeychainError) -> SecretBytes
}

extension AccessControl {
    /// What reading and changing an item takes beyond its class key. Adding takes only the application password, and
    /// deleting nothing (Apple's rule).
    public var needs: Proofs.Needs {
        let flags = flags ?? []
        var needs: Proofs.Needs = []
        if !flags.isDisjoint(with: .constraints) { needs.insert(.user) }
        if flags.contains(.applicationPassword) { needs.insert(.applicationPassword) }
        return needs
    }
}
