// SPDX-License-Identifier: Apache-2.0
// What people are told about a kind of protector.

/// A kind of protector: its number in the format and its description.
public struct ProtectorKind: Hashable, Sendable {
    /// Who holds the secret. What a machine holds opens the vault without anybody being asked, and proves nobody.
    public enum Holder: Sendable {
        case machine, person
    }

    /// How the secret comes here when the vault is to be opened with it, or a slot made for it.
    public enum Input: Sendable {
        /// Found on this machine.
        case found
        /// A person types it, and chose it.
        case typed
        /// A person types it, and it was made here and shown once.
        case generated
        /// The bytes of a file or descriptor.
        case bytes
    }

    public let number: UInt8
    /// What the tool calls it.
    public let word: String
    /// What people call it.
    public let name: String
    public let holder: Holder
    public let input: Input
    /// Who is kept out while the vault opens with this alone, in plain words.
    public let protectsFrom: String
    /// Who is not.
    public let doesNotProtectFrom: String

    public static func == (lhs: ProtectorKind, rhs: ProtectorKind) -> Bool { lhs.number == rhs.number }
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }

    /// All kinds that this version knows.
    public static var all: [ProtectorKind] { Protectors.all.map { $0.kind } }

    /// The key in a file of this machine and user.
    public static var deviceKey: ProtectorKind { DeviceKeyProtector.kind }
    public static var passphrase: ProtectorKind { PassphraseProtector.kind }
    public static var recoveryKey: ProtectorKind { RecoveryKeyProtector.kind }
    public static var credential: ProtectorKind { CredentialProtector.kind }
    public static var keyFile: ProtectorKind { KeyFileProtector.kind }

    /// - Returns: `nil` for a number that this version does not know.
    public init?(number: UInt8) {
        guard let known = Self.all.first(where: { $0.number == number }) else { return nil }
        self = known
    }

    /// - Returns: `nil` for a word that is none of theirs.
    public init?(word: String) {
        guard let known = Self.all.first(where: { $0.word == word }) else { return nil }
        self = known
    }

    init(
        number: UInt8, word: String, name: String, holder: Holder, input: Input, protectsFrom: String,
        doesNotProtectFrom: String
    ) {
        self.number = number
        self.word = word
        self.name = name
        self.holder = holder
        self.input = input
        self.protectsFrom = protectsFrom
        self.doesNotProtectFrom = doesNotProtectFrom
    }
}
