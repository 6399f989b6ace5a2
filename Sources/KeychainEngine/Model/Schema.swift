// SPDX-License-Identifier: Apache-2.0
// The schema of each class: for each attribute its kind, flags, default, and part in the primary key.

import Foundation

/// The attributes of a class of items: for each one its kind, its part in the primary key, and its default.
///
/// Source of the rules: Apple's published item schema; see `Docs/SEMANTICS.md` for each rule and its test.
public final class Schema: Sendable {
    /// The part of an attribute in the primary key.
    public enum KeyPart: Sendable {
        /// Not part of the primary key.
        case none
        /// Part of the key, and the first attribute that searches use, one for each class: the service, the server.
        case major
        /// Part of the key, and the second attribute that searches use, one for each class: the account.
        case minor
        /// Part of the key only.
        case scope
    }

    /// Special handling of an attribute.
    public enum Handling: Sendable {
        case ordinary
        /// Part of Apple's schema, but refused without an entitlement that no Linux program has.
        case entitled
        /// Refused in requests.
        case forbidden
    }

    public struct Rule: Sendable {
        public let attribute: Attribute
        public let kind: AttributeKind
        public let keyPart: KeyPart
        /// The value that `SecItemAdd` stores when the caller gives none.
        public let defaultValue: AttributeValue?
        /// Whether stores keep a keyed digest of the value, to find items without opening all of them.
        public let isIndexed: Bool
        public let handling: Handling
    }

    public let itemClass: ItemClass
    public let rules: [Rule]
    public let major: Rule
    public let minor: Rule
    /// The rest of the primary key, in ascending order of attribute name. Stores compute digests in this order.
    public let scope: [Rule]
    /// The attributes besides the primary key of which stores keep a digest.
    public let indexed: [Rule]
    /// The primary key in the order of ``ItemOrder``. The user's view is left out, since it is the same for all items.
    let listingKey: [(attribute: Attribute, kind: AttributeKind)]
    /// The attributes of the rules, in their order: to look through them takes as long as to hash one.
    private let names: [Attribute]

    /// The attributes that must be unique in combination.
    public var primaryKey: [Rule] { [major, minor] + scope }

    public subscript(attribute: Attribute) -> Rule? { names.firstIndex { $0 == attribute }.map { rules[$0] } }

    private init(_ itemClass: ItemClass, major: Rule, minor: Rule, _ others: [Rule]) {
        self.itemClass = itemClass
        self.major = major
        self.minor = minor
        rules = [major, minor] + others
        scope = others.filter { $0.keyPart == .scope }.sorted { $0.attribute < $1.attribute }
        indexed = others.filter(\.isIndexed)
        names = rules.map(\.attribute)
        listingKey = (Self.listedFirst + Self.listedNext(itemClass)).compactMap { [rules] attribute in
            rules.first { $0.attribute == attribute }.map { (attribute, $0.kind) }
        }
    }

    static func of(_ itemClass: ItemClass) -> Schema {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate: certificate
        case .key: key
        }
    }
}

// MARK: - The order of the primary key

extension Schema {
    private static let listedFirst: [Attribute] = [
        .accessGroup, .synchronizable, .viewHint, .tokenID, .sharingGroup,
    ]

    /// The order in Apple's published schema.
    private static func listedNext(_ itemClass: ItemClass) -> [Attribute] {
        switch itemClass {
        case .genericPassword: [.account, .service]
        case .internetPassword:
            [.account, .securityDomain, .server, .protocol, .authenticationType, .port, .path]
        case .certificate: [.certificateType, .issuer, .serialNumber]
        case .key:
            [
                .keyClass, .applicationLabel, .applicationTag, .creator, .type, .keySizeInBits, .effectiveKeySize,
                .startDate, .endDate,
            ]
        }
    }
}

// MARK: - The table

extension Schema {
    private static let genericPassword = Schema(
        .genericPassword,
        major: rule(.service, .blob, .major, default: .string("")),
        minor: rule(.account, .blob, .minor, default: .string("")),
        common + password + [rule(.generic, .blob, indexed: true)])

