// SPDX-License-Identifier: Apache-2.0
// The conditions for using an item: its accessibility class and, optionally, constraints.

/// The conditions under which an item may be used: its accessibility class and optional constraints.
///
/// There are two forms, as on Apple platforms, because one dictionary may contain both names only if they are equal.
/// The plain form is `kSecAttrAccessible` alone and has no constraint list. The form made by
/// `SecAccessControlCreateWithFlags` has a constraint list even when the list is empty.
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

        /// The flags that each require one proof of the user.
        public static let constraints: Flags = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion,
        ]
    }

    public let accessibility: Accessibility
    /// The normalized constraint flags; `nil` for the plain form, which has no constraint list.
    public let flags: Flags?

    /// The plain form: only an accessibility class.
    public init(_ accessibility: Accessibility) {
        self.accessibility = accessibility
        self.flags = nil
    }

    /// The form with a constraint list, following Apple's rules for combining flags
    /// (`SecAccessControlCreateWithFlags`).
    ///
    /// - Throws: `invalidParameter` for `or` with `and`, for both biometry flags, and for `userPresence` with anything
    ///   but `applicationPassword` and `privateKeyUsage`.
    public init(_ accessibility: Accessibility, flags: Flags) throws(KeychainError) {
        try Self.check(flags)
        self.accessibility = accessibility
        self.flags = Self.normalised(flags)
    }

    /// These conditions with the parts replaced that `protection` sets.
    ///
    /// - Throws: The errors of ``init(_:flags:)``.
    func applying(_ protection: Protection) throws(KeychainError) -> AccessControl {
        let accessibility = protection.accessibility ?? accessibility
        guard let flags = protection.constraints ?? flags, !flags.isEmpty else { return AccessControl(accessibility) }
        return try AccessControl(accessibility, flags: flags)
    }

    /// One dictionary may contain both names only if they agree.
    func checkAgrees(with accessibility: Accessibility) throws(KeychainError) {
        guard self == AccessControl(accessibility) else {
            throw KeychainError(
                .invalidParameter, "Accessibility and access control contradict each other. Give only one of them.")
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
                "Access control flag `userPresence` can be combined only with `applicationPassword` and `privateKeyUsage`."
            )
        }
    }

    /// Equal conditions get equal flags: `and` is the default, and `or` has a meaning only between two constraints.
    private static func normalised(_ flags: Flags) -> Flags {
        let constraints = flags.intersection(.constraints)
        var result = flags.intersection([.constraints, .privateKeyUsage, .applicationPassword])
        if flags.contains(.or), constraints.rawValue.nonzeroBitCount > 1 { result.insert(.or) }
        return result
    }
}

/// The protection that a typed API sets on an item. Each part is set on its own; Apple's dictionaries replace all of
/// it.
public struct Protection: Hashable, Sendable {
    /// `nil`: unchanged; `whenUnlocked` for a new item.
    public var accessibility: Accessibility?
    /// The required authentication. `nil`: unchanged, none for a new item. Empty: none.
    public var constraints: AccessControl.Flags?

    public init(accessibility: Accessibility? = nil, constraints: AccessControl.Flags? = nil) {
        self.accessibility = accessibility
        self.constraints = constraints
    }
}
