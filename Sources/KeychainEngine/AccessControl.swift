// SPDX-License-Identifier: Apache-2.0
// What must hold before an item may be used: its accessibility class and, perhaps, constraints.

/// The conditions under which an item may be used: its accessibility class and optional constraints.
///
/// Apple keeps two forms apart, and so do we, since a dictionary may hold both names only if they are equal: the plain form
/// (`kSecAttrAccessible` alone, no constraint list) and the form made by `SecAccessControlCreateWithFlags`, which has a
/// constraint list even when it is empty.
public struct AccessControl: Hashable, Sendable {
    /// The flags of `SecAccessControlCreateFlags`, with Apple's bits.
    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }

        public static let userPresence = Flags(rawValue: 1 << 0)
        public static let biometryAny = Flags(rawValue: 1 << 1)
        public static let biometryCurrentSet = Flags(rawValue: 1 << 3)
        public static let devicePasscode = Flags(rawValue: 1 << 4)
        public static let companion = Flags(rawValue: 1 << 5)
        public static let or = Flags(rawValue: 1 << 14)
        public static let and = Flags(rawValue: 1 << 15)
        public static let privateKeyUsage = Flags(rawValue: 1 << 30)
        public static let applicationPassword = Flags(rawValue: 1 << 31)

        /// The flags that each ask for one proof of the user.
        public static let constraints: Flags = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion,
        ]
    }

    public let accessibility: Accessibility
    /// The normalised constraint flags; `nil` for the plain form, which has no constraint list at all.
    public let flags: Flags?

    /// The plain form: an accessibility class and nothing else.
    public init(_ accessibility: Accessibility) {
        self.accessibility = accessibility
        self.flags = nil
    }

    /// The form with a constraint list, by Apple's combination rules (facts of `SecAccessControlCreateWithFlags`).
    ///
    /// - Throws: `invalidParameter` for `or` with `and`, for both biometry flags, and for `userPresence` with anything
    ///   but `applicationPassword` and `privateKeyUsage`.
    public init(_ accessibility: Accessibility, flags: Flags) throws(KeychainError) {
        try Self.check(flags)
        self.accessibility = accessibility
        self.flags = Self.normalised(flags)
    }

    /// The conditions with those parts replaced that `protection` gives.
    ///
    /// - Throws: As ``init(_:flags:)``.
    func applying(_ protection: Protection) throws(KeychainError) -> AccessControl {
        let accessibility = protection.accessibility ?? accessibility
        guard let flags = protection.constraints ?? flags, !flags.isEmpty else { return AccessControl(accessibility) }
        return try AccessControl(accessibility, flags: flags)
    }

    /// The names of both may stand in one dictionary only if they say the same.
    func checkAgrees(with accessibility: Accessibility) throws(KeychainError) {
        guard self == AccessControl(accessibility) else {
            throw KeychainError(
                .invalidParameter, "Accessibility and access control say different things. Give only one of them.")
        }
    }

    private static func check(_ flags: Flags) throws(KeychainError) {
        let allowedWithPresence: Flags = [.userPresence, .applicationPassword, .privateKeyUsage]
        if flags.isSuperset(of: [.or, .and]) {
            throw KeychainError(.invalidParameter, "Access control flags `or` and `and` exclude each other.")
        }
        if flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) {
            throw KeychainError(.invalidParameter, "Access control takes one of the two biometry flags, not both.")
        }
        if flags.contains(.userPresence), !flags.subtracting(allowedWithPresence).isEmpty {
            throw KeychainError(
                .invalidParameter,
                "Access control flag `userPresence` goes only with `applicationPassword` and `privateKeyUsage`.")
        }
    }

    /// Equal conditions get equal flags: `and` is the default, `or` means something only between two constraints.
    private static func normalised(_ flags: Flags) -> Flags {
        let constraints = flags.intersection(.constraints)
        var result = flags.intersection([.constraints, .privateKeyUsage, .applicationPassword])
        if flags.contains(.or), constraints.rawValue.nonzeroBitCount > 1 { result.insert(.or) }
        return result
    }
}

/// What a typed surface says of the conditions of an item: each part for itself, where Apple's dictionaries replace the whole.
public struct Protection: Hashable, Sendable {
    /// `nil`: as it is; `whenUnlocked` for a new item.
    public var accessibility: Accessibility?
    /// What is asked of the user; `nil`: as it is, nothing for a new item. Empty: nothing.
    public var constraints: AccessControl.Flags?

    public init(accessibility: Accessibility? = nil, constraints: AccessControl.Flags? = nil) {
        self.accessibility = accessibility
        self.constraints = constraints
    }
}
