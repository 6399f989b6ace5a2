// SPDX-License-Identifier: Apache-2.0
// Why a television could not be reached, understood or trusted.

public import Foundation
@_spi(Wrappers) public import KeychainKit

/// Why a connection to a television failed: a reason, and what to do next. It never contains the client key.
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
        /// An address or a parameter is not valid.
        case invalidParameter
        /// Nothing at the address answered in time.
        case unreachable
        /// The television, or the person in front of it, did not answer in time.
        case timedOut
        /// The connection ended before the answer arrived.
        case connectionLost
        /// The answer is not one that a television sends.
        case invalidResponse
        /// The television refused the request.
        case refused
        /// The certificate differs from the one at pairing: another device, or an attacker between. Nothing was sent to
        /// it.
        case certificateChanged
        /// Only an unencrypted connection is offered, but it was encrypted before. Nothing was sent to it.
        case downgraded
        /// The keychain could not be read, or the new key could not be stored.
        case keychain
        /// The package was built without the trait `LGTVControl`.
        case unavailable
    }

    public let reason: Reason
    /// One or two sentences for a person: what happened, and what to do next.
    public let message: String
    /// The failure of the keychain, if it was the reason.
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
        /// For what requires swift-nio.
        static let withoutTrait = ConnectionError(
            .unavailable,
            "The connection to the TV is not part of this build. Depend on the package with "
                + #".package(url: …, from: …, traits: ["LGTVControl"])."#)
    #endif
}
