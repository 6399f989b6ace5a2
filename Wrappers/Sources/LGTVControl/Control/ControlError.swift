// SPDX-License-Identifier: Apache-2.0
// What goes wrong between a person and their television.

public import Foundation

extension LGTVControlManager {
    /// Why a television does not do what it is told.
    ///
    /// ```swift
    /// do {
    ///     try await manager.sendCommand("ssap://audio/volumeUp")
    /// } catch LGTVControlManager.ControlError.notConnected {
    ///     try await manager.connect(ip: ip, mac: mac)
    /// }
    /// ```
    ///
    /// What goes wrong on the way to it is a ``ConnectionError``.
    public enum ControlError: Error, Equatable, Sendable {
        /// There is no connection, or `disconnect()` ended the call.
        case notConnected
        /// There is nothing that a code could be for: connect first.
        case missingCredentials
        /// The television did not take the code. It can be entered again.
        case invalidPairingCode
        /// The person in front of the television, or the television itself, declined.
        case pairingFailed
    }
}

extension LGTVControlManager.ControlError: LocalizedError {
    /// In the words of the original, which tests and logs of programs know.
    public var errorDescription: String? {
        switch self {
        case .notConnected: "Not connected to the TV"
        case .missingCredentials: "Missing credentials. Connect to the TV first."
        case .invalidPairingCode: "The pairing code was rejected by the TV"
        case .pairingFailed: "The TV reported a pairing failure"
        }
    }

    /// What the error means, and what to do about it.
    public var failureReason: String? {
        switch self {
        case .notConnected: "There is no connection to the TV. Connect first."
        case .missingCredentials: "No TV is waiting for a pairing code. Connect to it first."
        case .invalidPairingCode: "The TV did not accept the pairing code. Enter it as the TV shows it."
        case .pairingFailed: "The request to pair was declined on the TV. Connect again, and accept it there."
        }
    }
}
