// SPDX-License-Identifier: Apache-2.0
// Why an object on a carrier is rejected.

/// An object that is refused is not used. The error contains no content.
package enum Refusal: Error, Hashable, Sendable {
    /// Larger than the format allows.
    case tooLarge
    /// The bytes end too early, have trailing bytes, or contain a value that the format does not define.
    case malformed
    /// A format or suite that this version does not know.
    case newerFormat
    /// The key is missing: it is of another epoch, or of a class that is locked.
    case noKey
    /// Cannot be opened: it was changed, moved, or sealed with another key.
    case notAuthentic
    /// The author's signature is missing or wrong, or the author has no permission for this.
    case badSignature
    case notAMember
    /// Stored under the name of another object.
    case wrongName
    case wrongRing
    /// Contradicts what its author wrote before, such as a counter, an epoch or a vector that goes back.
    case contradiction
    /// After the last accepted segment of a removed member.
    case afterRemoval

    /// Whether the same bytes will never be used, whatever else comes.
    var isFinal: Bool {
        switch self {
        case .malformed, .newerFormat, .notAuthentic, .badSignature, .wrongName, .wrongRing: true
        case .tooLarge, .noKey, .notAMember, .contradiction, .afterRemoval: false
        }
    }
}
