// SPDX-License-Identifier: Apache-2.0
// How far a connection to a television is.

/// How far the connection to the television is.
///
/// ```swift
/// if manager.getConnectionStatus() == .connected { showButtons() }
/// ```
public enum ConnectionStatus: Equatable, Sendable {
    case disconnected
    case connecting
    case connected
    /// The television asks the person in front of it; `code`: the one to be entered, `nil` if they only have to accept.
    case pairingRequired(code: String?)
    /// The last attempt failed; a sentence that says why.
    case error(String)
}

extension ConnectionStatus {
    /// As it is kept for other programs. The code is not for them.
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
