// SPDX-License-Identifier: Apache-2.0
// Why a television does not carry out a command.

public import Foundation

extension LGTVControlManager {
    /// Why a television does not carry out a command.
    ///
    /// ```swift
    /// do {
    ///     try await manager.sendCommand("ssap://audio/volumeUp")
    /// } catch LGTVControlManager.ControlError.notConnected {
    ///     try await manager.connect(ip: ip, mac: mac)
    /// }
    /// ```
    ///
    /// Problems of the connection are a ``ConnectionError``.
    public enum ControlError: Error, Equatable, Sendable {
        /// There is no connection, or `disconnect()` ended the call.
        case notConnected
        /// No television waits for a code. Connect first.
        case missingCredentials
        /// The television did not accept the code. It can be entered again.
        case invalidPairingCode
        /// The person in front of the television, or the television itself, declined.
        case pairingFailed
    }
}

extension LGTVControlManager.ControlError: LocalizedError {
    /// The original's texts, because tests and logs of programs contain them.
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
