// SPDX-License-Identifier: Apache-2.0
// Typed requests. The APIs parse into this type, and the engine interprets it.

public import Foundation

/// One request, as the caller gave it. The ``Engine`` checks and converts its values by the ``Schema`` of the class.
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
        /// One result, not a list.
        case one
        case all
        /// A list of at most this many.
        case atMost(Int)
    }

    /// How to treat items that require authentication.
    public enum AuthenticationUI: Sendable {
        case allow, fail
        /// Leave such items out; only for searches.
        case skip
    }

    /// Search criteria beyond equality of attributes.
    public enum MatchCriterion: Equatable, Sendable {
        case host(String)
        /// What a certificate is, or that of an identity.
        case certificate(CertificateCriterion)
        /// Accepted by Apple, but without effect in the data-protection keychain.
        case ignored
    }

    /// Connects the questions and the end of one request to its caller.
    public struct Questions: Sendable {
        public let cancellation: AuthenticationCancellation
        /// Called when a question opens and when it closes.
        public let onQuestion: @Sendable (_ isOpen: Bool) -> Void
        /// Prevents a commit after the request has ended; `nil`: the request cannot be ended from outside.
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

    /// A criterion for certificates and identities.
    public enum CertificateCriterion: Equatable, Sendable {
        /// That of ``Query/judgeCertificate``.
        case policy
        /// One of these normalized names is the issuer of the certificate, or of one in its chain. Like `policy`, it is
        /// refused for passwords and keys; the others have no effect on these.
        case issuers([Data])
        /// `nil`: valid now.
        case validOnDate(Date?)
        /// A chain leads to a trusted root.
        case trustedOnly
        /// In any case of its letters.
        case emailAddress(String)
    }

    /// What an object of an identity stands for: the items of an addition, and conditions in other requests. What the
    /// request itself gives wins.
    public struct IdentityParts: Sendable {
        public var certificate: Part
        public var key: Part

        public struct Part: Sendable {
            public var attributes: Attributes
            public var value: Data?
            package var onToken: NewTokenKey?

            public init(_ attributes: Attributes, value: Data?) {
                self.attributes = attributes
                self.value = value
            }
        }

        public init(certificate: Part, key: Part) {
            self.certificate = certificate
            self.key = key
        }
    }

    public var itemClass: ItemClass?
    /// The attributes as given: not yet checked against the class, not yet converted.
    public var attributes: Attributes
    public var accessControl: AccessControl?
    /// Replaces `accessControl` and the attribute `accessible` in additions and in ``Requests/save(_:accessGroups:)``.
    public var protection: Protection?
    /// `kSecAttrSynchronizableAny`: both kinds of items. Additions ignore it, since a stored item is of one kind.
    public var synchronizableAny = false
    public var value: Data?
    /// The key on a token that an addition stores. Without it, additions that name a token are refused.
    package var onToken: NewTokenKey?
    public var persistentReference: PersistentReference?
    public var returns: Returns = []
    /// `nil`: not given; the limit is then one.
    public var limit: Limit?
    public var matchCriteria: [MatchCriterion] = []
    public var authenticationUI: AuthenticationUI = .allow
    /// Whether a search without values returns only the names of items that require authentication and for which
    /// nothing is proven. The user is not asked (``Selection/namesConstrained``).
    public var namesProtected = false
    /// See ``Selection/leavesOutLocked``; only for searches.
    package var leavesOutLocked = false
    /// Proofs of the user, and the authenticator that asks for more; `nil`: the engine's authenticator, without earlier
    /// proofs.
    public var context: AuthenticationContext?
    /// The reason that is shown to the user.
    public var operationPrompt: String?
    /// Ends this request from outside, and observes its questions; `nil`: nothing.
    public var questions: Questions?
    /// `kSecUseItemList`, which the data-protection keychain never supported.
    public var usesItemList = false
    /// `kSecClassIdentity`: pairs of a private key and a certificate of its public key, which no store has as items. In
    /// that case there is no `itemClass`.
    public var isForIdentities = false
    /// The identity that a request for identities is about, if it was given as an object.
    public var identity: IdentityParts?
    /// Reads certificates in a search: for criteria, and to put the newest identity first. `nil` from the closure if the
    /// bytes are not a certificate. Without it these criteria are refused, and certificates keep their order.
    public var readCertificate: (@Sendable (Data) -> CertificateContent?)?
    /// Whether the bytes are a certificate that fulfils the criterion ``CertificateCriterion/policy`` or
    /// ``CertificateCriterion/trustedOnly``. Without it these are refused.
    package var judgeCertificate: (@Sendable (CertificateCriterion, Data) throws(KeychainError) -> Bool)?

    public init(_ itemClass: ItemClass?, _ attributes: Attributes = [:]) {
        self.itemClass = itemClass
        self.attributes = attributes
    }

    /// Whether the request is about identities, by its class or its persistent reference.
    public var concernsIdentities: Bool {
        isForIdentities || itemClass == nil && persistentReference?.isOfIdentity == true
    }
}

/// The changes of an update: attributes as given, and optionally the value.
public struct Changes: Sendable {
    public var attributes: Attributes
    public var accessControl: AccessControl?
    /// Replaces `accessControl` and the attribute `accessible`.
    public var protection: Protection?
    public var value: Data?

    public init(_ attributes: Attributes = [:], value: Data? = nil) {
        self.attributes = attributes
        self.value = value
    }
}

extension Authorization {
    /// For a store that passes the request to another engine.
    package var questions: Query.Questions? {
        guard let cancellation, let onQuestion else { return nil }
        return Query.Questions(cancellation: cancellation, gate: gate, onQuestion: onQuestion)
    }
}
