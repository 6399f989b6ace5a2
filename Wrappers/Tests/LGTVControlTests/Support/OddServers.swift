// SPDX-License-Identifier: Apache-2.0
// Servers that may listen at an address besides a television, and a receiver of wake-up packets.

#if LGTVControl
    import Foundation
    import NIOCore
    import NIOPosix
    import Synchronization

    /// Sends one text to every client, or nothing.
    final class OddServer: Sendable {
        private let server: any Channel

        /// A port that nobody has. Not one of those that the system gives out: a connection of another test might get it before
        /// it is used.
        static func unusedPort() async throws -> Int {
            while true {
                let port = Int.random(in: 20_000..<30_000)
                do { return try await OddServer(says: nil, at: port).port } catch is IOError { continue }
            }
        }

        init(says text: String?, thenCloses: Bool = false, at port: Int = 0) async throws {
            server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Saying(text, thenCloses))
                    }
                }
                .bind(host: "127.0.0.1", port: port).get()
        }

        deinit { server.close(promise: nil) }

        var port: Int { server.localAddress?.port ?? 0 }

        private final class Saying: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer

            private let text: String?
            private let thenCloses: Bool

            init(_ text: String?, _ thenCloses: Bool) { (self.text, self.thenCloses) = (text, thenCloses) }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                if let text { context.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil) }
                if thenCloses { context.close(promise: nil) }
            }

            func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
        }
    }

    /// Receives packets at a port of its own on 127.0.0.1.
    final class PacketReceiver: Sendable {
        /// What arrives.
        let packets: AsyncStream<[UInt8]>
        private let socket: any Channel

        init() async throws {
            let (packets, arrived) = AsyncStream.makeStream(of: [UInt8].self)
            self.packets = packets
            socket = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Receiving(arrived))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }

        deinit { socket.close(promise: nil) }

        var port: Int { socket.localAddress?.port ?? 0 }

        private final class Receiving: ChannelInboundHandler {
            typealias InboundIn = AddressedEnvelope<ByteBuffer>

            private let arrived: AsyncStream<[UInt8]>.Continuation

            init(_ arrived: AsyncStream<[UInt8]>.Continuation) { self.arrived = arrived }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                arrived.yield(Array(unwrapInboundIn(data).data.readableBytesView))
            }
        }
    }
#endif
