// SPDX-License-Identifier: Apache-2.0
// Kinds of protectors and their descriptions for users.

/// A kind of protector: its number in the format and its description.
public struct ProtectorKind: Hashable, Sendable {
    /// Who holds the secret. A machine-held secret opens the vault without a prompt and does not authenticate the user.
    public enum Holder: Sendable {
        case machine, person
    }

    /// How the secret is entered to open the vault or to make a slot.
    public enum Input: Sendable {
        /// Found on this machine.
        case found
        /// The user chose it and types it.
        case typed
        /// It was generated and shown once, and the user types it.
        case generated
        /// The bytes of a file or descriptor.
        case bytes
        /// Sealed by hardware of this machine, which is only asked when it is named. The user may have chosen a PIN.
        case sealed
    }

    public let number: UInt8
    /// Its name in the tool's arguments and output.
    public let word: String
    /// Its name for users.
    public let name: String
    public let holder: Holder
    public let input: Input
    /// The attackers who are kept out if only this opens the vault, for users.
    public let protectsFrom: String
    /// The attackers who are not kept out.
    public let doesNotProtectFrom: String

    public static func == (lhs: ProtectorKind, rhs: ProtectorKind) -> Bool { lhs.number == rhs.number }
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }

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