    private static let internetPassword = Schema(
        .internetPassword,
        major: rule(.server, .blob, .major, default: .string("")),
        minor: rule(.account, .blob, .minor, default: .string("")),
        common + password + [
            rule(.securityDomain, .blob, .scope, default: .string(""), indexed: true),
            rule(.protocol, .number, .scope, default: .number(0)),
            rule(.authenticationType, .blob, .scope, default: .string("")),
            rule(.port, .number, .scope, default: .number(0)),
            rule(.path, .blob, .scope, default: .string(""), indexed: true),
            rule(.extraNotes, .data, handling: .entitled), rule(.extraHistory, .data, handling: .entitled),
            rule(.extraClient0, .data, handling: .entitled), rule(.extraClient1, .data, handling: .entitled),
            rule(.extraClient2, .data, handling: .entitled), rule(.extraClient3, .data, handling: .entitled),
        ])

    private static let certificate = Schema(
        .certificate,
        major: rule(.issuer, .data, .major, default: .data(Data())),
        minor: rule(.serialNumber, .data, .minor, default: .data(Data())),
        common + [
            rule(.certificateType, .number, .scope, default: .number(0)),
            rule(.certificateEncoding, .number),
            rule(.subject, .data, indexed: true), rule(.subjectKeyID, .data, indexed: true),
            rule(.publicKeyHash, .data, indexed: true), rule(.alias, .blob, indexed: true),
        ])

    private static let key = Schema(
        .key,
        major: rule(.applicationLabel, .data, .major, default: .data(Data())),
        minor: rule(.applicationTag, .blob, .minor, default: .string("")),
        common + [
            rule(.keyClass, .number, .scope, default: .number(0)),
            rule(.creator, .number, .scope, default: .number(0)),
            rule(.type, .number, .scope, default: .number(0)),
            rule(.keySizeInBits, .number, .scope, default: .number(0)),
            rule(.effectiveKeySize, .number, .scope, default: .number(0)),
            rule(.startDate, .date, .scope, default: .date(0)),
            rule(.endDate, .date, .scope, default: .date(0)),
            rule(.alias, .blob, indexed: true),
        ]
            + [
                .isPermanent, .isPrivate, .isModifiable, .isSensitive, .wasAlwaysSensitive, .isExtractable,
                .wasNeverExtractable, .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canSignRecover,
                .canVerifyRecover, .canWrap, .canUnwrap,
            ].map { rule($0, .number) })

    private static let common: [Rule] = [
        rule(.accessGroup, .string, .scope),
        rule(.synchronizable, .number, .scope, default: .number(0)),
        rule(.viewHint, .string, .scope), rule(.tokenID, .string, .scope), rule(.sharingGroup, .string, .scope),
        rule(.label, .blob, indexed: true),
        rule(.accessible, .string),
        rule(.creationDate, .date), rule(.modificationDate, .date),
        rule(.digest, .digest),
        rule(.tombstone, .number), rule(.multiUser, .uuid),
        rule(.syncUUID, .string), rule(.appClip, .number, handling: .forbidden),
        rule(.systemBound, .number, handling: .entitled), rule(.plaintextService, .number, handling: .entitled),
        rule(.plaintextKey, .blob, handling: .entitled), rule(.plaintextIdentity, .blob, handling: .entitled),
    ]

    private static let password: [Rule] = [
        rule(.itemDescription, .blob, indexed: true), rule(.comment, .blob, indexed: true),
        rule(.alias, .blob, indexed: true), rule(.protection, .blob),
        rule(.creator, .number, indexed: true), rule(.type, .number, indexed: true),
        rule(.scriptCode, .number), rule(.isInvisible, .number), rule(.isNegative, .number),
        rule(.hasCustomIcon, .number),
    ]

    private static func rule(
        _ attribute: Attribute, _ kind: AttributeKind, _ keyPart: KeyPart = .none,
        default defaultValue: AttributeValue? = nil, indexed: Bool = false, handling: Handling = .ordinary
    ) -> Rule {
        Rule(
            attribute: attribute, kind: kind, keyPart: keyPart, defaultValue: defaultValue, isIndexed: indexed,
            handling: handling)
    }
}
