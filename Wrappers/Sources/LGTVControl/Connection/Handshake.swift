// SPDX-License-Identifier: Apache-2.0
// Opens a WebSocket to an address, once.

#if LGTVControl
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL
    import NIOWebSocket
    import Synchronization

    /// One attempt to open a WebSocket.
    final class Handshake: Sendable {
        private struct State {
            var channel: (any Channel)?
            var opened: EventLoopFuture<Connection>?
            var certificate: Data?
            var isAbandoned = false
            var isRejected = false
        }

        private let isEncrypted: Bool
        private let pin: Data?
        private let state = Mutex(State())

        /// - Parameter pin: The only certificate that is accepted; `nil`: any.
        init(isEncrypted: Bool, pin: Data?) { (self.isEncrypted, self.pin) = (isEncrypted, pin) }

        /// - Parameter host: The host as the caller named it.
        /// - Throws: ``DialFailure``, or `CancellationError`.
        nonisolated(nonsending) func open(
            _ address: SocketAddress, host: String, by deadline: ContinuousClock.Instant
        ) async throws -> Connection {
            let authority = (host.contains(":") ? "[\(host)]" : host) + ":\(address.port ?? 0)"
            let opened = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
                .connectTimeout(TimeAmount(max(.milliseconds(1), ContinuousClock.now.duration(to: deadline))))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try self.prepare(channel, authority) }
                }
                .connect(to: address)
                .flatMap { self.opened($0) }
            do {
                return try await opened.value(by: deadline, late: DialFailure.notYet("it did not answer in time"))
            } catch {
                abandon()
                throw isRejected ? DialFailure.final(.certificateChanged) : DialFailure.of(error)
            }
        }

        private var isRejected: Bool { state.withLock { $0.isRejected } }

        /// A connection that opens later is closed at once.
        private func abandon() {
            let channel = state.withLock { state in
                state.isAbandoned = true
                return state.channel
            }
            channel?.close(promise: nil)
        }

        // MARK: - On the event loop

        private func prepare(_ channel: any Channel, _ authority: String) throws {
            let pipeline = channel.pipeline.syncOperations
            if isEncrypted { try pipeline.addHandler(try encryption()) }
            let opened = try pipeline.configureUpgradableHTTPClientPipeline(
                configuration: NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: upgrade(authority)))
            try state.withLock { state in
                (state.channel, state.opened) = (channel, opened)
                if state.isAbandoned { throw ChannelError.ioOnClosedChannel }
            }
        }

        private func opened(_ channel: any Channel) -> EventLoopFuture<Connection> {
            let opened = state.withLock { $0.opened }
            return opened ?? channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }

        private func upgrade(_ authority: String) -> NIOTypedHTTPClientUpgradeConfiguration<Connection> {
            let webSocket = NIOTypedWebSocketClientUpgrader(maxFrameSize: Connection.messageLimit) { channel, _ in
                channel.eventLoop.makeCompletedFuture { try self.connection(channel) }
            }
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": authority])
            return NIOTypedHTTPClientUpgradeConfiguration(upgradeRequestHead: head, upgraders: [webSocket]) { channel in
                channel.eventLoop.makeFailedFuture(ConnectionError.notATelevision)
            }
        }

        private func connection(_ channel: any Channel) throws -> Connection {
            let connection = Connection(channel, certificate: state.withLock { $0.certificate })
            // Fragments of length zero would take memory without counting.
            let aggregator = NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 1024,
                maxAccumulatedFrameSize: Connection.messageLimit)
            try channel.pipeline.syncOperations.addHandlers(aggregator, FrameHandler(connection))
            return connection
        }

        // MARK: - Encryption

        /// Televisions sign their own certificates. No authority confirms them; the certificate only has to stay the
        /// same.
        private func encryption() throws -> NIOSSLClientHandler {
            try NIOSSLClientHandler(context: Self.context.get(), serverHostname: nil) { certificates, verified in
                verified.succeed(self.isTrusted(certificates.first) ? .certificateVerified : .failed)
            }
        }

        /// Created once, without the authorities of the system: reading them takes long, and they are not used.
        private static let context = Result<NIOSSLContext, any Error> {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.trustRoots = .certificates([])
            // This skips only the check of the name; the certificate is checked below.
            configuration.certificateVerification = .noHostnameVerification
            return try NIOSSLContext(configuration: configuration)
        }

        /// Called before anything is sent. TLS checks that the other side has the private key of the certificate.
        private func isTrusted(_ shown: NIOSSLCertificate?) -> Bool {
            let bytes: Data?
            do { bytes = try shown.map { Data(try $0.toDERBytes()) } } catch { bytes = nil }
            return state.withLock { state in
                state.certificate = bytes
                state.isRejected = bytes == nil || pin != nil && bytes != pin
                return !state.isRejected
            }
        }
    }
#endif
