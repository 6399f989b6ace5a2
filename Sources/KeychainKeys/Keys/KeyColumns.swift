// SPDX-License-Identifier: Apache-2.0
// What a keychain stores about a key besides its bytes, derived from the key.

public import Foundation

/// The attributes that an item of class key has because of its key. Every API that stores keys sets all of them, so that
/// each finds the keys of the other.
///
/// ```swift
/// let columns = KeyColumns(try PrivateKey.generate(.p256))
/// print(columns.typeNumber, columns.sizeInBits)  // 73 256
/// ```
public struct KeyColumns: Hashable, Sendable {
    /// A Boolean attribute.
    public struct Flag: Hashable, Sendable {
        /// The attribute's name: four letters, as in Apple's `kSecAttr…` constants.
        public let name: String
        public let isSet: Bool
    }

    /// `kSecAttrKeyClass` (kcls): 0 for a public key, 1 for a private key.
    public let keyClass: Int
    /// `kSecAttrKeyType` (type).
    public let typeNumber: Int
    /// `kSecAttrKeySizeInBits` (bsiz).
    public let sizeInBits: Int
    /// `kSecAttrEffectiveKeySize` (esiz).
    public var effectiveSizeInBits: Int { sizeInBits }
    /// `kSecAttrApplicationLabel` (klbl): the same for both halves of a pair, and for a certificate's public key hash.
    public let applicationLabel: Data
    /// The Boolean attributes: what the key can do, and how it is kept. Apple sets them for software keys, and none
    /// restricts what the key does.
    public let flags: [Flag]

    public init(_ key: PrivateKey) {
        self.init(key.publicKey, isPrivate: true)
    }

    public init(_ key: PublicKey) {
        self.init(key, isPrivate: false)
    }

    /// The private half of a key on a token, which nothing takes out.
    ///
    /// - Parameter publicHalf: Its public half.
    public init(onToken publicHalf: PublicKey) {
        self.init(publicHalf, isPrivate: true, isOnToken: true)
    }

    private init(_ key: PublicKey, isPrivate: Bool, isOnToken: Bool = false) {
        keyClass = isPrivate ? 1 : 0
        typeNumber = key.kind.typeNumber
        sizeInBits = key.sizeInBits
        applicationLabel = key.applicationLabel
        flags = Self.flags(key.kind, isPrivate: isPrivate, isOnToken: isOnToken)
    }

    /// All columns, in the types of a caller.
    ///
    /// - Parameter name: An attribute by the four letters of Apple's constant.
    package func attributes<Name, Value>(
        _ name: (String) -> Name?, _ number: (Int64) -> Value, _ data: (Data) -> Value
    ) -> [(name: Name, value: Value)] {
        let numbers = [
            ("kcls", keyClass), ("type", typeNumber), ("bsiz", sizeInBits), ("esiz", effectiveSizeInBits),
        ]
        let columns =
            numbers.map { ($0.0, number(Int64($0.1))) } + [("klbl", data(applicationLabel))]
            + flags.map { ($0.name, number($0.isSet ? 1 : 0)) }
        return columns.compactMap { letters, value in name(letters).map { ($0, value) } }
    }

    /// Apple's values. "priv" is set for public keys too, and RSA public keys claim that they can decrypt.
    private static func flags(_ kind: KeyKind, isPrivate: Bool, isOnToken: Bool) -> [Flag] {
        let derives = isPrivate && kind != .rsa
        let flags = [
            ("perm", true), ("priv", true), ("modi", true), ("sens", isOnToken), ("asen", isOnToken),
            ("extr", !isOnToken), ("next", isOnToken), ("encr", !isPrivate), ("decr", isPrivate || kind == .rsa),
            ("drve", derives),
            ("sign", isPrivate), ("vrfy", !isPrivate), ("snrc", false), ("vyrc", false), ("wrap", !isPrivate),
            ("unwp", isPrivate),
        ]
        return flags.map { Flag(name: $0.0, isSet: $0.1) }
    }
}
