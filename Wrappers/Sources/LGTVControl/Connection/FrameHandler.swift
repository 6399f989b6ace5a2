// SPDX-License-Identifier: Apache-2.0
// Converts the frames of a WebSocket to messages.

#if LGTVControl
    import Foundation
    import NIOCore
    import NIOWebSocket

    final class FrameHandler: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame
        typealias OutboundOut = WebSocketFrame

        private let connection: Connection

        init(_ connection: Connection) { self.connection = connection }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            switch frame.opcode {
            case .text: connection.receive(Data(frame.unmaskedData.readableBytesView))
            case .ping: answer(frame.unmaskedData, context)
            case .connectionClose: connection.end(.closedByTV)
            default: break
            }
        }

        /// Not if the other side does not read: the answers would pile up here.
        private func answer(_ ping: ByteBuffer, _ context: ChannelHandlerContext) {
            guard context.channel.isWritable else { return }
            let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: ping)
            context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            connection.end(.closedByTV)
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            switch error {
            case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error:
                connection.end(.notAWebSocket)
            default: connection.end(.closedByTV)
            }
        }
    }

    extension ConnectionError {
        static let notAWebSocket = ConnectionError(
            .invalidResponse,
            "The TV sent a message that is too long or malformed; the connection was closed. Connect again.")
    }
#endif
