// SPDX-License-Identifier: Apache-2.0
// Why something that lies on a carrier is not used.

/// Nothing is used that is refused. It carries no content.
package enum Refusal: Error, Hashable, Sendable {
    /// Larger than the format allows.
    case tooLarge
    /// Ends too early, goes on too long, or says something that the format does not define.
    case malformed
    /// Of a format or suite that this version does not know.
    case newerFormat
    /// The key for it is not there: of another epoch, or of a class that is locked.
    case noKey
    /// Does not open: it was changed, moved, or sealed under another key.
    case notAuthentic
    /// Not signed by its author, or its author is no member with that right.
    case badSignature
    case notAMember
    /// Lies under a name that is not its own.
    case wrongName
    case wrongRing
    /// Contradicts what its author wrote before: a counter, an epoch or a vector that goes back.
    case contradiction
    /// Beyond the last segment that was accepted of a removed member.
    case afterRemoval
}
