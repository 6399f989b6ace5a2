// SPDX-License-Identifier: Apache-2.0
// Why an operation did not do what was asked: one reason each, from the disk to the surface.

/// Why a keychain operation failed. It carries cause and place, never the content of an item.
///
/// ```swift
/// do {
///     _ = try engine.copyMatching(query)
/// } catch {
///     if error.reason == .itemNotFound { … }
/// }
/// ```
public struct KeychainFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The distinct outcomes; no layer turns one into another.
    public enum Reason: String, Sendable, CaseIterable {
        // What was asked for is wrong
        case invalidParameter, noSuchAttribute, noSuchClass, unsupported, undecodableInput, tooLarge
        // What was asked for is not there, or there already
        case itemNotFound, duplicateItem
        // The caller may not
        case missingEntitlement, locked, interactionNotAllowed, cancelled, authenticationFailed
        // The store cannot
        case corrupt, diskFull, readOnly, busy, timedOut, unavailable, unsafeLocation, newerFormat, inputOutput
    }

    public let reason: Reason
    /// One or two sentences for a person: what happened, where, and what to do next.
    public let message: String

    public init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }

    public var description: String { message }

    /// Nothing was found that can be opened, and something that cannot: not the same as absent.
    public static let damagedItem = KeychainFailure(
        .corrupt, "An item that may be the one asked for is damaged and was left as it is. Restore a backup.")
}
