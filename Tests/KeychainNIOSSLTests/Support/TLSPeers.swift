// SPDX-License-Identifier: Apache-2.0
// Both ends of a connection with swift-nio.

#if NIOSSL
    import Foundation
    import KeychainTestSupport
    import NIOCore
    import NIOPosix
    import NIOSSL

    /// A server that answers the request of each client with "hello", and closes the connection.
    final class TLSServer: Sendable {
        let socket: String
        private let listener: any Channel

        /// - Parameters:
        ///   - configuration: What it presents.
        ///   - root: Whose clients it demands; `nil`: it takes all.
        init(_ configuration: TLSConfiguration, demanding root: NIOSSLCertificate? = nil, at socket: URL) async throws {
            var configuration = configuration
            if let root {
                configuration.trustRoots = .certificates([root])
                configuration.certificateVerification = .noHostnameVerification
            }
            self.socket = socket.path
            let context = try NIOSSLContext(configuration: configuration)
            listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                        try channel.pipeline.syncOperations.addHandler(Greeter())
                    }
                }
                .bind(unixDomainSocketPath: socket.path).get()
        }

        func close() async throws { try await listener.close() }
    }

    private final class Greeter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "hello")), promise: nil)
            context.close(promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// What a client gets from a server.
    enum TLSClient {
        /// Sends a request, and returns what came until the connection was closed.
        ///
        /// - Throws: The first error of the connection.
        static func answer(
            _ configuration: TLSConfiguration, from socket: String,
            on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
        ) async throws -> String {
            try await future(configuration, from: socket, on: group).get()
        }

        /// The same, for a caller that is no task.
        static func future(
            _ configuration: TLSConfiguration, from socket: String, on group: any EventLoopGroup
        ) throws -> EventLoopFuture<String> {
            let context = try NIOSSLContext(configuration: configuration)
            let answer = group.next().makePromise(of: String.self)
            let connecting = ClientBootstrap(group: answer.futureResult.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
                        try channel.pipeline.syncOperations.addHandler(handler)
                        try channel.pipeline.syncOperations.addHandler(Listener(answer))
                    }
                }
                .connect(unixDomainSocketPath: socket)
            connecting.whenFailure { answer.fail($0) }
            return answer.futureResult
        }
    }

    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: EventLoopPromise<String>
        private var text = ""

        init(_ answer: EventLoopPromise<String>) { self.answer = answer }

        func channelActive(context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "GET / HTTP/1.0\r\n\r\n")), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { text += String(buffer: unwrapInboundIn(data)) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            answer.fail(error)
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            if text.isEmpty { answer.fail(ChannelError.eof) } else { answer.succeed(text) }
        }
    }
#endif
