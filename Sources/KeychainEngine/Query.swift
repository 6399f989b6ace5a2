// SPDX-License-Identifier: Apache-2.0
// What is asked, typed: the surfaces parse into this, the engine gives it meaning.

public import Foundation

/// One request, as a caller spelled it: values are checked and converted by the ``Engine``, by the class's ``Schema``.
///
/// ```swift
/// var query = Query(.genericPassword, [.service: .string("example.com"), .account: .string("alice")])
/// query.returns = .value
/// ```
public struct Query: Sendable {
    /// Which parts of an item the caller wants back.
    public struct Returns: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let value = Returns(rawValue: 1)
        public static let attributes = Returns(rawValue: 2)
        public static let reference = Returns(rawValue: 4)
        public static let persistentReference = Returns(rawValue: 8)
    }

    public enum Limit: Equatable, Sendable {
        /// One result, not in a list.
        case one
        case all
        /// A list of at most this many.
        case atMost(Int)
    }

    /// What to do about items that ask for the user.
    public enum AuthenticationUI: Sendable {
        case allow, fail
        /// Leave such items out; only for searching.
        case skip
    }

    /// Search criteria beyond equality of attributes.
    public enum MatchCriterion: Equatable, Sendable {
        case host(String)
        /// Needs certificate evaluation: policy, issuers, validity, trust, e-mail address.
        case certificate(CertificateCriterion)
        /// Known to Apple and without effect in the data-protection keychain.
        case ignored
    }

    /// What a surface does about the questions of one request, and about its end.
    public struct Questions: Sendable {
        public let cancellation: AuthenticationCancellation
        /// Is told when a person is waited for, and when no longer.
        public let onQuestion: @Sendable (_ isOpen: Bool) -> Void
        /// What keeps a change from being committed after the request has ended; `nil`: it ends only by itself.
        public let gate: CommitGate?

        public init(
            cancellation: AuthenticationCancellation, gate: CommitGate? = nil,
            onQuestion: @escaping @Sendable (_ isOpen: Bool) -> Void
        ) {
            self.cancellation = cancellation
            self.gate = gate
            self.onQuestion = onQuestion
        }
    }

    public enum CertificateCriterion: Sendable {
        /// Refused for other classes than certificates.
        case policy, issuers
        /// Without effect on other classes than certificates.
        case validOnDate, trustedOnly, emailAddress
    }

    public var itemClass: ItemClass?
    /// As given: not yet checked against the class, not yet converted.
    public var attributes: Attributes
    public var accessControl: AccessControl?
    /// In place of `accessControl` and the attribute `accessible`: for additions, and for ``Requests/save(_:caller:)``.
    public var protection: Protection?
    /// `kSecAttrSynchronizableAny`: both kinds of items. Stored items are one or the other, so adding ignores it.
    public var synchronizableAny = false
    public var value: Data?
    public var persistentReference: PersistentReference?
    public var returns: Returns = []
    /// `nil`: not given, which means one.
    public var limit: Limit?
    public var matchCriteria: [MatchCriterion] = []
    public var authenticationUI: AuthenticationUI = .allow
    /// Of items that ask for the user or a password, and for which nothing is proven, a search without values shows the name and asks
    /// nobody (``Selection/namesConstrained``).
    public var namesProtected = false
    /// What the user has proven already; `nil`: nothing.
    public var context: AuthenticationContext?
    /// What a person is told that the request is for.
    public var operationPrompt: String?
    /// What can end this request, and is told of its questions; `nil`: nothing.
    public var questions: Questions?
    /// `kSecUseItemList`, which the data-protection keychain never supported.
    public var usesItemList = false
    /// `kSecValueRef` or a class that only exists as objects.
    public var usesObjectReference = false

    public init(_ itemClass: ItemClass?, _ attributes: Attributes = [:]) {
        self.itemClass = itemClass
        self.attributes = attributes
    }
}

/// What an update changes: attributes, as given, and perhaps the value.
public struct Changes: Sendable {
    public var attributes: Attributes
    public var accessControl: AccessControl?
    /// In place of `accessControl` and the attribute `accessible`.
    public var protection: Protection?
    public var value: Data?

    public init(_ attributes: Attributes = [:], value: Data? = nil) {
        self.attributes = attributes
        self.value = value
    }
}
