// SPDX-License-Identifier: Apache-2.0
// Why a television could not be reached, understood or trusted.

public import Foundation
@_spi(Wrappers) public import KeychainKit

/// Why a connection to a television failed: one reason, and what to do next. It never carries the client key.
///
/// ```swift
/// do {
///     try await manager.connect(ip: ip, mac: mac)
/// } catch let error as ConnectionError where error.reason == .certificateChanged {
///     askWhetherToPairAgain(error.message)
/// }
/// ```
public struct ConnectionError: Error, Equatable, Sendable {
    /// The distinct outcomes.
    public enum Reason: String, CaseIterable, Sendable {
        /// An address or a parameter cannot be what was meant.
        case invalidParameter
        /// Nothing at the address answered in time.
        case unreachable
        /// The television, or the person in front of it, did not answer in time.
        case timedOut
        /// The connection ended before the answer came.
        case connectionLost
        /// What came was not what a television says.
        case invalidResponse
        /// The television answered that it will not do it.
        case refused
        /// Another certificate than at pairing: another device, or somebody in between. It was not sent anything.
        case certificateChanged
        /// Only an open connection is offered where there was an encrypted one. It was not sent anything.
        case downgraded
        /// The keychain could not be read, or the new key not be stored.
        case keychain
        /// The package was built without the trait `LGTVControl`.
        case unavailable
    }

    public let reason: Reason
    /// One or two sentences for a person: what happened, and what to do next.
    public let message: String
    /// What the keychain said, where it was the reason.
    public let keychainFailure: KeychainKit.KeychainError?

    init(_ reason: Reason, _ message: String, _ keychainFailure: KeychainKit.KeychainError? = nil) {
        (self.reason, self.message, self.keychainFailure) = (reason, message, keychainFailure)
    }
}

extension ConnectionError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { message }
    public var description: String { message }
}

extension ConnectionError {
    #if !LGTVControl
        /// What only swift-nio can do.
        static let withoutTrait = ConnectionError(
            .unavailable,
            "The connection to the TV is not part of this build. Depend on the package with "
                + #".package(url: …, from: …, traits: ["LGTVControl"])."#)
    #endif
}
