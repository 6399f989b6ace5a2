// SPDX-License-Identifier: Apache-2.0
// A signature that a handshake waits for.

#if NIOSSL
    import Foundation
    import KeychainKit
    import NIOCore
    import SecretMemory

    /// Ends once: with the signature, or when the connection is closed. The event loop may be shut down after that; it is not used any
    /// more then, since a promise that cannot be kept ends the program.
    final class PendingSignature: Sendable {
        /// `nil` when it has ended.
        private let promise: Guarded<EventLoopPromise<ByteBuffer>?>

        init(_ promise: EventLoopPromise<ByteBuffer>) { self.promise = Guarded(promise) }

        /// - Parameter result: From any thread.
        func end(_ result: Result<Data, KeychainError>) {
            promise.withLock { promise in
                guard let waiting = promise else { return }
                promise = nil
                // Under the lock, for which a connection that is closed waits: the event loop still runs. This does not call
                // anything before it returns.
                waiting.futureResult.eventLoop.execute {
                    waiting.completeWith(result.map { ByteBuffer(bytes: $0) }.mapError { $0 })
                }
            }
        }

        /// The connection is closed. Called on its event loop.
        func close() {
            let waiting = promise.withLock { promise in
                defer { promise = nil }
                return promise
            }
            waiting?.fail(KeychainError.connectionClosed)
        }
    }

    extension KeychainError {
        fileprivate static let connectionClosed = KeychainError(
            .cancelled, "The connection was closed before its handshake had been signed.")
    }
#endif
