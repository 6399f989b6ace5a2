// SPDX-License-Identifier: Apache-2.0
// Whether a failed attempt to connect may be repeated.

#if LGTVControl
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOSSL

    enum DialFailure: Error {
        /// The device answers, but no program listens at the port.
        case nobodyListens
        /// The television may still be starting. The reason is the end of a sentence.
        case notYet(String)
        /// Another attempt would not help.
        case final(ConnectionError)

        /// - Returns: A failure, or the original `CancellationError`.
        static func of(_ error: any Error) -> any Error {
            switch error {
            case is CancellationError, is DialFailure: error
            case let error as ConnectionError: final(error)
            case let error as IOError where error.errnoCode == ECONNREFUSED: nobodyListens
            case let error as IOError: notYet(PrintableText.of(String(cString: strerror(error.errnoCode))))
            case let error as NIOSSLError where error.isForeign: final(.notATelevision)
            case is HTTPParserError, is NIOHTTPClientUpgradeError: final(.notATelevision)
            case is ChannelError, is NIOSSLError: notYet("it ended the connection")
            default: notYet(PrintableText.reason(of: error))
            }
        }

        var words: String {
            switch self {
            case .nobodyListens: "nothing listens on its ports"
            case .notYet(let reason): reason
            case .final(let error): error.message
            }
        }
    }

    extension NIOSSLError {
        /// Whether the other side answered in another protocol, instead of closing the connection.
        fileprivate var isForeign: Bool {
            guard case .handshakeFailed(.sslError(let errors)) = self else { return false }
            return !errors.contains(.eofDuringHandshake)
        }
    }

    extension ConnectionError {
        static let notATelevision = ConnectionError(
            .invalidResponse,
            "The device at the address does not answer like an LG TV. Check the address and ports.")
        static let certificateChanged = ConnectionError(
            .certificateChanged,
            "The device at the address does not have the certificate that the TV had when it was paired. Nothing was "
                + "sent to it. If you have replaced or reset the TV, call clearCredentials() and pair again.")
        static let downgraded = ConnectionError(
            .downgraded,
            "The device at the address offers only an unencrypted connection, but the TV had an encrypted one when it "
                + "was paired. Nothing was sent to it. If you trust it, call clearCredentials() and pair again.")
    }
#endif
