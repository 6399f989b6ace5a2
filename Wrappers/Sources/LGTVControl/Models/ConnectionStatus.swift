// SPDX-License-Identifier: Apache-2.0
// The state of a connection to a television.

/// The state of the connection to the television.
///
/// ```swift
/// if manager.getConnectionStatus() == .connected { showButtons() }
/// ```
public enum ConnectionStatus: Equatable, Sendable {
    case disconnected
    case connecting
    case connected
    /// The television asks the person in front of it. `code` is the code to enter; `nil` if the person only has to
    /// accept.
    case pairingRequired(code: String?)
    /// The last attempt failed. A sentence says why.
    case error(String)
}

extension ConnectionStatus {
    /// The status as it is stored for other programs, without the code.
    var sharedText: String {
        switch self {
        case .disconnected: "disconnected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .pairingRequired: "pairing"
        case .error(let message): "error: \(message)"
        }
    }
}
